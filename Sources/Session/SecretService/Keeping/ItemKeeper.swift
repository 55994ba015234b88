internal import Primitives
internal import SecretModel
internal import Whorl

/// Stores the service's collections and items in the vault. No call here asks the person.
struct ItemKeeper: Sendable {
  let store: SecretStore
  /// Serializes changes that first look for the item that they replace.
  private let changes = FairQueue<String>()
  private let known = KnownCollections()

  init(_ store: SecretStore) { self.store = store }

  // MARK: Collections

  /// The collections that are always there.
  private static let builtIn: [SecretServiceFolder] = [.usual, .session]
  /// The queue's key for changes of the list of collections. No collection has this name.
  private static let listOfCollections = "/"

  /// All collections: the built-in ones and those that programs have created.
  func collections() async throws(ServiceError) -> [SecretServiceFolder] {
    let kept = try await explained { () async throws(VaultError) in
      try await store.items(SecretServiceFolder.search(.collection)).compactMap(SecretServiceFolder.init)
    }
    return Self.builtIn.filter { always in !kept.contains { $0.name == always.name } } + kept
  }

  /// - Throws: `noSuchObject`.
  func collection(_ name: String) async throws(ServiceError) -> SecretServiceFolder {
    if let kept = try await folder(.collection, name) { return kept }
    guard let always = Self.builtIn.first(where: { $0.name == name }) else { throw .noSuchObject }
    return always
  }

  /// The name of the collection with this alias; nil if there is none.
  func collection(ofAlias alias: String) async throws(ServiceError) -> String? {
    let all = try await collections()
    if let named = all.first(where: { $0.aliases.contains(alias) }) { return named.name }
    switch alias {
    case SecretServiceFolder.usualAlias: return SecretServiceFolder.usualCollection
    case SecretServiceFolder.sessionCollection: return SecretServiceFolder.sessionCollection
    default: return nil
    }
  }

  /// The aliases of all collections.
  func aliases() async throws(ServiceError) -> [String] {
    let builtIn = [SecretServiceFolder.usualAlias, SecretServiceFolder.sessionCollection]
    return Set(try await collections().flatMap(\.aliases) + builtIn).sorted()
  }

  /// Points an alias at a collection; nil removes the alias.
  func setAlias(_ alias: String, to name: String?) async throws(ServiceError) {
    try await changing(Self.listOfCollections) { () throws(ServiceError) in
      for var folder in try await collections() where folder.aliases.contains(alias) != (folder.name == name) {
        if folder.name == name { folder.aliases.append(alias) } else { folder.aliases.removeAll { $0 == alias } }
        try await keep(folder)
      }
    }
  }

  /// Makes a collection.
  func newCollection(label: String) async throws(ServiceError) -> SecretServiceFolder {
    try await changing(Self.listOfCollections) { () throws(ServiceError) in
      let taken = Set(try await collections().map(\.name))
      let part = ObjectPath.part(label)
      // Ends, because there are finitely many collections.
      var (name, number) = (part, 1)
      while taken.contains(name) {
        number += 1
        name = "\(part)_\(number)"
      }
      let folder = SecretServiceFolder(.collection, name, label: label)
      try await keep(folder)
      return try await collection(name)
    }
  }

  /// All collections, as they were at most two seconds ago. Every program reads the list first.
  func recentCollections() async throws(ServiceError) -> [SecretServiceFolder] {
    let (recent, version) = known.recent
    if let recent { return recent }
    let collections = try await collections()
    known.keep(collections, readAt: version)
    return collections
  }

  /// Stores the record of a collection, replacing an earlier one.
  func keep(_ folder: SecretServiceFolder) async throws(ServiceError) {
    defer { known.forget() }
    try await settled { () throws(ServiceError) in
      try await explained { () async throws(VaultError) in
        _ = try await store.put(folder.item, secret: SharedSecret(SecretBytes(count: 0)))
      }
    }
  }

  /// Removes a collection with all of its items.
  ///
  /// - Throws: `notSupported` for a built-in one, whose record has the rule that the user has chosen for it.
  func delete(collection name: String) async throws(ServiceError) {
    guard !Self.builtIn.contains(where: { $0.name == name }) else {
      throw .notSupported("the collection “\(name)” is always there; its items can be deleted")
    }
    defer { known.forget() }
    try await changing(name) { () throws(ServiceError) in
      try await delete(SecretServiceItem.search(in: name))
      try await delete(SecretServiceFolder.search(.collection, name))
    }
  }

