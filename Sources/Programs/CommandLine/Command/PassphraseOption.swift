import ArgumentParser
internal import PromptTexts
import SecureMemory
internal import TerminalLines

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
    let passphrase: SecretBytes
    if let passphraseFd {
      passphrase = try answers.line(of: passphraseFd, "passphrase")
    } else {
      do { passphrase = try terminal().readNewSecret("passphrase") } catch { throw Failure(unanswered: error) }
    }
    guard passphrase.count >= Self.shortest else {
      throw .usage(
        "the passphrase has fewer than \(Self.shortest) bytes, and whoever has the file can try them all",
        advice: "choose a longer one")
    }
    return SharedSecret(passphrase)
  }

  /// The passphrase of an existing file.
  func current(of path: String, _ answers: Answers, isRepeated: Bool) throws(Failure) -> SharedSecret {
    if let passphraseFd { return SharedSecret(try answers.line(of: passphraseFd, "passphrase")) }
    let question = "\(isRepeated ? "Wrong passphrase. " : "")Passphrase of \(Visible.text(path))"
    do { return SharedSecret(try terminal().readSecret(question)) } catch { throw Failure(unanswered: error) }
  }

  private func terminal() throws(Failure) -> Terminal {
    if let terminal = Terminal() { return terminal }
    throw .interactionNotAllowed(
      "the file's passphrase is needed and there is no terminal to ask at", advice: "give it with --passphrase-fd")
  }
}
