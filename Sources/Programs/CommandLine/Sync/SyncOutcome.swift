import CommandBase
import Moving
internal import Prompts
import SecretModel
import Settings

/// The result of a sync, as text and as JSON.
struct SyncOutcome {
  /// The maximum number of names, and of files, that are listed.
  private static let listed = 5

  let report: SyncReport
  let remote: String

  /// The failure of a sync that has published nothing because the remote has lost records.
  var failure: Failure? {
    guard report.isHeldBack else { return nil }
    let count = report.lost > 0 ? " (\(Spoken.plural(report.lost, "record")))" : ""
    return Failure(
      .damaged, "\(remote) has lost records that this machine has seen\(count); nothing was published",
      advice: "check who else can write to it; "
        + (Self.memberLines(report.status).isEmpty
          ? "'whorl sync now --put-back' publishes it again" : "'whorl sync confirm' asks about your computers first"))
  }

  /// Warnings, and what needs the user.
  var warnings: [String] {
    var lines: [String] = []
    if report.wasRewritten {
      lines.append("The history of \(remote) was replaced by another one. Its contents were taken over.")
    }
    if report.isMixed {
      lines.append("\(remote) has files that do not fit together: items here may be outdated.")
    }
    if !report.refused.isEmpty {
      let some = report.refused.prefix(Self.listed).map { "\($0.path) \($0.reason)" }.joined(separator: "; ")
      lines.append("Ignored \(Spoken.plural(report.refused.count, "file")) of \(remote): \(some).")
    }
    if let unpublished { lines.append(unpublished) }
    return lines + Self.waiting(report.status)
  }

  /// Why a run has not published everything: what is left could not be encrypted to the newest list of computers.
  private var unpublished: String? {
    let status = report.status
    guard status.standing == .member, status.pending > 0, !report.isHeldBack, Self.memberLines(status).isEmpty
    else { return nil }
    return "\(Spoken.plural(status.pending, "record")) not published yet: 'whorl unlock' opens what is closed, "
      + "and 'whorl sync resolve' asks for the passcode where a secret needs it."
  }

  /// What waits for the user.
  static func waiting(_ status: SyncStatus) -> [String] {
    var lines: [String] = []
    if !status.candidates.isEmpty {
      lines.append("A computer asks to share your secrets: 'whorl sync approve' lets it in.")
    }
    if status.standing == .asking, !status.words.isEmpty, !status.hasAgreed {
      lines.append("Another computer has answered: 'whorl sync confirm' shows the six words to compare.")
    }
    let changes = memberLines(status)
    lines += changes
    if !changes.isEmpty {
      lines.append("Until 'whorl sync confirm' has asked you about it, nothing of this computer is published.")
    }
    let kept = unique(status.kept.map(\.item))
    if !kept.isEmpty {
      lines.append(
        "Changed on two machines at once; both versions are kept: \(some(kept)). 'whorl sync resolve NAME' lets you choose."
      )
    }
    for reason in SyncStatus.Waiting.Reason.allCases {
      let items = status.waiting.filter { $0.reason == reason }.map(\.item)
      guard !items.isEmpty else { continue }
      let what = some(unique(items))
      switch reason {
      case .touch:
        lines.append(
          "Waiting for a touch on this machine before use: \(what). 'whorl sync resolve NAME' asks for it."
        )
      case .locked: lines.append("Waiting until the store is unlocked: \(what).")
      case .proof:
        lines.append("Waiting for your passcode on this computer: \(what). 'whorl sync resolve' asks for it.")
      case .recipients:
        lines.append("Waiting until another computer has shared it with this one: \(what).")
      case .passcode: lines.append("Waiting for a passcode to be set: \(what). 'whorl passcode' sets one.")
      case .refused: lines.append("Could not be stored here: \(what). 'whorl doctor' shows whether the store is full.")
      }
    }
    return lines
  }

  /// The changes of the members that nobody here has confirmed.
  static func memberLines(_ status: SyncStatus) -> [String] {
    var lines = status.unconfirmed.flatMap(Self.lines(of:))
    if status.isForked {
      lines.append(
        "There are two different lists of your computers. Somebody may be showing each of them another one.")
    }
    if status.isLocked { lines.append("You have refused a change of your computers, so this one shares nothing.") }
    return lines
  }

  private static func lines(of change: SyncStatus.MemberChange) -> [String] {
    // In both, if it has new keys, or was set up anew.
    let (old, new) = (Set(change.removed), Set(change.added))
    return change.added.map { name in
      if name == change.by {
        "“\(name)” has new keys, as after a new recovery key, and then reads all that is shared with them."
      } else if old.contains(name) {
        "“\(change.by)” has let “\(name)” in anew, with other keys, which then read all that is shared."
      } else {
        "“\(change.by)” has let “\(name)” in, which then reads all that is shared."
      }
    } + change.removed.filter { !new.contains($0) }.map { "“\(change.by)” has removed “\($0)”." }
  }

  /// What somebody could read who gets hold of a computer that asks, in whole lines.
  static func protection(_ machine: SyncMember) -> [String] {
    var lines: [String] = []
    if machine.tier?.isOpenToGuesses ?? true {
      lines.append(
        "It keeps its keys in a file: who gets its disk can read all that needs no passcode there, and guess a short one."
      )
    }
    if !machine.hasPasscode { lines.append("It has no passcode, so it does not get the secrets that need one.") }
    return lines
  }

  /// A summary in one line.
  var line: String {
    var parts: [String] = []
    if !report.changed.isEmpty { parts.append("\(Spoken.plural(report.changed.count, "item")) received") }
    if !report.removed.isEmpty { parts.append("\(Spoken.plural(report.removed.count, "item")) removed") }
    if report.published > 0 { parts.append("\(Spoken.plural(report.published, "record")) published") }
    return parts.isEmpty
      ? "Nothing to do: this machine and \(remote) are in sync." : "\(parts.joined(separator: ", "))."
  }

  /// The summary of a dry run.
  var preview: String {
    "Would receive \(Spoken.plural(report.taken, "file")) from \(remote), and publish \(Spoken.plural(report.published, "record"))."
  }

  static func some(_ names: [ItemName]) -> String {
    let shown = names.prefix(listed).map { "“\($0)”" }.joined(separator: ", ")
    return names.count > listed ? "\(shown) and \(names.count - listed) more" : shown
  }

  private static func unique(_ names: [ItemName]) -> [ItemName] {
    var seen: Set<ItemName> = []
    return names.filter { seen.insert($0).inserted }
  }

  /// As JSON.
  var json: some Encodable { Report(report, remote) }

  private struct Report: Encodable {
    struct Refusal: Encodable {
      var path: String
      var reason: String
    }

    var remote: String
    var changed: [String]
    var removed: [String]
    var kept: [String]
    var refused: [Refusal]
    var taken: Int
    var published: Int
    var pending: Int
    var lost: Int
    var heldBack: Bool
    var rewritten: Bool
    var mixed: Bool

    init(_ report: SyncReport, _ remote: String) {
      self.remote = remote
      changed = report.changed.map(\.description)
      removed = report.removed.map(\.description)
      kept = report.kept.map(\.description)
      refused = report.refused.map { Refusal(path: $0.path, reason: $0.reason) }
      (taken, published) = (report.taken, report.published)
      (pending, lost, heldBack) = (report.status.pending, report.lost, report.isHeldBack)
      (rewritten, mixed) = (report.wasRewritten, report.isMixed)
    }
  }
}
