package import Moving
internal import SecretModel
internal import SecureMemory

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
