internal import Primitives
package import SecretModel

/// The secrets that exist nowhere else than in something that is about to go: a store, or what a circle of machines
/// keeps for this one.
///
/// This is the one rule for every command that removes: it names each of these, and keeps them unless the person types
/// that they may go. What cannot be shown to exist elsewhere counts as existing only here.
package struct OnlyCopies: Sendable, Hashable {
  /// What a person types before they go: more than Enter or a letter, which other questions take.
  package static let word = "delete"
  /// The option of a command that says the same.
  package static let option = "--delete-only-copies"

  package struct Copy: Sendable, Hashable {
    /// The name to show.
    package let name: String
    /// What else a person should know about it, worded to follow the name and a colon.
    package let note: String?
    /// What it is, to find out whether others have come since.
    private let identity: String

    init(_ name: String, note: String? = nil, identity: String) {
      (self.name, self.note, self.identity) = (name, note, identity)
    }

    /// An item in its present version. Nil for a record that has no secret of its own.
    init?(_ item: Item, note: String? = nil) {
      let id = Hexadecimal.text(of: item.id.bytes)
      var name = item.title ?? "id:\(id)"
      if SecretServiceFolder(item) != nil { return nil }
      if let item = SecretServiceItem(item), item.collection == SecretServiceFolder.sessionCollection { return nil }
      switch LoginItem(item)?.kind {
      case nil: break
      case .gnomeKeyring?: name = "the password of your login keyring, which only Whorl knows"
      // The wallet's password makes its key again, and the others deliver an item that is named itself.
      case .kwallet?, .environment?, .file?, .command?, .passcode?: return nil
      }
      let lost: String? = item.state == .living ? nil : "it can no longer be read"
      self.init(name, note: note ?? lost, identity: "\(id) \(item.modified)")
    }
  }

  package let copies: [Copy]

  package var isEmpty: Bool { copies.isEmpty }

  /// Whether there is nothing among them that the earlier ones did not name.
  package func isWithin(_ earlier: OnlyCopies) -> Bool { Set(copies).isSubset(of: earlier.copies) }

  private init(_ copies: [Copy]) { self.copies = copies }

  // MARK: Stores

  /// For a store whose contents cannot be listed: nobody can know what goes with it.
  package init(unnamed why: String) {
    self.init([Copy("what is in it, which cannot be listed", note: why, identity: "unnamed")])
  }

  /// What exists only in a store. Asks nobody.
  ///
  /// - Parameter elsewhere: the items that were seen elsewhere with the same secret.
  package init(of store: any VaultService, elsewhere: Set<ItemID> = []) async throws(VaultError) {
    let search = ItemSearch(groups: .all, synchronizable: .any, states: Set(Item.State.allCases))
    let items = try await store.allItems(search)
    self.init(items.filter { !elsewhere.contains($0.id) }.compactMap { Copy($0) }.sorted { $0.name < $1.name })
  }

  /// What of a store has not been copied to another one.
  ///
  /// - Parameter words: the reason why an item cannot be copied.
  package init(of plan: MigrationPlan, _ words: (MoveObstacle) -> String) {
    self.init(
      plan.movable.compactMap { Copy($0) } + plan.staying.compactMap { Copy($0.item, note: words($0.obstacle)) })
  }

  /// The items of a store that other machines have in the same version.
  package static func onOtherMachines(_ store: any VaultService) async throws(VaultError) -> Set<ItemID> {
    let status = try await store.sync.status()
    // What the repository does not have yet may be any of them.
    guard status.standing == .member, status.members.contains(where: { !$0.isThisMachine }), status.pending == 0 else {
      return []
    }
    return Set(try await store.allItems(ItemSearch(groups: .all, synchronizable: .yes)).map(\.id))
  }

  // MARK: Circles

  /// What a store loses when it leaves its circle: the versions that lost a conflict, and what waits to be stored here.
  /// Other machines keep theirs.
  package init(leaving status: SyncStatus) {
    guard !status.members.contains(where: { !$0.isThisMachine }) else {
      self.init([])
      return
    }
    self.init(
      status.kept.map(Self.copy)
        + status.waiting.map {
          Copy($0.item.description, note: "it waits to be stored here", identity: "waiting \($0.item)")
        })
  }

  /// The versions that lost a conflict, of items that are shared no longer: they go from every machine.
  package init(unsharing items: [Item], _ status: SyncStatus) {
    let names = Set(items.compactMap(\.name))
    self.init(status.kept.filter { names.contains($0.item) }.map(Self.copy))
  }

  private static func copy(_ version: SyncStatus.Kept) -> Copy {
    Copy(
      version.item.description, note: "another version, written on “\(version.writer)”", identity: "kept \(version.id)")
  }
}
