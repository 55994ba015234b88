internal import SDBus
internal import SecretModel
internal import SecureMemory
package import Whorl

/// The collections of the desktop's Secret Service: GNOME Keyring, KWallet, KeePassXC.
///
/// Secrets come in the specification's session `plain`: in messages of the user's own bus.
package struct SecretServiceStore: ImportSource {
  package private(set) var entries: [ImportEntry] = []
  package private(set) var unusable: [UnusableEntry] = []
  private let bus: SecretServiceBus
  private let session: String
  private var items: [(path: String, label: String, attributes: [String: String])] = []

  /// Opens the collections, for which the desktop may ask, and lists what is in them.
  ///
  /// - Parameter address: of the session's bus, such as `unix:path=/run/user/1000/bus`.
  package init(onBus address: String) async throws(ImportError) {
    bus = try await SecretServiceBus(address)
    let opened = try await bus.service("OpenSession", [.string("plain"), .variant(.string(""))])
    guard opened.count == 2, case .objectPath(let session) = opened[1] else { throw SecretServiceBus.malformed }
    self.session = session
    for collection in try await bus.paths(SecretServiceBus.path, "Service", "Collections") {
      try await list(collection)
    }
  }

  private mutating func list(_ collection: String) async throws(ImportError) {
    let properties = try await bus.properties(collection, "Collection")
    let label = properties["Label"]?.asString ?? ""
    if properties["Locked"]?.asBoolean == true, try await !bus.unlock(collection) {
      unusable.append(UnusableEntry("collection \(label)", .source("stayed locked")))
      return
    }
    // In one order, whatever order the service has: of two items of one name always the same is brought in.
    for item in try await bus.paths(collection, "Collection", "Items").sorted() { try await add(item) }
  }

  private mutating func add(_ path: String) async throws(ImportError) {
    let properties = try await bus.properties(path, "Item")
    let label = properties["Label"]?.asString ?? ""
    var attributes: [String: String] = [:]
    if case .texts(let texts)? = properties["Attributes"] { attributes = texts }
    if properties["Locked"]?.asBoolean == true, try await !bus.unlock(path) {
      unusable.append(UnusableEntry(label, .source("stayed locked")))
      return
    }
    do throws(VaultError) {
      let name = try Self.name(label, attributes)
      entries.append(ImportEntry(place: items.count, name: name))
      items.append((path, label, attributes))
    } catch {
      unusable.append(UnusableEntry(label, .refused(error)))
    }
  }

  /// By the attributes that programs name services and accounts with, else by the label.
  static func name(_ label: String, _ attributes: [String: String]) throws(VaultError) -> ItemName {
    func first(_ names: [String]) -> String? { names.lazy.compactMap { attributes[$0] }.first { !$0.isEmpty } }
    let service = first(["service", "server", "domain"]) ?? label
    guard let account = first(["account", "username", "user"]) else { return try ItemName(parsing: service) }
    return try ItemName(parsing: "\(service)/\(account)")
  }

  package func items(of entry: ImportEntry) async throws(ImportError) -> [ImportedItem] {
    let item = items[entry.place]
    let secret = try await bus.secret(of: item.path, in: session)
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
