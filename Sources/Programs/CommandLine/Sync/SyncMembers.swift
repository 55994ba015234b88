import ArgumentParser
import CommandBase
import Moving
internal import Prompts
import SecretModel
import Settings

struct SyncApprove: Command {
  static let configuration = CommandConfiguration(
    commandName: "approve",
    abstract: "Let a computer in that asks.",
    discussion: """
      Run it while 'whorl sync join' waits on the other computer. Both show six words, and both ask whether they are the \
      same. Say yes on both only if they are; then a finger or the passcode lets the computer in, and it can read \
      everything that is shared. If the words differ, say no: then another computer asks than yours.

      A computer that was set up anew, or restored from a backup, takes the place of its earlier entry with --replace.

      Without a terminal it shows the words and ends; run again with --words it compares them.

      Examples:
        whorl sync approve
        whorl sync approve --replace desk
      """)

  static let spoken = "sync approve"

  @OptionGroup var options: GlobalOptions

  @Argument(
    help: ArgumentHelp("The beginning of the computer's identifier, if several ask.", valueName: "machine"),
    completion: .syncCandidates)
  var machine: String?

  @Option(
    help: ArgumentHelp(
      "The six words that the other computer shows, compared here instead of by you.", valueName: "words"))
  var words: String?

  @Option(
    help: ArgumentHelp("The computer's earlier entry, which it takes the place of.", valueName: "machine"),
    completion: .syncMembers)
  var replace: String?

  @OptionGroup var recovery: RecoveryKeyOption

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let sync = try await SyncSession(session)
    let status = try await sync.run().status
    guard status.unconfirmed.isEmpty, !status.isLocked, !status.isForked else {
      throw Failure(
        .refused, "an earlier change of the computers has to be confirmed first", advice: "run 'whorl sync confirm'")
    }
    let replaced = try replace.map { (name) throws(Failure) in
      try SyncMember.named(name, among: status.members.filter { !$0.isThisMachine })
    }
    let candidate = try await answered(sync, status)
    let shown = candidate.words.joined(separator: " ")
    guard try await isSame(shown, candidate, sync, session) else {
      try await sync.change(.refuse(candidate.id), recovery, reason: "")
      throw Failure(
        .refused, "the other computer has other words: \(shown)",
        advice: "do not approve it: somebody else may be using the repository")
    }
    StandardError.line("Waiting for a yes on the other computer …")
    try await sync.run { status in status.candidates.first { $0.id == candidate.id }?.hasAgreed ?? true }
    guard let agreed = try await sync.status().candidates.first(where: { $0.id == candidate.id }) else {
      throw Failure(.notFound, "the other computer no longer asks", advice: "begin again on both")
    }
    let earlier = if let replaced { replaced } else { try sameComputer(agreed, status) }
    try await sync.change(
      .approve(agreed.id, replacing: earlier?.id), recovery, reason: "let “\(agreed.name)” read what is shared")
    let report = try await sync.publish()
    // With a number where another one has its name.
    let name = report.status.members.first { $0.id == agreed.id }?.name ?? agreed.name
    if options.json { return try JSON.print(["approved": name, "id": agreed.id.description]) }
    let items = Spoken.plural(report.status.items, "item")
    StandardError.line(Visible.text("“\(name)” shares your secrets now, and gets \(items)."))
  }

  /// The computer that asks, once both show words.
  private func answered(_ sync: SyncSession, _ status: SyncStatus) async throws(Failure) -> SyncMember {
    let asking = status.candidates
    guard !asking.isEmpty else {
      throw Failure(
        .notFound, "no computer is waiting to join", name: "errSecItemNotFound",
        advice: "run 'whorl sync join' on it, and this while it waits")
    }
    let candidate = try SyncMember.named(machine, among: asking)
    if candidate.words.isEmpty {
      try await sync.change(.answer(candidate.id), recovery, reason: "")
      StandardError.line("Waiting for the other computer …")
      try await sync.run { status in
        status.candidates.first { $0.id == candidate.id }.map { !$0.words.isEmpty } ?? true
      }
    }
    guard let answered = try await sync.status().candidates.first(where: { $0.id == candidate.id }) else {
      throw Failure(.notFound, "the other computer no longer asks", advice: "begin again on both")
    }
    return answered
  }

  /// Whether the other computer shows the same words.
  private func isSame(
    _ shown: String, _ candidate: SyncMember, _ sync: SyncSession, _ session: Session
  ) async throws(Failure) -> Bool {
    if let words { return words.lowercased().split(separator: " ").joined(separator: " ") == shown.lowercased() }
    StandardError.line(Visible.text("A computer asks to share your secrets. This one shows these six words:"))
    StandardError.line("\n  \(Visible.text(shown))\n")
    for line in SyncOutcome.protection(candidate) { StandardError.line(line) }
    try session.answers().confirm(
      "Does the other computer show the same words?", assent: "--words",
      otherwise: .wordsNotConfirmed("nobody was let in", again: "whorl sync approve"))
    return true
  }

  /// The entry of the same name, if the person says that it is the same computer.
  private func sameComputer(_ agreed: SyncMember, _ status: SyncStatus) throws(Failure) -> SyncMember? {
    let earlier = status.members.first { $0.name == agreed.name && !$0.isThisMachine }
    guard words == nil, let earlier, let terminal = Terminal() else { return nil }
    StandardError.line(Visible.text("A computer “\(agreed.name)” shares your secrets already."))
    do {
      return try terminal.confirm("Is it the same one, set up anew? Then the old entry goes.") ? earlier : nil
    } catch {
      throw Failure(error)
    }
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
    let names = try await sync.sharedNames()
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
    try await session.asking(session.answers(recoveryKey: recovery.recoveryFd), reason: Visible.text(reason)) {
      try await $0.sync.change(change, $1)
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
      // Names are told apart by numbers, so these have told none yet.
      let ids = (found ?? machines).map { $0.id.description.prefix(8) }.joined(separator: ", ")
      throw .usage(
        "several computers ask to share your secrets",
        advice: "end 'whorl sync join' on all but one of them and run this again, or name one of these: \(ids)")
    }
    return machine
  }
}
