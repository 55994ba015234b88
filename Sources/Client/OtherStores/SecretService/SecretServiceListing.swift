internal import Moving
internal import SDBus
internal import SecretModel

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
  /// The paths of the collections that stayed locked.
  private(set) var locked: [String] = []
  /// The collections and items that stayed locked.
  private(set) var unusable: [UnusableEntry] = []
  private let bus: SecretServiceBus
  /// The session in which secrets are transferred.
  let session: String

  /// Opens the collections, for which the desktop may ask, and lists what is in them.
  ///
  /// - Parameter isWanted: whether to open and list the collection with this path.
  init(of bus: SecretServiceBus, where isWanted: (String) -> Bool = { _ in true }) async throws(ImportError) {
    self.bus = bus
    let opened = try await bus.service("OpenSession", [.string("plain"), .variant(.string(""))])
    guard opened.count == 2, case .objectPath(let session) = opened[1] else { throw SecretServiceBus.malformed }
    self.session = session
    for collection in try await bus.paths(SecretServiceBus.path, "Service", "Collections") where isWanted(collection) {
      try await list(collection)
    }
  }

  private mutating func list(_ path: String) async throws(ImportError) {
    let properties = try await bus.properties(path, "Collection")
    let collection = Collection(path: path, label: properties["Label"]?.asString ?? "")
    if properties["Locked"]?.asBoolean == true, try await !bus.unlock(path) {
      locked.append(path)
      unusable.append(UnusableEntry("collection \(collection.label)", .source("stayed locked")))
      return
    }
    collections.append(collection)
    // Sorted, whatever order the service uses: of two items with the same name, the same one is always imported.
    for item in try await bus.paths(path, "Collection", "Items").sorted() { try await add(item) }
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
