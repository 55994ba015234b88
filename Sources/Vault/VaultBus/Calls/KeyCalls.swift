internal import SecretModel
internal import SecureMemory

extension VaultCall {
  static let keyCalls = [addKey, useKey]

  static let addKey = VaultCall("AddKey", takes: "a{sv}sah", gives: "ay", isChange: true) {
    (vault, call) async throws(VaultError) in
    let source = try KeySource(kind: call[1], secret: call[2])
    return [try await vault.service.addKey(try NewItem(bus: call[0]), from: source).busValue]
  }
  static let useKey = VaultCall("UseKey", takes: "aya{sv}a{sv}", gives: "h") { (vault, call) async throws(VaultError) in
    let result = try await vault.service.useKey(
      try ItemID(bus: call[0]), try KeyUse(bus: call[1]), try Asking(bus: call[2]))
    return [try result.sealed()]
  }
}
