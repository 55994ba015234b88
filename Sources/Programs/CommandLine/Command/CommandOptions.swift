import ArgumentParser
import CommandBase
import Primitives
internal import Prompts
import SecretModel
import Settings

/// The option of the commands that set a passcode.
struct GuessablePasscodeOption: ParsableArguments {
  @Flag(
    help: ArgumentHelp(
      "Take also a passcode that a day of guesses finds.",
      discussion:
        "Where the store's keys are not in a TPM, whoever has a copy of the store can try 20 million passcodes a day on one "
        + "large machine, without being counted."))
  var allowGuessable = false
}

extension Session {
  /// The options for prompts of a command that sets a passcode.
  func contextOptions(_ guessable: GuessablePasscodeOption) -> ContextOptions {
    var options = contextOptions
    options.allowsGuessablePasscode = guessable.allowGuessable
    return options
  }
}

/// The option of commands that need the recovery key if a store has no passcode.
struct RecoveryKeyOption: ParsableArguments {
  @Option(
    help: ArgumentHelp("Read the recovery key from this descriptor (a store without a passcode).", valueName: "n"),
    transform: GivenDescriptors.number)
  var recoveryFd: Int32?
}

/// The option for the passphrase of an encrypted file.
struct PassphraseOption: ParsableArguments {
  /// The fewest bytes of a new passphrase: anyone with the file could try short ones.
  private static let shortest = 8

  @Option(
    help: ArgumentHelp(
      "Read the file's passphrase from this descriptor.", discussion: "Its first line is the passphrase.",
      valueName: "n"),
    transform: GivenDescriptors.number)
  var passphraseFd: Int32?

  /// The passphrase of a new file, which is typed twice.
  func new(_ answers: Answers) throws(Failure) -> SharedSecret {
    let passphrase = try passphrase(answers) { terminal throws(Unanswered) in try terminal.readNewSecret("passphrase") }
    guard passphrase.bytes.count >= Self.shortest else {
      throw .usage(
        "the passphrase has fewer than \(Self.shortest) bytes, and whoever has the file can try them all",
        advice: "choose a longer one")
    }
    return passphrase
  }

  /// The passphrase of an existing file.
  func current(of path: String, _ answers: Answers, isRepeated: Bool) throws(Failure) -> SharedSecret {
    let question = "\(isRepeated ? "Wrong passphrase. " : "")Passphrase of \(Visible.text(path))"
    return try passphrase(answers) { terminal throws(Unanswered) in try terminal.readSecret(question) }
  }

  private func passphrase(
    _ answers: Answers, _ read: (Terminal) throws(Unanswered) -> SecretBytes
  ) throws(Failure) -> SharedSecret {
    if let passphraseFd { return SharedSecret(try answers.line(of: passphraseFd, "passphrase")) }
    return try Answers.typed("the file's passphrase", or: "--passphrase-fd", read)
  }
}
