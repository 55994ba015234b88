package import Primitives
internal import SDBus
internal import SecretModel

/// How collections that are locked are opened.
package enum SecretServiceOpening: Sendable {
  /// By the service, which asks the person.
  case byPrompt
  /// For copies of GNOME Keyring's files, whose daemon has no desktop: by the passwords of other keyrings that are stored
  /// in the login keyring, then by those that the closure returns, until one is right. It gets the name of the keyring
  /// and how many of its answers were wrong; nil leaves the keyring closed.
  case byPassword(@Sendable (_ keyring: String, _ wrong: Int) async -> SharedSecret?)
}

/// The contents of a Secret Service: its collections, opened for this, and their items without the secrets.
struct SecretServiceListing: Sendable {
  struct Collection: Sendable {
    let path: String
    let label: String
  }

  struct Item: Sendable {
    let path: String
    /// The index of its collection in ``collections``.
    let collection: Int
    let label: String
    let attributes: [String: String]
    /// Seconds since 1970; 0 if the service does not report it.
    let created: UInt64
    /// Seconds since 1970; 0 if the service does not report it.
    let modified: UInt64
  }

  private(set) var collections: [Collection] = []
  private(set) var items: [Item] = []
  /// The collections that stayed locked.
  private(set) var locked: [Collection] = []
  /// The collections and items that stayed locked.
  private(set) var unusable: [UnusableEntry] = []
  private let bus: SecretServiceBus
  /// The session in which secrets are transferred.
  let session: String

  private let opening: SecretServiceOpening

  /// Opens the collections, and lists what is in them.
  ///
  /// - Parameter isWanted: whether to open and list the collection with this path.
  init(
    of bus: SecretServiceBus, opening: SecretServiceOpening = .byPrompt,
    where isWanted: (String) -> Bool = { _ in true }
  ) async throws(ImportError) {
    (self.bus, self.opening) = (bus, opening)
    let opened = try await bus.service("OpenSession", [.string("plain"), .variant(.string(""))])
    guard opened.count == 2, case .objectPath(let session) = opened[1] else { throw SecretServiceBus.malformed }
    self.session = session
    var closed: [(path: String, properties: [String: BusValue])] = []
    for collection in try await bus.paths(SecretServiceBus.path, "Service", "Collections") where isWanted(collection) {
      let properties = try await bus.properties(collection, "Collection")
      guard properties["Locked"]?.asBoolean == true else {
        try await list(collection, properties)
        continue
      }
      closed.append((collection, properties))
    }
    // Last, since the others may have their passwords.
    for (path, properties) in closed { try await list(path, properties) }
  }

  private mutating func list(_ path: String, _ properties: [String: BusValue]) async throws(ImportError) {
    let collection = Collection(path: path, label: properties["Label"]?.asString ?? "")
    if properties["Locked"]?.asBoolean == true, try await !open(collection) {
      locked.append(collection)
      unusable.append(UnusableEntry("collection \(collection.label)", .source("stayed locked")))
      return
    }
    collections.append(collection)
    // Sorted, whatever order the service uses: of two items with the same name, the same one is always imported.
    for item in try await bus.paths(path, "Collection", "Items").sorted() { try await add(item) }
  }

  private func open(_ collection: Collection) async throws(ImportError) -> Bool {
    guard case .byPassword(let answer) = opening else { return try await bus.unlock(collection.path) }
    let file = "\(bus.keyring(at: collection.path)).keyring"
    for item in items where item.attributes["keyring"]?.split(separator: "/").last.map(String.init) == file {
      let stored = try await secret(of: item).value
      if try await bus.unlock(collection.path, with: stored, in: session) { return true }
    }
    var wrong = 0
    while let password = await answer(collection.label, wrong) {
      if try await bus.unlock(collection.path, with: password, in: session) { return true }
      wrong += 1
    }
    return false
  }

  private mutating func add(_ path: String) async throws(ImportError) {
    let properties = try await bus.properties(path, "Item")
    let label = properties["Label"]?.asString ?? ""
    if properties["Locked"]?.asBoolean == true, try await !bus.unlock(path) {
      unusable.append(UnusableEntry(label, .source("stayed locked")))
      return
    }
    items.append(
      Item(
        path: path, collection: collections.count - 1, label: label,
        attributes: properties["Attributes"]?.asTexts ?? [:], created: properties["Created"]?.asUInt64 ?? 0,
        modified: properties["Modified"]?.asUInt64 ?? 0))
  }

  func secret(of item: Item) async throws(ImportError) -> SecretServiceBus.Secret {
    try await bus.secret(of: item.path, in: session)
  }
}
