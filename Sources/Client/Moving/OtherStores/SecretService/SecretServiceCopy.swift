internal import Primitives
package import SecretModel

/// Copies the contents of a Secret Service into the form in which Whorl's own service stores them: collections, labels,
/// attributes, content types and secrets.
///
/// An item with the same attributes in the same collection counts as the same item, and stays unchanged, so that
/// copying can be repeated. If a service has several such items, their number and labels determine which of them are
/// already in the store (``SecretServiceMatch``). Secrets of existing items are compared, and replaced on request.
package struct SecretServiceCopy: Sendable {
  /// What would be copied, or was.
  package struct Entry: Sendable, Hashable {
    /// The index in the listing.
    let place: Int
    /// The name of its collection in the store.
    package let collection: String
    package let label: String
    /// The sandboxed program whose secret it is, which encrypts that program's files; nil for other items.
    package let application: String?
  }

  package struct Plan: Sendable {
    /// The collections that the store does not have yet.
    package fileprivate(set) var collections: [SecretServiceFolder] = []
    package fileprivate(set) var coming: [Entry] = []
    package fileprivate(set) var alreadyThere: [Entry] = []
    /// The existing items with another secret.
    package fileprivate(set) var differing: [Entry] = []
    /// The existing items that were not compared, since the store's item has a rule or the service does not release its
    /// secret.
    package fileprivate(set) var uncompared: [Entry] = []
    package fileprivate(set) var unusable: [UnusableEntry]
    /// The store's items for entries that exist already.
    fileprivate var items: [Entry: SecretServiceItem] = [:]
    /// The collections of the store by name, for the rules of their new items.
    fileprivate var folders: [String: SecretServiceFolder] = [:]
  }

  package struct Outcome: Sendable {
    package fileprivate(set) var brought: [Entry] = []
    /// Existing items that got the service's secret.
    package fileprivate(set) var replaced: [Entry] = []
    package fileprivate(set) var unusable: [UnusableEntry]
  }

  let peer: SecretServicePeer
  let store: any VaultService
  private let access: AccessControl.Constraint?
  /// The name of the program, recorded in the copied items.
  private let program: String

  /// A collection that stayed locked.
  package struct LockedKeyring: Sendable {
    package let label: String
    /// The name of its file in GNOME Keyring, without the suffix.
    package let file: String
  }

  package var locked: [LockedKeyring] {
    peer.listing.locked.map { LockedKeyring(label: $0.label, file: peer.bus.keyring(at: $0.path)) }
  }

  /// Opens the collections, and lists what is in them.
  ///
  /// - Parameters:
  ///   - address: of the session's bus.
  ///   - program: the display name of the service's program.
  ///   - access: the rule of the new items; nil: that of their collection in the store, which begins without one.
  ///   - opening: how locked collections are opened.
  /// - Throws: `ownService` if Whorl is the service, and errors that end the reading.
  package init(
    onBus address: String, from program: String, to store: any VaultService, access: AccessControl.Constraint?,
    opening: SecretServiceOpening = .byPrompt
  ) async throws(ImportError) {
    peer = try await SecretServicePeer(onBus: address, opening: opening)
    (self.program, self.store, self.access) = (program, store, access)
  }

  private static let schema = (name: "xdg:schema", portal: "org.freedesktop.portal.Secret", program: "app_id")
  func entry(_ place: Int) -> Entry {
    let item = peer.listing.items[place]
    let isToken = item.attributes[Self.schema.name] == Self.schema.portal
    return Entry(
      place: place, collection: peer.names[item.collection], label: item.label,
      application: isToken ? item.attributes[Self.schema.program] : nil)
  }

  /// What would be copied. Reads the secrets of items that exist already.
  ///
  /// - Parameter asking: for a store that is locked.
  /// - Throws: an ``ImportError`` that ends the reading, or a `VaultError`.
  package func plan(_ asking: Asking) async throws -> Plan {
    var plan = try await match()
    try await compare(&plan, asking)
    return plan
  }

  /// What was stored or changed there after the last copy and later than here: new items, and other secrets.
  ///
  /// - Parameters:
  ///   - time: of the last copy, in seconds since 1970. The service's times are whole seconds.
  ///   - asking: for a store that is locked.
  package func plan(since time: Double, _ asking: Asking) async throws -> Plan {
    var plan = try await plan(asking)
    let earliest = UInt64(max(0, time.rounded(.down)))
    func isLater(_ entry: Entry) -> Bool {
      let there = peer.listing.items[entry.place].modified
      return there >= earliest && there >= UInt64(max(0, plan.items[entry]?.modified ?? 0))
    }
    // KWallet knows no times of what KDE's own programs store. Better one that was removed here comes back than that a
    // new one is missing.
    func isNew(_ entry: Entry) -> Bool { peer.listing.items[entry.place].modified == 0 || isLater(entry) }
    let (coming, differing, uncompared) = (
      plan.coming.filter(isNew), plan.differing.filter(isLater), plan.uncompared.filter(isLater)
    )
    (plan.coming, plan.differing, plan.uncompared) = (coming, differing, uncompared)
    return plan
  }

  /// Finds the items that exist already.
  private func match() async throws(VaultError) -> Plan {
    let contents = try await SecretServiceContents(of: store)
    var plan = Plan(unusable: peer.listing.unusable)
    for folder in contents.collections { plan.folders[folder.name] = folder }
    for (collection, name) in zip(peer.listing.collections, peer.names) {
      let known = plan.folders[name]
      guard known == nil || (known == .usual && collection.label != SecretServiceFolder.usualLabel) else { continue }
      let folder = SecretServiceFolder(.collection, name, label: collection.label)
      plan.folders[name] = folder
      plan.collections.append(folder)
    }
    let match = SecretServiceMatch(peer, contents.items)
    for (place, item) in match.pairs {
      let entry = entry(place)
      plan.items[entry] = item
      plan.alreadyThere.append(entry)
    }
    plan.coming = match.onlyThere.map(entry)
    return plan
  }

  /// Compares the secrets of existing items without a rule, so without a prompt for a finger.
  private func compare(_ plan: inout Plan, _ asking: Asking) async throws {
    var comparable: [(entry: Entry, id: ItemID)] = []
    for entry in plan.alreadyThere {
      guard let item = plan.items[entry] else { continue }
      if item.isGated { plan.uncompared.append(entry) } else { comparable.append((entry, item.id)) }
    }
    var (differing, uncompared): ([Entry], [Entry]) = ([], [])
    try await ReleasesInChunks(store: store, asking: asking).read(comparable.map(\.id)) {
      place, released throws(ImportError) in
      let entry = comparable[place].entry
      guard case .success(let released) = released else { return uncompared.append(entry) }
      switch try await peer.compare(released, with: entry.place) {
      case .same: break
      case .other: differing.append(entry)
      case .notGiven: uncompared.append(entry)
      }
    }
    plan.differing += differing
    plan.uncompared += uncompared
  }

  /// Copies the items of the plan. The service is not changed.
  ///
  /// - Parameters:
  ///   - replacing: whether existing items get the service's secret, unless it is known to be the same. They keep their
  ///     rule and label.
  ///   - asking: for a store that is locked.
  /// - Throws: an ``ImportError`` that ends the reading, or a `VaultError` that prevents storing any item. Items copied
  ///   before stay.
  package func bring(_ plan: Plan, replacing: Bool, _ asking: Asking) async throws -> Outcome {
    var outcome = Outcome(unusable: plan.unusable)
    let folders = plan.collections.map { ItemToAdd($0.item, secret: SharedSecret(SecretBytes(count: 0))) }
    if !folders.isEmpty { _ = try await store.add(folders) }
    var arriving = ArrivingItems(in: store)
    var entries: [String: Entry] = [:]
    func told(_ item: NewItem, _ error: VaultError?) {
      guard case .text(let name)? = item.attributes[.account], let entry = entries.removeValue(forKey: name) else {
        return
      }
      if let error {
        outcome.unusable.append(UnusableEntry(entry.label, .refused(error)))
      } else {
        outcome.brought.append(entry)
      }
    }
    do {
      for entry in plan.coming {
        switch try await read(entry, plan) {
        case .item(let name, let item):
          entries[name] = entry
          try await arriving.add(item, told)
        case .refused(let why): outcome.unusable.append(UnusableEntry(entry.label, .source(why)))
        }
      }
      try await arriving.finish(told)
    } catch {
      await arriving.abandon()
      throw error
    }
    if replacing {
      for entry in plan.differing + plan.uncompared { try await replace(entry, plan, asking, &outcome) }
    }
    try await mark(plan, asking)
    return outcome
  }

  /// Records the original's program in compared and equal items, since items of an earlier import may lack it.
  private func mark(_ plan: Plan, _ asking: Asking) async throws(VaultError) {
    let other = Set(plan.differing + plan.uncompared)
    let unmarked = plan.alreadyThere.filter { !other.contains($0) }.compactMap { plan.items[$0] }
      .filter { $0.original != program }
    guard !unmarked.isEmpty else { return }
    _ = try await store.update(
      .ids(unmarked.map(\.id)), SecretServiceItem.change(original: program), secret: nil, asking)
  }

  /// Gives the store's item of an entry the service's secret.
  private func replace(
    _ entry: Entry, _ plan: Plan, _ asking: Asking, _ outcome: inout Outcome
  ) async throws {
    guard let item = plan.items[entry] else { return }
    let secret: SecretServiceBus.Secret
    do throws(ImportError) {
      secret = try await peer.listing.secret(of: peer.listing.items[entry.place])
    } catch {
      guard case .unreadable(let why) = error else { throw error }
      outcome.unusable.append(UnusableEntry(entry.label, .source(why)))
      return
    }
    do throws(VaultError) {
      if item.isGated {
        // Updating an item with a rule would ask for a touch. Storing it again does not.
        let new = SecretServiceItem.item(
          named: item.name, in: item.collection, label: item.label, attributes: item.attributes,
          contentType: secret.contentType, access: item.access, grant: item.grant, original: program,
          isShared: item.isShared)
        _ = try await store.add(new, secret: secret.value.copy(), replacing: true, .nobody)
      } else {
        _ = try await store.update(
          .ids([item.id]), SecretServiceItem.change(contentType: secret.contentType), secret: secret.value.copy(),
          asking)
      }
      outcome.replaced.append(entry)
    } catch {
      guard error.concernsNewItem || error == .itemGone else { throw error }
      outcome.unusable.append(UnusableEntry(entry.label, .refused(error)))
    }
  }

  private enum Reading {
    case item(name: String, ItemToAdd)
    /// The service does not release it; the reason in words that follow "it".
    case refused(String)
  }

  private func read(_ entry: Entry, _ plan: Plan) async throws(ImportError) -> Reading {
    let item = peer.listing.items[entry.place]
    let secret: SecretServiceBus.Secret
    do throws(ImportError) {
      secret = try await peer.listing.secret(of: item)
    } catch {
      guard case .unreadable(let why) = error else { throw error }
      return .refused(why)
    }
    let folder = plan.folders[entry.collection]
    let name = SecretServiceItem.newName()
    let access = AccessControl(self.access ?? folder?.access ?? AccessControl.Constraint.none)
    let new = SecretServiceItem.item(
      named: name, in: entry.collection, label: item.label, attributes: item.attributes,
      contentType: secret.contentType, access: access,
      grant: self.access == nil ? folder?.grant ?? .brief : .brief, original: program,
      isShared: folder?.shares(access) ?? false)
    return .item(name: name, ItemToAdd(new, secret: secret.value))
  }
}
