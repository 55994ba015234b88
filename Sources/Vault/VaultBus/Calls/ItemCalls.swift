internal import SDBus
internal import SecretModel
internal import SecureMemory

extension VaultCall {
  static let itemCalls = [items, secrets, firstSecrets, add, addAll, update, delete, sealCopy]

  static let items = VaultCall("Items", takes: "a{sv}a{sv}", gives: "aayay") { (vault, call) async throws(VaultError) in
    let page = try await vault.service.items(try ItemSearch(bus: call[0]), try Asking(bus: call[1]))
    return [page.items.busValue, ItemCursor.argument(page.next)]
  }
  static let secrets = VaultCall("Secrets", takes: "a{sv}a{sv}", gives: "a(ayxx)ah") {
    (vault, call) async throws(VaultError) in
    let items = try await vault.service.secrets(try ItemSelection(bus: call[0]), try Asking(bus: call[1]))
    return try ReleasedItems(items).busValues(in: call.unread)
  }
  static let firstSecrets = VaultCall("FirstSecrets", takes: "aayxa{sv}", gives: "a(ayxx)ah") {
    (vault, call) async throws(VaultError) in
    let items = try await vault.service.secrets(
      of: try [ItemID](bus: call[0]), upTo: try Int(bus: call[1]), try Asking(bus: call[2]))
    return try ReleasedItems(items).busValues(in: call.unread)
  }
  static let add = VaultCall("Add", takes: "a{sv}hba{sv}", gives: "ay", isChange: true) {
    (vault, call) async throws(VaultError) in
    let secret = try SecretBytes(sealed: call[1], limit: NewItem.secretLimit)
    let item = try await vault.service.add(
      try NewItem(bus: call[0]), secret: secret, replacing: try Bool(bus: call[2]), try Asking(bus: call[3]))
    return [item.busValue]
  }
  static let addAll = VaultCall("AddAll", takes: "a(ayxx)h", gives: "a(x(sav))", isChange: true) {
    (vault, call) async throws(VaultError) in
    [try await vault.service.add(try ItemsToAdd(bus: call.values).items).busValue]
  }
  static let update = VaultCall("Update", takes: "a{sv}a{sv}aha{sv}", gives: "x", isChange: true) {
    (vault, call) async throws(VaultError) in
    let secret = try SecretBytes.optional(sealed: call[2], limit: NewItem.secretLimit)
    let count = try await vault.service.update(
      try ItemSelection(bus: call[0]), try ItemChange(bus: call[1]), secret: secret, try Asking(bus: call[3]))
    return [count.busValue]
  }
  static let delete = VaultCall("Delete", takes: "a{sv}", gives: "x", isChange: true) {
    (vault, call) async throws(VaultError) in
    [try await vault.service.delete(try ItemSelection(bus: call[0])).busValue]
  }
  static let sealCopy = VaultCall("SealCopy", takes: "hsaya{sv}", gives: "ay") {
    (vault, call) async throws(VaultError) in
    let secret = try SecretBytes(sealed: call[0], limit: NewItem.secretLimit)
    let old = call[2].asBytes == [] ? nil : try SealedCopy(bus: call[2])
    let copy = try await vault.service.sealCopy(
      of: secret, under: try SealedCopy.Keys(bus: call[1]), replacing: old, try Asking(bus: call[3]))
    return [copy.busValue]
  }
}
