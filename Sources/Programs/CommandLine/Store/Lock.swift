import ArgumentParser
import SecretModel
import Whorl

struct Lock: Command {
  static let configuration = CommandConfiguration(
    commandName: "lock",
    abstract: "Close what the passcode has opened.",
    discussion: """
      A store that asks for its passcode after each start keeps its items closed until then, and closes them again \
      48 hours after the last finger or passcode, 156 hours after the last passcode, or with this command. 'whorl unlock' \
      opens them. Any other store has nothing to close.

      Examples:
        whorl lock
      """)

  @OptionGroup var options: GlobalOptions

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    try await session.request { try await $0.lock() }
    if options.json { return try JSON.print(Report()) }
    StandardError.line("Locked: the passcode opens it again ('whorl unlock').")
  }

  private struct Report: Encodable {
    var locked = true
  }
}
