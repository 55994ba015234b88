import ArgumentParser
import CommandBase
import Moving
internal import Prompts
import SecretModel
import Settings

struct SyncJoin: Command {
  static let configuration = CommandConfiguration(
    commandName: "join",
    abstract: "Share the secrets of your other computers on this one, too.",
    discussion: """
      Run 'whorl sync approve' on one of the other computers while this waits. Then both show six words, and both ask \
      whether they are the same. Say yes on both only if they are: other words mean that somebody stands between them, \
      such as the operator of the repository. Asks for the passcode (the recovery key where none is set), and for a \
      finger or the passcode with the words. Nothing of this computer is shared before.

      It waits until everything is here. What it was interrupted in begins anew when it is run again. With the service, \
      --no-wait ends it once it has asked; 'whorl sync confirm' then asks about the words.

      Examples:
        whorl sync join git@example.com:me/secrets.git
        whorl sync join /media/stick/secrets.git --name desk
      """)

  static let spoken = "sync join"

  @OptionGroup var options: GlobalOptions

  @OptionGroup var entry: SyncEntryOptions

  @Flag(help: "Do not wait until the other computer has answered (only for a store in the service).")
  var noWait = false

  // What is the default now. Kept for scripts.
  @Flag(help: .hidden)
  var wait = false

  @Flag(name: .shortAndLong, help: "Do not ask whether the words are the same: only the other computer compares them.")
  var yes = false

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let remote = try SyncSession.remote(entry.remote)
    let machine = entry.machine
    if noWait, try !session.isStoreOfService {
      throw .usage(
        "--no-wait needs the service: a private store forgets what it asked when the command ends",
        advice: "leave it out")
    }
    let sync = try await SyncSession(session)
    let start = try await sync.enter(remote, entry.recovery, reason: "share secrets with your other computers") {
      run throws(Failure) in
      let (records, start) = try await sync.explained { () async throws(SyncRunError) in try await run.records() }
      return (
        start,
        { service, asking throws(VaultError) in
          try await service.begin(.join(machine: machine, records: records), asking)
        }
      )
    }
    try await sync.run(from: start)
    if !entry.noTimer { try sync.enableUnits(options, hardening) }
    guard !noWait else { return try await report(sync, machine, remote) }
    StandardError.line("Now run 'whorl sync approve' on one of the other computers. Waiting for it …")
    try await sync.run { !$0.words.isEmpty || $0.standing != .asking }
    try await sync.agree(entry.recovery, withoutAsking: yes)
    StandardError.line("Waiting until the other computer lets this one in …")
    try await sync.run { $0.standing != .asking }
    try await sync.openWaiting()
    try await report(sync, machine, remote)
  }

  private func report(_ sync: SyncSession, _ machine: String, _ remote: SyncRemote) async throws(Failure) {
    let status = try await sync.status()
    if options.json {
      return try JSON.print(
        Report(
          machine: machine, remote: remote.url, standing: status.standing.rawValue,
          words: status.words.joined(separator: " ")))
    }
    guard status.standing == .member else {
      return StandardError.line("Now run 'whorl sync approve' on one of the other computers.")
    }
    StandardError.line("This computer shares your secrets now. \(Spoken.plural(status.items, "item")) received.")
    for line in SyncOutcome.waiting(status) { StandardError.line(Visible.text(line)) }
  }

  private struct Report: Encodable {
    var machine: String
    var remote: String
    var standing: String
    var words: String
  }
}

struct SyncConfirm: Command {
  static let configuration = CommandConfiguration(
    commandName: "confirm",
    abstract: "Say yes or no to a change of the computers that share your secrets.",
    discussion: """
      Where another computer has let one in, or removed one, this one publishes nothing until you have said that it was \
      you: yes takes a finger or the passcode. With --reject this computer shares nothing from then on; the secrets to \
      change are listed. A yes later takes that back, and 'whorl sync leave --this-computer' ends sharing here.

      On a computer that joins, and is asked about six words, it asks about these.

      Examples:
        whorl sync confirm
        whorl sync confirm --reject
      """)

  static let spoken = "sync confirm"

