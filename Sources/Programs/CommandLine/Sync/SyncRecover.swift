import ArgumentParser
import CommandBase
import Moving
import Primitives
internal import Prompts
import SecretModel
import Settings

struct SyncRecover: Command {
  static let configuration = CommandConfiguration(
    commandName: "recover",
    abstract: "Bring back what your computers shared, after all of them are lost.",
    discussion: """
      Takes the recovery key of one of the lost stores, brings in every item that was shared, and begins anew in the \
      same repository, with this computer as the only one: the lost ones get nothing new. Items that were bound to fingers \
      wait for a touch here. Then asks for this store's passcode (its own recovery key where none is set).

      Examples:
        whorl sync recover git@example.com:me/secrets.git
      """)

  static let spoken = "sync recover"

  @OptionGroup var options: GlobalOptions

  @OptionGroup var entry: SyncEntryOptions

  @Option(
    help: ArgumentHelp("Read the recovery key of the lost store from this descriptor.", valueName: "n"),
    transform: GivenDescriptors.number)
  var lostKeyFd: Int32?

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let remote = try SyncSession.remote(entry.remote)
    let machine = entry.machine
    let sync = try await SyncSession(session)
    let start = try await sync.enter(remote, entry.recovery, reason: "bring back what your lost computers shared") {
      run throws(Failure) in
      let (records, start) = try await sync.explained { () async throws(SyncRunError) in try await run.records() }
      let key = SharedSecret(try lostKey(session.answers()))
      return (
        start,
        { service, asking throws(VaultError) in
          try await service.recover(machine: machine, records: records, recoveryKey: key.copy(), asking)
        }
      )
    }
    let report = try await sync.run(from: start)
    if !entry.noTimer { try sync.enableUnits(options, hardening) }
    if options.json {
      return try JSON.print(SyncOutcome(report: report, remote: remote.url).json)
    }
    StandardError.line(
      "\(Spoken.plural(report.status.items, "item")) came back. This machine, “\(Visible.text(machine))”, is the only one that shares them."
    )
    for line in SyncOutcome.waiting(report.status) { StandardError.line(Visible.text(line)) }
  }

  private func lostKey(_ answers: Answers) throws(Failure) -> SecretBytes {
    if let lostKeyFd { return try answers.line(of: lostKeyFd, "recovery key of the lost store") }
    guard let terminal = Terminal() else {
      throw .interactionNotAllowed(
        "the recovery key of the lost store is needed and there is no terminal to ask at",
        advice: "give it with --lost-key-fd")
    }
    do {
      return try terminal.readRecoveryKey("Recovery key of the lost store")
    } catch {
      throw Failure(error)
    }
  }
}
