import ArgumentParser
import CommandBase
import Moving
internal import Prompts
internal import SecretModel
import Settings
import Whorl

/// The items of 'add' and 'leave'.
struct SyncItemOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("The items' names.", valueName: "name"), completion: .itemNames)
  var names: [String] = []

  @OptionGroup var choice: ItemOptions

  @Flag(help: "All keys for SSH.")
  var ssh = false

  @Flag(help: "All passkeys.")
  var passkeys = false

  @Option(
    help: ArgumentHelp("All items of this collection of the Secret Service.", valueName: "name"),
    completion: .secretServiceCollections)
  var folder: String?

  var isEmpty: Bool { names.isEmpty && !ssh && !passkeys && folder == nil }

  /// The named items, and those of the chosen kinds.
  func items(_ session: Session) async throws(Failure) -> (named: [Item], ofKinds: [Item]) {
    let store = try await session.openStore()
    var named = try await ItemChoice(options: choice, purpose: .naming, session: session).items(named: names)
    var ids: [ItemID] = []
    if ssh { ids += try await StoredKeys<SSHKey>(in: store).all().map(\.id) }
    if passkeys { ids += try await StoredPasskeys(in: store).all().map(\.id) }
    if let folder {
      let contents = try await session.request { try await SecretServiceContents(of: $0) }
      guard let collection = contents.collection(called: folder) else {
        throw Failure(
          .notFound, "no collection \(folder)", name: "errSecItemNotFound",
          advice: "'whorl secret-service list' lists what there is")
      }
      ids += contents.items.filter { $0.collection == collection.name }.map(\.id)
      // Sharing the collection's record also shares its new items that have a rule.
      let record = SecretServiceFolder.search(.collection, collection.name)
      named += try await session.request { try await $0.allItems(record) }
    }
    guard !ids.isEmpty else { return (named, []) }
    let search = ItemSearch(groups: .all, ids: ids, synchronizable: .any)
    return (named, try await session.request { try await $0.allItems(search) })
  }
}

extension Item {
  /// Whether it is shared with other computers.
  var isShared: Bool { attributes[.synchronizable] == .number(1) }
}

struct SyncAdd: Command {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Share items with your computers.",
    discussion: """
      Asks for what the items need. Each is shared with its rule: what needs a finger here needs one on the other \
      machines. An item that is bound to the fingers enrolled here (current-set) waits there until a touch binds it to \
      the fingers of that machine. With --ssh, --passkeys and --folder, items that need nothing (none) are left out: name \
      them to share them.

      Examples:
        whorl sync add mail/alice bank
        whorl sync add --ssh --passkeys
        whorl sync add --folder Login
      """)

  static let spoken = "sync add"

  @OptionGroup var options: GlobalOptions
  @OptionGroup var chosen: SyncItemOptions

  func validate() throws {
    if chosen.isEmpty { throw ValidationError("Name items, or choose --ssh, --passkeys or --folder.") }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let sync = try await SyncSession(session)
    let (named, ofKinds) = try await chosen.items(session)
    let unprotected = ofKinds.filter { $0.access == .none && !$0.isShared }
    // An item may be marked and not shared yet: it was stored before this computer shared, and needs more than nothing.
    let isSharedAgain = try await sync.hasUnshared()
    let new = (named + ofKinds.filter { $0.access != .none }).filter { isSharedAgain || !$0.isShared }
    try await sync.set(new, shared: true, reason: "share \(Spoken.plural(new.count, "item")) with other machines")
    try await sync.told(new, as: "shared", options)
    if !unprotected.isEmpty, !options.json {
      StandardError.line(
        "Not shared: \(Spoken.plural(unprotected.count, "item")) without a rule. 'whorl sync add NAME' shares one.")
    }
  }
}

struct SyncLeave: Command {
  static let configuration = CommandConfiguration(
    commandName: "leave",
    abstract: "Share items no longer, or nothing with this computer.",
    discussion: """
      The items stay on this machine, and go from the others; NAME and the options are those of 'whorl sync add'. With \
      --this-computer this one shares nothing any more: its items stay here as they are, the others keep theirs, and the \
      user units are disabled. Asks for what the items need; for --this-computer a finger or the passcode. What no machine would have any more, \
      such as the other version of an item that was changed on two machines at once, is named, and goes only if you type \
      the word for it.

      Examples:
        whorl sync leave mail/alice
        whorl sync leave --this-computer
      """)

