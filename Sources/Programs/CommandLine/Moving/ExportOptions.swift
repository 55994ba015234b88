import ArgumentParser
import SecretModel

/// The recipient of an exported file, and whether the file may replace another one.
struct ExportOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Encrypt to this public key.", discussion: "'whorl key' shows that of a store.", valueName: "key"))
  var to: AgePublicKey?

  @OptionGroup var passphrase: PassphraseOption

  @Flag(help: "Overwrite a file of that name.")
  var replace = false

  func validate() throws {
    if to != nil, passphrase.passphraseFd != nil {
      throw ValidationError("--to and --passphrase-fd exclude each other.")
    }
  }

  /// Asks for a passphrase if no key is given.
  func recipient(_ answers: Answers) throws(Failure) -> EncryptedFile.Recipient {
    if let to { .publicKey(to) } else { .passphrase(try passphrase.new(answers)) }
  }
}
