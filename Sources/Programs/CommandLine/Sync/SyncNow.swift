import ArgumentParser
import CommandBase
import Moving
internal import Prompts
import SecretModel
import Settings

struct SyncNow: Command {
  static let configuration = CommandConfiguration(
    commandName: "now",
    abstract: "Bring in what other machines have changed, and publish what was changed here.",
    discussion: """
      Needs no finger: everything is encrypted and verified in the vault. The user units that 'whorl sync init' and 'join' \
      enable run it within seconds of a change, at login and every quarter of an hour. If the remote cannot be reached, \
      the changes wait here.

      Each machine remembers what it has seen. If the remote has less than that, because it was put back, rewritten or \
      emptied, nothing is published, and the exit status is 65. --put-back publishes again what is missing there.

      Examples:
        whorl sync now
        whorl sync now --dry-run
        whorl sync now --put-back
      """)

  static let spoken = "sync now"

  @OptionGroup var options: GlobalOptions

  @Flag(help: "Show what would be done, and change nothing.")
  var dryRun = false

  @Flag(help: "Publish again what the remote has lost.")
  var putBack = false

  @OptionGroup var quiet: QuietOption

  func validate() throws {
    if dryRun, putBack { throw ValidationError("--dry-run and --put-back exclude each other.") }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let sync = try await SyncSession(session, isQuiet: quiet.quiet)
    let report = try await sync.run(puttingBack: putBack, isDry: dryRun)
    let outcome = SyncOutcome(report: report, remote: await sync.remoteName() ?? "the remote")
    if options.json {
      try JSON.print(outcome.json)
    } else {
      for line in outcome.warnings { StandardError.line(Visible.text(line)) }
      if dryRun {
        StandardError.line(Visible.text(outcome.preview))
      } else if !quiet.quiet, outcome.failure == nil {
        StandardError.line(Visible.text(outcome.line))
      }
    }
    if let failure = outcome.failure { throw failure }
  }
}
