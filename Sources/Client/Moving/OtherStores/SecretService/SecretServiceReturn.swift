internal import Primitives
internal import SDBus
package import SecretModel

/// Copies what programs have stored or changed in Whorl to the program that becomes the Secret Service again.
///
/// Nothing is removed on either side. Copied items are read again and compared, so the next run completes an
/// interrupted copy.
package struct SecretServiceReturn: Sendable {
  package struct Entry: Sendable, Hashable {
    /// The name of its collection in Whorl.
    package let collection: String
    package let label: String
  }

  package struct Outcome: Sendable {
    /// The items that the other program did not have.
    package fileprivate(set) var new: [Entry] = []
    /// The items that it had with another secret or label.
    package fileprivate(set) var changed: [Entry] = []
    /// The number of items that it already has, unchanged.
    package fileprivate(set) var same = 0
    /// The items with a rule that were not read: in a plan, which shows no prompts, or because of ``refusal``.
    package fileprivate(set) var gated: [Entry] = []
    /// What was not copied, with the reason.
    package fileprivate(set) var left: [UnusableEntry] = []
    /// The items that only the other program has.
    package fileprivate(set) var onlyThere: [Entry] = []
    /// The error because of which the items with a rule were not read.
    package fileprivate(set) var refusal: VaultError?
    /// How many items were read.
    fileprivate var read = 0
  }

  private let peer: SecretServicePeer
  private let store: any VaultService

  /// Opens the collections of the other program, for which the desktop may ask, and lists what is in them.
  ///
  /// - Parameter address: of the session's bus.
  /// - Throws: `ownService` if Whorl is the service, and errors that end the reading.
  package init(onBus address: String, from store: any VaultService) async throws(ImportError) {
    peer = try await SecretServicePeer(onBus: address)
    self.store = store
  }

  /// The items that would be compared and copied: all except those of the session.
  package static func items(of store: any VaultService) async throws(VaultError) -> [SecretServiceItem] {
    try await SecretServiceContents(of: store, Set(Item.State.allCases)).items.filter {
      $0.collection != SecretServiceFolder.sessionCollection
    }
  }

  /// What would be copied. Does not ask for a finger.
  ///
  /// - Parameter asking: for a store that is locked.
  package func plan(_ asking: Asking) async throws -> Outcome { try await run(writing: false, asking) }

  /// Copies, first the items without a rule.
  ///
  /// - Parameter asking: a context with prompts, for the items with a rule. If they are refused, the outcome says so.
  package func copy(_ asking: Asking) async throws -> Outcome { try await run(writing: true, asking) }

  /// The items that the other program has with the same secret, whatever its label. Changes nothing.
  ///
  /// - Parameter asking: for a store that is locked, and for the items with a rule. Without a touch those do not count.
  package func itemsThere(_ asking: Asking) async throws -> Set<ItemID> {
    let pairs = SecretServiceMatch(peer, try await Self.items(of: store).filter { $0.state == .living }).pairs
    let (gated, open) = (pairs.filter(\.item.isGated), pairs.filter { !$0.item.isGated })
    var there: Set<ItemID> = []
    for pairs in [open, gated] {
      do {
        try await ReleasesInChunks(store: store, asking: asking).read(pairs.map(\.item.id)) {
          number, released throws(ImportError) in
          guard case .success(let released) = released else { return }
          if case .same = try await peer.compare(released, with: pairs[number].place) {
            there.insert(pairs[number].item.id)
          }
        }
      } catch is VaultError where pairs.first?.item.isGated == true {
        break
      }
    }
    return there
  }

  private struct Work {
    let item: SecretServiceItem
    /// Its index in the listing; nil for a new one.
    let place: Int?
  }

  private func run(writing: Bool, _ asking: Asking) async throws -> Outcome {
    let all = try await Self.items(of: store)
    // The contents of a locked collection are unknown.
    let match = SecretServiceMatch(
      peer, all.filter { $0.state == .living && !peer.locked.contains($0.collection) })
    var outcome = Outcome()
    outcome.left = peer.listing.unusable
    for item in all where item.state == .living && peer.locked.contains(item.collection) {
      outcome.left.append(UnusableEntry(Self.called(item), .source("belongs to a collection that is still locked")))
    }
    for item in all where item.state != .living {
      let why = item.state == .dead ? "was bound to fingers or a passcode that are gone" : "is damaged in Whorl"
      outcome.left.append(UnusableEntry(Self.called(item), .source(why)))
    }
    outcome.onlyThere = match.onlyThere.map {
      let item = peer.listing.items[$0]
      return Entry(collection: peer.names[item.collection], label: item.label)
    }
    let work =
      match.pairs.map { Work(item: $0.item, place: $0.place) } + match.onlyHere.map { Work(item: $0, place: nil) }
    var places = Dictionary(
      zip(peer.names, peer.listing.collections.map(\.path)), uniquingKeysWith: { first, _ in first })
    if writing {
      for name in Set(match.onlyHere.map(\.collection)).sorted() where places[name] == nil {
        try await makeCollection(name, &places, &outcome)
      }
    }
    try await go(work.filter { !$0.item.isGated }, in: places, writing: writing, asking, &outcome)
    let gated = work.filter(\.item.isGated)
    guard writing else {
      outcome.gated = gated.map { Self.entry($0.item) }
      return outcome
    }
    outcome.read = 0
    do {
      try await go(gated, in: places, writing: true, asking, &outcome)
    } catch let error as VaultError {
      // Without the finger they are not copied, and earlier copies are kept.
      outcome.refusal = error
      outcome.gated = gated.dropFirst(outcome.read).map { Self.entry($0.item) }
    }
    return outcome
  }

  private func go(
    _ work: [Work], in places: [String: String], writing: Bool, _ asking: Asking, _ outcome: inout Outcome
  ) async throws {
    var done = outcome
    defer { outcome = done }
    let ids = work.map(\.item.id)
    try await ReleasesInChunks(store: store, asking: asking).read(ids) { number, released throws(ImportError) in
      let each = work[number]
      defer { done.read += 1 }
      do throws(ImportError) {
        guard case .success(let released) = released else { throw .unreadable("cannot be read in Whorl") }
        if let place = each.place {
          try await bring(each.item, released, to: place, writing: writing, &done)
        } else {
          if writing { try await create(each.item, released, in: places[each.item.collection]) }
          done.new.append(Self.entry(each.item))
        }
      } catch {
        guard case .unreadable(let why) = error else { throw error }
        done.left.append(UnusableEntry(Self.called(each.item), .source(why)))
      }
    }
  }

  /// Updates an item of the other program if Whorl's is newer.
  private func bring(
    _ item: SecretServiceItem, _ released: ReleasedItem, to place: Int, writing: Bool, _ outcome: inout Outcome
  ) async throws(ImportError) {
    let other = peer.listing.items[place]
    let hasSameSecret: Bool
    switch try await peer.compare(released, with: place) {
    case .same: hasSameSecret = true
    case .other: hasSameSecret = false
    case .notGiven(let why): throw .unreadable("cannot be compared: it \(why)")
    }
    // The other program's times are whole seconds. If both changed in the same second, its own is kept.
    let isNewer = UInt64(max(0, item.modified)) > other.modified
    // An older label in Whorl does not count: an import keeps the label that an item has.
    let hasSameLabel = item.label == other.label || !isNewer
    if hasSameSecret, hasSameLabel {
      outcome.same += 1
      return
    }
    guard isNewer else { throw .unreadable("has another secret there, which is the newer one") }
    if writing {
      if !hasSameSecret { try await peer.bus.set(secret(of: item, released), of: other.path, session: session) }
      if !hasSameLabel { try await peer.bus.set(label: item.label, of: other.path) }
      try await confirm(released, at: other.path)
    }
    outcome.changed.append(Self.entry(item))
  }

  private func create(
    _ item: SecretServiceItem, _ released: ReleasedItem, in collection: String?
  ) async throws(ImportError) {
    guard let collection else { throw .unreadable("has no collection there") }
    let path = try await peer.bus.create(
      item: item.label, item.attributes, secret(of: item, released), in: collection, session: session)
    try await confirm(released, at: path)
    let attributes = try await peer.bus.properties(path, "Item")["Attributes"]?.asTexts ?? [:]
    // KWallet adds some of its own.
    guard item.attributes.allSatisfy({ attributes[$0.key] == $0.value }) else {
      throw .unreadable("was written without all of its attributes")
    }
  }

  /// Reads the item back.
  private func confirm(_ released: ReleasedItem, at path: String) async throws(ImportError) {
    let written = try await peer.bus.secret(of: path, in: session)
    guard written.value.bytes.constantTimeEquals(released.secret) else {
      throw .unreadable("differs there from what was written")
    }
  }

  private func makeCollection(
    _ name: String, _ places: inout [String: String], _ outcome: inout Outcome
  ) async throws {
    let label = try await SecretServiceContents(of: store).collections.first { $0.name == name }?.label ?? ""
    do throws(ImportError) {
      places[name] = try await peer.bus.create(collection: label.isEmpty ? name : label)
    } catch {
      // Each of its items is named.
      guard case .unreadable = error else { throw error }
    }
  }

  private var session: String { peer.listing.session }

  private func secret(of item: SecretServiceItem, _ released: ReleasedItem) -> SecretServiceBus.Secret {
    SecretServiceBus.Secret(value: SharedSecret(released.secret.copy()), contentType: item.contentType)
  }

  private static func entry(_ item: SecretServiceItem) -> Entry {
    Entry(collection: item.collection, label: item.label)
  }

  private static func called(_ item: SecretServiceItem) -> String {
    item.label.isEmpty ? "an item without a name" : item.label
  }
}
