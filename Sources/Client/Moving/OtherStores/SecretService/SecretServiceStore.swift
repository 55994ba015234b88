internal import Primitives
package import SecretModel

/// The collections of the desktop's Secret Service: GNOME Keyring, KWallet, KeePassXC.
///
/// Secrets are transferred in the specification's `plain` session, over the user's own bus.
package struct SecretServiceStore: ImportSource {
  package private(set) var entries: [ImportEntry] = []
  package private(set) var unusable: [UnusableEntry] = []
  private let listing: SecretServiceListing

  /// Opens the collections, for which the desktop may ask, and lists what is in them.
  ///
  /// - Parameter address: of the session's bus, such as `unix:path=/run/user/1000/bus`.
  package init(onBus address: String) async throws(ImportError) {
    listing = try await SecretServiceListing(of: try await SecretServiceBus(address))
    unusable = listing.unusable
    for (place, item) in listing.items.enumerated() {
      do throws(VaultError) {
        entries.append(ImportEntry(place: place, name: try Self.name(item.label, item.attributes)))
      } catch {
        unusable.append(UnusableEntry(item.label, .refused(error)))
      }
    }
  }

  /// Uses the attributes with which programs name services and accounts, or else the label.
  static func name(_ label: String, _ attributes: [String: String]) throws(VaultError) -> ItemName {
    func first(_ names: [String]) -> String? { names.lazy.compactMap { attributes[$0] }.first { !$0.isEmpty } }
    let service = first(["service", "server", "domain"]) ?? label
    guard let account = first(["account", "username", "user"]) else { return try ItemName(parsing: service) }
    return try ItemName(parsing: "\(service)/\(account)")
  }

  package func items(of entry: ImportEntry) async throws(ImportError) -> [ImportedItem] {
    let item = listing.items[entry.place]
    let secret = try await listing.secret(of: item).value
    var read = PasswordEntry(origin: item.path)
    (read.title, read.fields) = (item.label, item.attributes)
    read.secrets = [PasswordEntry.Secret(label: nil, value: secret)]
    do throws(VaultError) {
      let items = try read.items(named: entry.name)
      guard !items.isEmpty else { throw VaultError.invalidRequest("") }
      return items
    } catch {
      throw .unreadable("has an empty secret")
    }
  }
}

/// Removes the originals of copied items from the other program.
extension SecretServiceCopy {
  package struct Removal: Sendable {
    /// The originals that were removed.
    package fileprivate(set) var removed: [Entry] = []
    /// Those that were kept, with the reason.
    package fileprivate(set) var kept: [UnusableEntry] = []
    fileprivate var items: [ItemID] = []
  }

  /// The items of the other program that are also in the store, whatever their secrets are.
  package func originals() async throws(VaultError) -> [Entry] {
    let contents = try await SecretServiceContents(of: store)
    return SecretServiceMatch(peer, contents.items).pairs.map { entry($0.place) }
  }

  /// Removes items from the other program that the store has with the same secret. Each secret is read from both sides
  /// and compared immediately before its original is removed.
  ///
  /// - Parameter asking: for the items with a rule, and for a store that is locked.
  /// - Throws: errors of an authentication, and errors that end the other program. Everything removed before is in the
  ///   store.
  package func removeOriginals(_ asking: Asking) async throws -> Removal {
    let pairs = SecretServiceMatch(peer, try await SecretServiceContents(of: store).items).pairs
    var removal = Removal()
    do {
      try await ReleasesInChunks(store: store, asking: asking).read(pairs.map(\.item.id)) {
        number, released throws(ImportError) in
        let pair = pairs[number]
        do throws(ImportError) {
          try await remove(pair.place, released)
          removal.removed.append(entry(pair.place))
          removal.items.append(pair.item.id)
        } catch {
          guard case .unreadable(let why) = error else { throw error }
          removal.kept.append(UnusableEntry(entry(pair.place).label, .source(why)))
        }
      }
    } catch {
      // Update the notes on items whose originals are gone, even if there is an error.
      try? await unmark(removal, asking)
      throw error
    }
    try await unmark(removal, asking)
    return removal
  }

  /// - Throws: `unreadable` if it was kept.
  private func remove(_ place: Int, _ released: Result<ReleasedItem, VaultError>) async throws(ImportError) {
    guard case .success(let released) = released else { throw .unreadable("cannot be read in Whorl") }
    switch try await peer.compare(released, with: place) {
    case .same: try await peer.bus.delete(peer.listing.items[place].path)
    case .other: throw .unreadable("has another secret there than in Whorl")
    case .notGiven(let why): throw .unreadable(why)
    }
  }

  private func unmark(_ removal: Removal, _ asking: Asking) async throws(VaultError) {
    guard !removal.items.isEmpty else { return }
    _ = try await store.update(
      .ids(removal.items), SecretServiceItem.change(original: nil), secret: nil, asking)
  }
}
