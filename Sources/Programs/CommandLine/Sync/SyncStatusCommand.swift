import ArgumentParser
import CommandBase
import Moving
internal import Primitives
internal import Prompts
import SecretModel
import Settings

struct SyncStatusCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show the state of sync, and your computers.",
    discussion: """
      Needs no finger, and does not reach the remote: 'whorl sync now' does. Lists the computers that share, those that \
      ask to be let in, what is not published yet, and what needs a person.

      Examples:
        whorl sync status
        whorl sync status --json
      """)

  static let spoken = "sync status"

  @OptionGroup var options: GlobalOptions

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let sync = try await SyncSession(session)
    let status = try await sync.status()
    let remote = await sync.remoteName()
    let survey = SyncSurvey(status, remote: remote, isAutomatic: (try? SyncUnits())?.isEnabled)
    if options.json { return try JSON.print(SyncStatusReport(status, remote, isAutomatic: survey.isAutomatic)) }
    if status.standing == .outdated { throw Failure(.notInCircle(.outdated)) }
    guard status.standing != .none, status.standing != .removed || remote != nil else {
      return try StandardOutput.line(
        "This store shares with no other computer. 'whorl sync init REMOTE' begins, 'whorl sync join REMOTE' joins.")
    }
    let lines = survey.findings.map { finding in
      (finding.subject, [finding.words, finding.advice].compactMap { $0 }.joined(separator: ": "))
    }
    try StandardOutput.columns(lines)
    for line in SyncOutcome.waiting(status) { try StandardOutput.line(Visible.text(line)) }
  }
}

/// The state of a store's sync, as JSON. Times are seconds since 1970.
private struct SyncStatusReport: Encodable {
  struct Machine: Encodable {
    var id: String
    var name: String
    var thisMachine: Bool
    /// The six words of a machine that asks to join.
    var words: [String]?

    init(_ member: SyncMember) {
      (id, name, thisMachine) = (member.id.description, member.name, member.isThisMachine)
      words = member.words.isEmpty ? nil : member.words
    }
  }

  struct Kept: Encodable {
    var id: String
    var name: String
    var writer: String
    var written: Int64
  }

  struct Waiting: Encodable {
    var name: String
    var reason: String
  }

  struct Change: Encodable {
    var by: String
    var added: [String]
    var removed: [String]
  }

  var standing: String
  var circle: String?
  var remote: String?
  var machines: [Machine]
  var asking: [Machine]
  var words: [String]
  /// Whether the person at this machine, which joins, has said that the words are the same.
  var agreed: Bool
  /// Changes of the machines that nobody has confirmed here.
  var unconfirmed: [Change]
  /// Whether a change was refused here.
  var locked: Bool
  /// Whether there are two lists of the machines.
  var forked: Bool
  var items: Int
  var pending: Int
  var lost: Int
  var kept: [Kept]
  var waiting: [Waiting]
  /// Whether the user units are enabled; nil if there are none.
  var automatic: Bool?

  init(_ status: SyncStatus, _ remote: String?, isAutomatic: Bool?) {
    (standing, circle, self.remote) = (status.standing.rawValue, status.circle, remote)
    machines = status.members.map(Machine.init)
    asking = status.candidates.map(Machine.init)
    (words, items, pending, lost) = (status.words, status.items, status.pending, status.lost)
    (agreed, locked, forked) = (status.hasAgreed, status.isLocked, status.isForked)
    unconfirmed = status.unconfirmed.map { Change(by: $0.by, added: $0.added, removed: $0.removed) }
    kept = status.kept.map {
      Kept(id: $0.id, name: $0.item.description, writer: $0.writer, written: Int64(clamping: $0.written))
    }
    waiting = status.waiting.map { Waiting(name: $0.item.description, reason: $0.reason.rawValue) }
    automatic = isAutomatic
  }
}