  static let spoken = "sync leave"

  @OptionGroup var options: GlobalOptions
  @OptionGroup var chosen: SyncItemOptions

  @Flag(help: "Share nothing with this computer any more.")
  var thisComputer = false

  // Its earlier name, which the unit files that Whorl has written tell.
  @Flag(help: .hidden)
  var circle = false

  private var isOfComputer: Bool { thisComputer || circle }

  @Flag(name: .shortAndLong, help: "Do not ask whether the machine may leave.")
  var yes = false

  @OptionGroup var onlyCopies: OnlyCopiesOption
  @OptionGroup var recovery: RecoveryKeyOption

  func validate() throws {
    guard chosen.isEmpty != isOfComputer else { return }
    throw ValidationError(
      isOfComputer
        ? "--this-computer takes no items." : "Name items, or choose --ssh, --passkeys, --folder or --this-computer.")
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let sync = try await SyncSession(session)
    if isOfComputer { return try await leaveCircle(sync, session, hardening) }
    let (named, ofKinds) = try await chosen.items(session)
    let shared = (named + ofKinds).filter(\.isShared)
    try OnlyCopies(unsharing: shared, try await sync.status()).requireAgreement(
      to: "your other computers", onlyCopies, session.answers())
    try await sync.set(
      shared, shared: false, reason: "share \(Spoken.plural(shared.count, "item")) with other machines no longer")
    try await sync.told(shared, as: "kept here", options)
  }

  private func leaveCircle(_ sync: SyncSession, _ session: Session, _ hardening: Hardening) async throws(Failure) {
    let dialogue = CommandDialogue(session, of: SyncLeave.spoken, recoveryFd: recovery.recoveryFd)
    let leaving = try await SyncLeaving(dialogue, sync.repository)
    try leaving.lost.requireAgreement(to: "your other computers", onlyCopies, session.answers())
    if !yes {
      try session.answers().confirm(
        "Stop sharing with your other computers? The items stay here, and later changes are no longer shared.",
        assent: "--yes")
    }
    let areTold = try await leaving.run(ServiceManager(hardening))
    if options.json { return try JSON.print(["left": true, "published": areTold]) }
    StandardError.line("This computer shares with no other any more. Its items stay here.")
    if !areTold {
      StandardError.line(
        "The other machines could not be notified: run 'whorl sync remove' with this machine's name on one of them.")
    }
  }
}

extension SyncSession {
  /// Shares items or stops sharing them, after the authentication they need. Publishes it if the remote can be reached.
  fileprivate func set(_ items: [Item], shared: Bool, reason: String) async throws(Failure) {
    let standing = try await status().standing
    guard standing == .member else { throw Failure(.notInCircle(standing)) }
    guard !items.isEmpty else { return }
    let ids = items.map(\.id)
    let change = ItemChange(attributes: [.synchronizable: shared ? AttributeValue.number(1) : nil])
    try await session.asking(session.answers(), reason: reason) {
      _ = try await $0.update(.ids(ids), change, secret: nil, $1)
    }
    try await publishIfReachable(shared ? "sync add" : "sync leave")
  }

  /// Whether items that are marked as shared are not.
  fileprivate func hasUnshared() async throws(Failure) -> Bool {
    let status = try await status()
    let marked = try await session.request {
      try await $0.allItems(ItemSearch(groups: .all, synchronizable: .yes))
    }
    return marked.count > status.items - status.waiting.count
  }

  fileprivate func told(_ items: [Item], as what: String, _ options: GlobalOptions) async throws(Failure) {
    if options.json { return try JSON.print(["items": items.map { $0.title ?? $0.id.spoken }]) }
    StandardError.line("\(Spoken.plural(items.count, "item")) \(items.count == 1 ? "is" : "are") \(what) now.")
  }
}
