import ArgumentParser
import CommandBase
import Primitives
internal import Prompts
import SecretModel
import Settings

struct Code: Command {
  static let configuration = CommandConfiguration(
    commandName: "code",
    abstract: "Show a one-time code.",
    discussion: """
      The code of this moment (TOTP, RFC 6238), made in the vault: the seed does not leave it. The seed is the secret of \
      the item NAME#totp, as 'whorl import' stores it, or of NAME itself. It is the otpauth:// address that a site shows \
      beside its picture (QR code), or in an item whose name has #totp in it also the seed alone, in base32.

      Nothing but the code goes to standard output; a newline follows only on a terminal. With --json there are also the \
      seconds until the next code. Codes that count their uses (HOTP) and Steam's are refused.

      Examples:
        whorl set mail/alice#totp
        whorl code mail/alice
        whorl code mail/alice --json
      """)

  @OptionGroup var options: GlobalOptions
  @OptionGroup var release: ReleaseOptions
  @OptionGroup var choice: ItemOptions

  @Argument(help: ArgumentHelp("The item's name.", valueName: "name"), completion: .itemNames)
  var name: String

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let id = try await item(session)
    let made: OneTimeCode?
    do throws(Failure) {
      made = try await release.asking(session, reason: release.reason ?? "show a one-time code") { vault, asking in
        OneTimeCode(answer: try await vault.useKey(id, .oneTimeCode, asking))
      }
    } catch {
      guard case .invalidRequest? = error.cause else { throw error }
      var failure = error
      failure.advice = "'whorl code --help' tells what it must hold"
      throw failure
    }
    guard let code = made else {
      throw Failure(.versionMismatch("the vault has answered in a way that is not understood"))
    }
    guard !options.json else {
      try StandardOutput.write(#"{"code":""#)
      try code.digits.bytes.writeAnswer()
      return try StandardOutput.line(#"","period":\#(code.period),"secondsLeft":\#(code.secondsLeft)}"#)
    }
    try code.digits.bytes.writeAnswer()
    if StandardOutput.isTerminal { try StandardOutput.write("\n") }
    if StandardError.isTerminal {
      StandardError.line("It is valid for \(Spoken.plural(code.secondsLeft, "more second")).")
    }
  }

  /// The item beside the named one that holds its seed, or the named one.
  private func item(_ session: Session) async throws(Failure) -> ItemID {
    let choice = ItemChoice(options: choice, purpose: .reading, session: session)
    if ItemID(spoken: name) == nil, !name.contains(OneTimeCode.itemMark) {
      do throws(Failure) {
        return try await choice.readable(named: [name + OneTimeCode.itemMark])[0]
      } catch  where error.status == .notFound {
        // Then the named item holds it, or there is none.
      }
    }
    return try await choice.readable(named: [name])[0]
  }
}
