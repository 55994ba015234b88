internal import SDBus
internal import SecretModel
internal import SecureMemory

extension VaultCall {
  static let passkeyCalls = [makePasskey, assertPasskey]

  static let makePasskey = VaultCall("MakePasskey", takes: "a{sv}a{sv}", gives: "ayayay", isChange: true) {
    (vault, call) async throws(VaultError) in
    let (item, signed) = try await vault.service.makePasskey(try NewPasskey(bus: call[0]), try Asking(bus: call[1]))
    return [item.busValue] + signed.busValues
  }
  static let assertPasskey = VaultCall("AssertPasskey", takes: "aya{sv}aha{sv}", gives: "ayay") {
    (vault, call) async throws(VaultError) in
    let assertion = try PasskeyAssertion(bus: call[1], secrets: call[2])
    return try await vault.service.assertPasskey(try ItemID(bus: call[0]), assertion, try Asking(bus: call[3]))
      .busValues
  }
}