  /// Removes the items of a session that is over.
  func endSession() async throws(ServiceError) {
    try await delete(SecretServiceItem.search(in: SecretServiceFolder.sessionCollection))
  }

  /// The rule and settings stored for a program; nil if there are none.
  func rules(forProgram path: String) async throws(ServiceError) -> SecretServiceFolder? {
    try await folder(.program, path)
  }

  private func folder(_ kind: SecretServiceFolder.Kind, _ name: String) async throws(ServiceError)
    -> SecretServiceFolder?
  {
    try await explained { () async throws(VaultError) in
      try await store.items(SecretServiceFolder.search(kind, name)).first.flatMap(SecretServiceFolder.init)
    }
  }

  /// A context that never asks the person.
  func silentContext() -> AuthenticationContext {
    let context = store.makeContext()
    context.options.interactionNotAllowed = true
    return context
  }

  /// Whether the vault needs the passcode before any item can be read. The screen lock does not matter: it only closes
  /// items with a rule, which are reported as locked anyway.
  ///
  /// - Throws: `vaultEnded` if the vault does not answer.
  func isLocked() async throws(ServiceError) -> Bool {
    try await explained { () async throws(VaultError) in try await store.awaitsFirstUnlock() }
  }

  // MARK: Items

  /// Passes what names every item with all of these attributes to `show`, oldest first.
  ///
  /// - Parameter collection: the name of the only collection to search; nil for all.
  /// - Returns: whether the vault needs the passcode before any item can be read.
  @discardableResult
  func found(
    _ attributes: [String: String], in collection: String? = nil, _ show: (FoundSecret) -> Void
  ) async throws(ServiceError) -> Bool {
    var after: ItemCursor?
    while true {
      let page = try await explained { () async throws(VaultError) in
        try await store.found(attributes, in: collection, after: after)
      }
      page.secrets.forEach(show)
      guard let next = page.next else { return page.isLocked }
      after = next
    }
  }

  /// Passes every item with all of these attributes to `show`, oldest first.
  ///
  /// - Parameter collection: the name of the only collection to search; nil for all.
  func each(
    _ attributes: [String: String], in collection: String? = nil, _ show: (SecretServiceItem) -> Void
  ) async throws(ServiceError) {
    var search = SecretServiceItem.search(attributes, in: collection)
    while true {
      let page = try await explained { () async throws(VaultError) in try await store.page(search) }
      for item in page.items {
        // A search treats an empty value as absent; the Secret Service does not.
        guard let item = SecretServiceItem(item),
          attributes.allSatisfy({ item.attributes[$0.key] == $0.value })
        else { continue }
        show(item)
      }
      search.after = page.next
      if search.after == nil { return }
    }
  }

  /// The items of a collection, oldest first; nil if there are more than `limit`.
  func items(in collection: String, atMost limit: Int) async throws(ServiceError) -> [SecretServiceItem]? {
    var search = SecretServiceItem.search(in: collection)
    var items: [SecretServiceItem] = []
    while true {
      let page = try await explained { () async throws(VaultError) in try await store.page(search) }
      items += page.items.compactMap(SecretServiceItem.init)
      guard items.count <= limit else { return nil }
      search.after = page.next
      if search.after == nil { return items }
    }
  }

  /// - Throws: `noSuchObject`.
  func item(_ name: String, in collection: String) async throws(ServiceError) -> SecretServiceItem {
    let search = SecretServiceItem.search(named: name, in: collection)
    let found = try await explained { () async throws(VaultError) in try await store.items(search).first }
    guard let item = found.flatMap(SecretServiceItem.init) else { throw .noSuchObject }
    return item
  }

  /// The secrets of the existing items at these places that have no rule, in this order. Shows no prompt.
  func openSecrets(_ places: [(collection: String, name: String)]) async throws(VaultError) -> [ReleasedItem] {
    // An invalid name belongs to no item.
    let names = places.compactMap { try? ItemName(service: $0.collection, account: $0.name) }
    return try await store.openSecrets(named: names, inGroup: SecretServiceItem.accessGroup)
  }