  @OptionGroup var options: GlobalOptions

  @Flag(help: "No: it was not you.")
  var reject = false

  @Flag(name: .shortAndLong, help: "Yes, without being asked.")
  var yes = false

  @OptionGroup var recovery: RecoveryKeyOption

  func validate() throws {
    if yes, reject { throw ValidationError("--yes and --reject exclude each other.") }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let sync = try await SyncSession(session)
    let status = try await sync.run().status
    if status.standing == .asking {
      guard !status.words.isEmpty else {
        throw Failure(
          .tryAgain, "no other computer has answered yet", advice: "run 'whorl sync approve' on one of them")
      }
      try await sync.agree(recovery, withoutAsking: yes)
      try await sync.run()
      return try done("agreed")
    }
    guard !status.unconfirmed.isEmpty || status.isLocked || status.isForked else {
      StandardError.line("There is nothing to confirm.")
      return try done("nothing")
    }
    for line in SyncOutcome.memberLines(status) { StandardError.line(Visible.text(line)) }
    guard !reject else { return try await refuse(sync, session) }
    if !yes {
      try session.answers().confirm(
        "Was it you?", assent: "--yes",
        otherwise: Failure(
          .refused, "it was not confirmed, and until then this computer shares nothing", name: "LAError.userCancel",
          advice: "if it was not you, 'whorl sync confirm --reject' lists the secrets to change"))
    }
    // A timed run may have taken another change meanwhile.
    guard try await sync.status().unconfirmed == status.unconfirmed else {
      throw Failure(.tryAgain, "your computers have changed once more meanwhile", advice: "run it again")
    }
    try await sync.change(.confirm, recovery, reason: "share secrets with these computers")
    try await sync.publish()
    try await sync.openWaiting()
    try done("confirmed")
  }

  private func refuse(_ sync: SyncSession, _ session: Session) async throws(Failure) {
    try await sync.change(.reject, recovery, reason: "")
    StandardError.line("This computer shares nothing any more. Change these secrets where they are used:")
    for name in try await sync.sharedNames() { StandardError.line("  \(Visible.text(name))") }
    try done("rejected")
  }

  private func done(_ what: String) throws(Failure) {
    if options.json { try JSON.print(["done": what]) }
  }
}

extension SyncSession {
  /// Shows the words of this computer, which joins, and says yes to them after the person has.
  func agree(_ recovery: RecoveryKeyOption, withoutAsking: Bool) async throws(Failure) {
    let status = try await status()
    guard status.standing == .asking, !status.hasAgreed else { return }
    StandardError.line(
      "This computer shows these six words:\n\n  \(Visible.text(status.words.joined(separator: " ")))\n")
    if !withoutAsking {
      try session.answers().confirm(
        "Does the other computer show the same?", assent: "--yes",
        otherwise: .wordsNotConfirmed("nothing is shared", again: "whorl sync confirm"))
    }
    try await change(.agree, recovery, reason: "share secrets with the computer that shows the same words")
  }

  /// Asks for the passcode once if something that was received needs it.
  func openWaiting() async throws(Failure) {
    guard try await status().waiting.contains(where: { $0.reason == .proof }) else { return }
    try await session.asking(
      session.answers(), reason: "open what your other computers have shared under the passcode"
    ) { try await $0.sync.resolve(.open, $1) }
    try await publishIfReachable("sync")
  }

  /// The names of the shared items, those without a rule first.
  func sharedNames() async throws(Failure) -> [String] {
    try await session.request { try await $0.allItems(ItemSearch(groups: .all, synchronizable: .yes)) }
      .sorted { ($0.access == .none ? 0 : 1, $0.title ?? "") < ($1.access == .none ? 0 : 1, $1.title ?? "") }
      .compactMap(\.title)
  }
}

extension Failure {
  /// A person has said no to the question whether two computers show the same words.
  static func wordsNotConfirmed(_ consequence: String, again command: String) -> Failure {
    Failure(
      .refused, "the words were not confirmed: \(consequence)", name: "LAError.userCancel",
      advice: "if they differ, somebody else may be using the repository; if they are the same, run '\(command)'")
  }
}
