internal import SDBus
internal import SecretModel
internal import SecureMemory

extension VaultCall {
  static let passkeyCalls = [passkeyReadiness, makePasskey, assertPasskeys]

  static let passkeyReadiness = VaultCall("PasskeyReadiness", gives: "a{sv}") { (vault, _) async throws(VaultError) in
    [try await vault.service.passkeyReadiness().busValue]
  }
  static let makePasskey = VaultCall("MakePasskey", takes: "a{sv}a{sv}", gives: "ay(ayay)", isChange: true) {
    (vault, call) async throws(VaultError) in
    let (item, signed) = try await vault.service.makePasskey(try NewPasskey(bus: call[0]), try Asking(bus: call[1]))
    return [item.busValue, signed.busValue]
  }
  static let assertPasskeys = VaultCall("AssertPasskeys", takes: "aaya{sv}aha{sv}", gives: "a(ayay)") {
    (vault, call) async throws(VaultError) in
    let assertion = try PasskeyAssertion(bus: call[1], secrets: call[2])
    return [
      try await vault.service.assertPasskeys(try [ItemID](bus: call[0]), assertion, try Asking(bus: call[3])).busValue
    ]
  }
}