  /// Stores a secret. If `replacing`, it replaces an item with the same attributes, which keeps its rule.
  ///
  /// - Returns: the item, and whether it is new.
  func create(
    _ new: NewSecret, in collection: SecretServiceFolder, replacing: Bool, program: SecretServiceFolder?
  ) async throws(ServiceError) -> (item: SecretServiceItem, isNew: Bool) {
    let name = SecretServiceItem.newName()
    return try await changing(collection.name) { () throws(ServiceError) in
      try await settled { () throws(ServiceError) in
        var old: SecretServiceItem?
        if replacing {
          // GNOME Keyring may have added an attribute to an item that was imported from it.
          let stored = SecretServiceItem.stored(new.attributes)
          try await each(stored, in: collection.name) { item in
            if old == nil, SecretServiceItem.stored(item.attributes) == stored { old = item }
          }
        }
        let rule = program?.access.map { (access: $0, grant: program?.grant ?? .brief) }
        let access = old?.access ?? AccessControl(rule?.access ?? collection.access ?? .none)
        let item = SecretServiceItem.item(
          named: old?.name ?? name, in: collection.name, label: new.label, attributes: new.attributes,
          contentType: new.contentType, access: access, grant: old?.grant ?? rule?.grant ?? collection.grant,
          original: old?.original, isShared: old?.isShared ?? collection.shares(access))
        // A repeated change finds the item that the first try stored.
        return (try await put(item, new.secret), old == nil || old?.name == name)
      }
    }
  }

  /// Replaces an item's secret without a prompt, like storing an item that replaces another.
  ///
  /// - Throws: `noSuchObject` if the item was removed meanwhile, `isLocked` if it was given a rule meanwhile.
  func replaceSecret(of item: SecretServiceItem, with secret: SharedSecret, contentType: String)
    async throws(ServiceError)
  {
    try await changing(item.collection) { () throws(ServiceError) in
      try await settled { () throws(ServiceError) in
        guard item.isGated else {
          // The vault changes the item only if it is there and still has no rule.
          return try await explained { () async throws(VaultError) in
            try await store.update(
              [item.id], SecretServiceItem.change(contentType: contentType), secret: secret.copy(),
              using: silentContext())
          }
        }
        // Updating an item with a rule in the vault would ask for a touch. Storing it again does not.
        let item = try await self.item(item.name, in: item.collection)
        let new = SecretServiceItem.item(
          named: item.name, in: item.collection, label: item.label, attributes: item.attributes,
          contentType: contentType, access: item.access, grant: item.grant, original: item.original,
          isShared: item.isShared)
        _ = try await put(new, secret)
      }
    }
  }

  func delete(_ item: SecretServiceItem) async throws(ServiceError) {
    try await changing(item.collection) { () throws(ServiceError) in
      try await settled { () throws(ServiceError) in
        try await explained { () async throws(VaultError) in try await store.delete([item.id]) }
      }
    }
  }

  /// Makes a change, and repeats it if the vault ended before or during it.
  ///
  /// - Parameter body: has to be idempotent: it reads what is stored, and writes the same values each time.
  func settled<Value>(_ body: () async throws(ServiceError) -> Value) async throws(ServiceError) -> Value {
    do throws(ServiceError) {
      return try await body()
    } catch .outcomeUnknown, .vaultEnded {
      return try await body()
    }
  }

  /// Runs one change of a collection at a time.
  private func changing<Value>(
    _ collection: String, _ body: () async throws(ServiceError) -> Value
  ) async throws(ServiceError) -> Value {
    guard let turn = try? await changes.turn(for: collection) else { throw .failed("the call was cancelled") }
    let value = try await body()
    _ = consume turn
    return value
  }

  private func put(_ item: NewItem, _ secret: SharedSecret) async throws(ServiceError) -> SecretServiceItem {
    let stored = try await explained { () async throws(VaultError) in try await store.put(item, secret: secret) }
    guard let kept = SecretServiceItem(stored) else { throw .failed("the vault has stored another item") }
    return kept
  }

  private func delete(_ search: ItemSearch) async throws(ServiceError) {
    var search = search
    search.states = Set(Item.State.allCases)
    try await settled { () throws(ServiceError) in
      do throws(VaultError) {
        try await store.delete(search)
      } catch .itemGone {
        // There was none.
      } catch {
        throw ServiceError(error)
      }
    }
  }

  private func explained<Value>(_ body: () async throws(VaultError) -> Value) async throws(ServiceError) -> Value {
    do throws(VaultError) {
      return try await body()
    } catch {
      throw ServiceError(error)
    }
  }
}

/// A secret that a program stores.
struct NewSecret: Sendable {
  var label: String
  var attributes: [String: String]
  var contentType: String
  var secret: SharedSecret
}
