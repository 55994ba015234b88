package import SecretModel
internal import SecureMemory
package import Whorl

/// Copies the contents of a Secret Service into the form in which Whorl's own service stores them: collections, labels,
/// attributes, content types and secrets.
///
/// An item with the same attributes in the same collection counts as the same item, and stays as it is, so that copying
/// can be repeated. If a service has several such items, their number and labels tell which of them the store has
/// already. Secrets of items that are there already are compared, and replaced if that is asked for.
package struct SecretServiceCopy: Sendable {
  /// What would be copied, or was.
  package struct Entry: Sendable, Hashable {
    /// The place in the listing.
    fileprivate let place: Int
    /// The name of the collection that it comes to.
    package let collection: String
    package let label: String
    /// The sandboxed program whose secret it is, which encrypts that program's files; nil for other items.
    package let application: String?
  }

  package struct Plan: Sendable {
    /// The collections of which the store has no record yet.
    package fileprivate(set) var collections: [SecretServiceFolder] = []
    package fileprivate(set) var coming: [Entry] = []
    package fileprivate(set) var alreadyThere: [Entry] = []
    /// Of those that are there already: the ones with another secret.
    package fileprivate(set) var differing: [Entry] = []
    /// Of those that are there already: the ones that were not compared, since the store's item has a rule or the
    /// service does not give its secret out.
    package fileprivate(set) var uncompared: [Entry] = []
    package fileprivate(set) var unusable: [UnusableEntry]
    /// The store's items of the entries that are there already.
    fileprivate var items: [Entry: SecretServiceItem] = [:]
    /// The collections of the store by name, for the rules of their new items.
    fileprivate var folders: [String: SecretServiceFolder] = [:]
  }

  package struct Outcome: Sendable {
    package fileprivate(set) var brought: [Entry] = []
    /// Items that were there already, and have the service's secret now.
    package fileprivate(set) var replaced: [Entry] = []
    package fileprivate(set) var unusable: [UnusableEntry]
  }

  private struct Identity: Hashable {
    let collection: String
    let attributes: [String: String]
  }

  private let listing: SecretServiceListing
  /// The names that the collections of the listing get.
  private let names: [String]
  private let store: any VaultService
  private let access: AccessControl.Constraint?

  /// Opens the collections, for which the desktop may ask, and lists what is in them.
  ///
  /// - Parameters:
  ///   - address: of the session's bus.
  ///   - access: the rule of the new items; nil: that of their collection in the store, which is none at first.
  /// - Throws: `ownService` where Whorl is the service, and what ends a reading.
  package init(
    onBus address: String, to store: any VaultService, access: AccessControl.Constraint?
  ) async throws(ImportError) {
    let bus = try await SecretServiceBus(address)
    guard await !bus.holder().isOwn else { throw .ownService }
    // The items of this collection end with the session, so they are not copied.
    let passing = try await bus.collection(called: "session")
    let usual = try await bus.collection(called: "default")
    listing = try await SecretServiceListing(of: bus) { $0 != passing }
    // Give the default collection the name that Whorl uses, so that programs that look only there find their items
    // again.
    names = listing.collections.map {
      $0.path == usual ? SecretServiceFolder.usualCollection : Self.lastPart(of: $0.path)
    }
    (self.store, self.access) = (store, access)
  }

  private static func lastPart(of path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }

  private static let schema = (name: "xdg:schema", portal: "org.freedesktop.portal.Secret", program: "app_id")
  /// The most bytes of secrets of the store that are compared at once; one may have more.
  private static let comparedSize = 1 << 20
  /// The most items of one call.
  private static let comparedCount = 100

  private func entry(_ place: Int) -> Entry {
    let item = listing.items[place]
    let isToken = item.attributes[Self.schema.name] == Self.schema.portal
    return Entry(
      place: place, collection: names[item.collection], label: item.label,
      application: isToken ? item.attributes[Self.schema.program] : nil)
  }

  /// What would be copied. Reads the secrets of items that are there already.
  ///
  /// - Parameter asking: for a store that is locked.
  /// - Throws: an ``ImportError`` that ends the reading, or a `VaultError`.
  package func plan(_ asking: Asking) async throws -> Plan {
    var plan = try await match()
    try await compare(&plan, asking)
    return plan
  }

  /// Finds the items that are there already.
  private func match() async throws(VaultError) -> Plan {
    let contents = try await SecretServiceContents(of: store)
    var plan = Plan(unusable: listing.unusable)
    for folder in contents.collections { plan.folders[folder.name] = folder }
    for (collection, name) in zip(listing.collections, names) {
      let known = plan.folders[name]
      guard known == nil || (known == .usual && collection.label != SecretServiceFolder.usualLabel) else { continue }
      let folder = SecretServiceFolder(.collection, name, label: collection.label)
      plan.folders[name] = folder
      plan.collections.append(folder)
    }
    // The store's items, by the values that identify one.
    var there: [Identity: [SecretServiceItem]] = [:]
    for item in contents.items {
      there[Identity(collection: item.collection, attributes: item.attributes), default: []].append(item)
    }
    // Oldest first, as they were made.
    let ordered = listing.items.enumerated().sorted {
      ($0.element.created, $0.offset) < ($1.element.created, $1.offset)
    }
    var unmatched: [(Entry, Identity)] = []
    for (place, item) in ordered {
      let entry = entry(place)
      let identity = Identity(collection: entry.collection, attributes: item.attributes)
      if let same = there[identity]?.firstIndex(where: { $0.label == item.label }) {
        plan.items[entry] = there[identity]?.remove(at: same)
        plan.alreadyThere.append(entry)
      } else {
        unmatched.append((entry, identity))
      }
    }
    for (entry, identity) in unmatched {
      if let item = there[identity]?.popLast() {
        plan.items[entry] = item
        plan.alreadyThere.append(entry)
      } else {
        plan.coming.append(entry)
      }
    }
    return plan
  }

  /// Compares the secrets of the items that are there already and have no rule: nobody is asked for a finger.
  private func compare(_ plan: inout Plan, _ asking: Asking) async throws {
    var comparable: [(entry: Entry, id: ItemID)] = []
    for entry in plan.alreadyThere {
      guard let item = plan.items[entry] else { continue }
      if item.isGated { plan.uncompared.append(entry) } else { comparable.append((entry, item.id)) }
    }
    var rest = comparable[...]
    while !rest.isEmpty {
      let own = try await store.secrets(
        of: rest.prefix(Self.comparedCount).map(\.id), upTo: Self.comparedSize, asking)
      guard !own.isEmpty else { throw VaultError.itemGone }
      for (released, (entry, _)) in zip(own, rest) {
        do throws(ImportError) {
          let secret = try await listing.secret(of: listing.items[entry.place])
          if !secret.value.bytes.constantTimeEquals(released.secret) { plan.differing.append(entry) }
        } catch {
          guard case .unreadable = error else { throw error }
          plan.uncompared.append(entry)
        }
      }
      rest = rest.dropFirst(own.count)
    }
  }

  /// Copies what the plan says. Nothing is taken out of the service.
  ///
  /// - Parameters:
  ///   - replacing: whether items that are there already get the service's secret, unless theirs is known to be the
  ///     same. They keep their rule and label.
  ///   - asking: for a store that is locked.
  /// - Throws: an ``ImportError`` that ends the reading, or a `VaultError` that keeps the store from taking any item.
  ///   What was copied before stays.
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
    return outcome
  }

  /// Gives the store's item of an entry the service's secret.
  private func replace(
    _ entry: Entry, _ plan: Plan, _ asking: Asking, _ outcome: inout Outcome
  ) async throws {
    guard let item = plan.items[entry] else { return }
    let secret: SecretServiceBus.Secret
    do throws(ImportError) {
      secret = try await listing.secret(of: listing.items[entry.place])
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
          contentType: secret.contentType, access: item.access, grant: item.grant)
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
    /// The service does not give it out: why, in words that follow "it".
    case refused(String)
  }

  private func read(_ entry: Entry, _ plan: Plan) async throws(ImportError) -> Reading {
    let item = listing.items[entry.place]
    let secret: SecretServiceBus.Secret
    do throws(ImportError) {
      secret = try await listing.secret(of: item)
    } catch {
      guard case .unreadable(let why) = error else { throw error }
      return .refused(why)
    }
    let folder = plan.folders[entry.collection]
    let name = SecretServiceItem.newName()
    let new = SecretServiceItem.item(
      named: name, in: entry.collection, label: item.label, attributes: item.attributes,
      contentType: secret.contentType,
      access: AccessControl(access ?? folder?.access ?? AccessControl.Constraint.none),
      grant: access == nil ? folder?.grant ?? .brief : .brief)
    return .item(name: name, ItemToAdd(new, secret: secret.value))
  }
}
