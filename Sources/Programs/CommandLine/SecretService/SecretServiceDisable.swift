import ArgumentParser
import CommandBase
import Settings

struct SecretServiceDisable: Command {
  static let configuration = CommandConfiguration(
    commandName: "disable",
    abstract: "Give the Secret Service back to the program that had it.",
    discussion: """
      Removes the files that 'whorl secret-service enable' has written, and no others, and lets the program from before \
      take over at once. What programs have stored or changed in Whorl meanwhile is copied there: items without a rule \
      as they are, and items with one after the finger or the passcode that they ask for. Each is read again and \
      compared. What cannot be copied is named, with the exit status 79. Whorl keeps all of it, and nothing is removed \
      there. Where this was interrupted, run it again: what is there is not copied twice. A login keyring whose password \
      only Whorl knows is opened for it.

      The other program may ask for its password. --dry-run shows what would be done; while Whorl is the service, the \
      other program cannot be read, and what Whorl has is listed.

      Examples:
        whorl secret-service disable --dry-run
        whorl secret-service disable
      """)

  static let spoken = "secret-service disable"

  @OptionGroup var options: GlobalOptions

  @Flag(help: "Show what would be done, and change nothing.")
  var dryRun = false

  // Ignored, since disabling always happens at once: later items could not be copied. Kept for scripts.
  @Flag(help: .hidden)
  var now = false

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let dialogue = CommandDialogue(session, of: Self.spoken)
    let report = try await SecretServiceHandback(dialogue, dryRun: dryRun).run(ServiceManager(hardening))
    for each in report.progress { dialogue.tell(each) }
    if options.json { try JSON.print(report) }
    guard var failure = report.failure else { return }
    failure.isTold = options.json
    throw failure
  }
}
