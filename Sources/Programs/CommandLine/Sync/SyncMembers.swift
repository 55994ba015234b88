import ArgumentParser
internal import PromptTexts
import SecretModel
import SyncRepository

struct SyncApprove: Command {
  static let configuration = CommandConfiguration(
    commandName: "approve",
    abstract: "Let a machine in that asks.",
    discussion: """
      Shows the name of the machine and six words, which it shows as well. If they are the same, say yes, and touch the \
      reader or give the passcode: from then on it can read everything in the circle. If they differ, say no: then another \
      machine asks than yours.

      Examples:
        whorl sync approve
        whorl sync approve desk
      """)

  static let spoken = "sync approve"

  @OptionGroup var options: GlobalOptions

  @Argument(help: ArgumentHelp("The machine, if several ask.", valueName: "machine"), completion: .syncCandidates)
  var machine: String?

  @Option(
    help: ArgumentHelp("The six words that the machine shows, compared here instead of by you.", valueName: "words"))
  var words: String?

  @OptionGroup var recovery: RecoveryKeyOption

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let sync = try await SyncSession(session)
    let asking = try await sync.run().status.candidates.filter { !$0.isThisMachine }
    guard !asking.isEmpty else {
      throw Failure(
        .notFound, "no machine is waiting to join", name: "errSecItemNotFound",
        advice: "run 'whorl sync join' on it, and then this again")
    }
    let candidate = try SyncMember.named(machine, among: asking)
    let shown = candidate.words.joined(separator: " ")
    if let words {
      guard words.split(separator: " ").map({ $0.lowercased() }) == candidate.words.map({ $0.lowercased() }) else {
        throw Failure(
          .refused, "“\(candidate.name)” has other words: \(shown)",
          advice: "do not approve it: somebody else may be using the repository")
      }
    } else {
      StandardError.line(
        Visible.text("“\(candidate.name)” asks to be let in. Its words are:") + "\n\n  \(Visible.text(shown))\n")
      try session.answers().confirm("Do both machines show these words?", assent: "--words")
    }
    try await sync.change(.approve(candidate.id), recovery, reason: "let “\(candidate.name)” read what is shared")
    let report = try await sync.publish()
    if options.json { return try JSON.print(["approved": candidate.name, "id": candidate.id.description]) }
    StandardError.line(
      Visible.text(
        "“\(candidate.name)” is one of your computers and gets \(Spoken.plural(report.status.items, "item")) at its next 'whorl sync now'."
      ))
  }
}

struct SyncRemoveMachine: Command {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Share no longer with one of your computers, such as a lost one.",
    discussion: """
      From then on nothing new can be read with its keys. What it has seen it keeps, and whoever has it can read the \
      earlier states of the repository: so the secrets themselves have to be changed where they are used. Their names are \
      listed, the ones without a rule first.

      Examples:
        whorl sync remove desk
      """)

  static let spoken = "sync remove"

  @OptionGroup var options: GlobalOptions

  @Argument(help: ArgumentHelp("The machine.", valueName: "machine"), completion: .syncMembers)
  var machine: String

  @Flag(name: .shortAndLong, help: "Do not ask whether the machine may go.")
  var yes = false

  @OptionGroup var recovery: RecoveryKeyOption

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let sync = try await SyncSession(session)
    let others = try await sync.run().status.members.filter { !$0.isThisMachine }
    let member = try SyncMember.named(machine, among: others)
    if !yes {
      try session.answers().confirm(
        "Remove “\(Visible.text(member.name))”? It keeps what it has, and receives no more changes.", assent: "--yes")
    }
    try await sync.change(.remove(member.id), recovery, reason: "remove “\(member.name)” from your computers")
    try await sync.publish()
    let items = try await session.explained { () async throws(VaultError) in
      try await sync.store.allItems(ItemSearch(groups: .all, synchronizable: .yes))
    }.sorted { ($0.access == .none ? 0 : 1, $0.title ?? "") < ($1.access == .none ? 0 : 1, $1.title ?? "") }
    let names = items.compactMap(\.title)
    if options.json { return try JSON.print(Report(removed: member.name, toChange: names)) }
    StandardError.line(
      Visible.text(
        "“\(member.name)” receives no more changes. Whoever has it can still read what was shared until now. Change these secrets "
          + "where they are used:"))
    for name in names { StandardError.line("  \(Visible.text(name))") }
  }

  private struct Report: Encodable {
    var removed: String
    /// The names of the items that the machine could read.
    var toChange: [String]
  }
}

extension SyncSession {
  /// Changes the members, after a finger or the passcode.
  func change(_ change: SyncMemberChange, _ recovery: RecoveryKeyOption, reason: String) async throws(Failure) {
    try await session.asking(store, session.answers(recoveryKey: recovery.recoveryFd), reason: Visible.text(reason)) {
      try await store.sync.change(change, $0)
    }
  }
}

extension SyncMember {
  /// Finds a machine by its name, or by the beginning of its id.
  ///
  /// - Parameter word: nil if there is only one machine.
  static func named(_ word: String?, among machines: [SyncMember]) throws(Failure) -> SyncMember {
    let found = word.map { word in
      machines.filter { $0.name == word || (word.utf8.count >= 8 && $0.id.description.hasPrefix(word)) }
    }
    guard let machine = (found ?? machines).first else {
      throw Failure(
        .notFound, "no machine \(word ?? "")", name: "errSecItemNotFound", advice: "'whorl sync status' lists them")
    }
    guard (found ?? machines).count == 1 else {
      let names = (found ?? machines).map { "\($0.name) (\($0.id))" }.joined(separator: ", ")
      throw .usage("that could be several machines: \(names)", advice: "name one, or its id")
    }
    return machine
  }
}
