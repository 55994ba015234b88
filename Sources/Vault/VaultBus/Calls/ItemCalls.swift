internal import Primitives
internal import SDBus
internal import SecretModel

extension Calls {
  static let items = [
    find.call, found.call, secrets.call, firstSecrets.call, authorize.call, add.call, addAll.call, update.call,
    delete.call, sealCopy.call,
  ]

  static let find = Call("Items") {
    (vault: isolated Served, search: ItemSearch, asking: Asking) async throws(VaultError) in
    let page = try await vault.service.items(search, asking)
    return Both(page.items, page.next?.bytes ?? [])
  }
  static let found = Call("Found") {
    (vault: isolated Served, search: SecretServiceSearch) async throws(VaultError) in
    try await vault.service.found(search.attributes, in: search.collection, after: search.after)
  }
  static let secrets = Call("Secrets") {
    (vault: isolated Served, selection: ItemSelection, asking: Asking) async throws(VaultError) in
    ReleasedItems(try await vault.service.secrets(selection, asking))
  }
  static let firstSecrets = Call("FirstSecrets") {
    (vault: isolated Served, ids: [ItemID], size: Int, asking: Asking) async throws(VaultError) in
    ReleasedItems(try await vault.service.secrets(of: ids, upTo: size, asking))
  }
  static let authorize = Call("Authorize") {
    (vault: isolated Served, ids: [ItemID], asking: Asking) async throws(VaultError) in
    try await vault.service.authorize(ids, asking)
  }
  static let add = Call("Add", isChange: true) {
    (vault: isolated Served, item: NewItem, secret: BusFile, replacing: Bool, asking: Asking) async throws(VaultError)
    in
    try await vault.service.add(item, secret: try SecretBytes(sealed: secret), replacing: replacing, asking)
  }
  static let addAll = Call("AddAll", isChange: true) {
    (vault: isolated Served, items: ItemsToAdd) async throws(VaultError) in
    try await vault.service.add(items.items)
  }
  static let update = Call("Update", isChange: true) {
    (vault: isolated Served, selection: ItemSelection, change: ItemChange, secret: [BusFile], asking: Asking)
      async throws(VaultError) in
    try await vault.service.update(selection, change, secret: try SecretBytes.optional(sealed: secret), asking)
  }
  static let delete = Call("Delete", isChange: true) {
    (vault: isolated Served, selection: ItemSelection) async throws(VaultError) in
    try await vault.service.delete(selection)
  }
  static let sealCopy = Call("SealCopy") {
    (vault: isolated Served, secret: BusFile, keys: SealedCopy.Keys, old: [UInt8], asking: Asking)
      async throws(VaultError) in
    let old = old.isEmpty ? nil : try VaultError.ofReading { try SealedCopy(bus: old.busValue) }
    return try await vault.service.sealCopy(of: try SecretBytes(sealed: secret), under: keys, replacing: old, asking)
  }
}

extension RemoteVault {
  func items(_ search: ItemSearch, _ asking: Asking) async throws(VaultError) -> ItemPage {
    let page = try await wire(Calls.find, search, asking)
    return ItemPage(items: page.first, next: ItemCursor(unlessEmpty: page.second))
  }

  func found(_ attributes: [String: String], in collection: String?, after: ItemCursor?) async throws(VaultError)
    -> FoundSecrets
  { try await wire(Calls.found, SecretServiceSearch(attributes, in: collection, after: after)) }

  func secrets(_ selection: ItemSelection, _ asking: Asking) async throws(VaultError) -> [ReleasedItem] {
    try await wire(Calls.secrets, selection, asking).items
  }

  func secrets(of ids: [ItemID], upTo size: Int, _ asking: Asking) async throws(VaultError) -> [ReleasedItem] {
    try await wire(Calls.firstSecrets, ids, size, asking).items
  }

  func authorize(_ ids: [ItemID], _ asking: Asking) async throws(VaultError) {
    try await wire(Calls.authorize, ids, asking)
  }

  func add(_ items: [ItemToAdd]) async throws(VaultError) -> [RefusedItem] {
    let refused = try await wire(Calls.addAll, ItemsToAdd(items))
    return try wire.reading(Calls.addAll.call) {
      guard refused.allSatisfy({ items.indices.contains($0.place) }) else {
        throw BusValueError.unreadable(RefusedItem.self)
      }
      return refused
    }
  }

  func add(
    _ item: NewItem, secret: consuming SecretBytes, replacing: Bool, _ asking: Asking
  ) async throws(VaultError) -> Item {
    try await wire(Calls.add, item, try secret.sealedForItem(), replacing, asking)
  }

  func update(
    _ selection: ItemSelection, _ change: ItemChange, secret: consuming SecretBytes?, _ asking: Asking
  ) async throws(VaultError) -> Int {
    let files: [BusFile] =
      switch consume secret {
      case .some(let secret): [try secret.sealedForItem()]
      case .none: []
      }
    return try await wire(Calls.update, selection, change, files, asking)
  }

  func delete(_ selection: ItemSelection) async throws(VaultError) -> Int { try await wire(Calls.delete, selection) }

  func sealCopy(
    of secret: consuming SecretBytes, under keys: SealedCopy.Keys, replacing old: SealedCopy?, _ asking: Asking
  ) async throws(VaultError) -> SealedCopy {
    try await wire(Calls.sealCopy, try secret.sealedForItem(), keys, old?.bytes ?? [], asking)
  }
}
