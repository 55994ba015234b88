internal import Primitives
internal import SDBus
internal import SecretModel

/// Calls that use private keys, also those of passkeys.
extension Calls {
  static let keys = [addKey.call, useKey.call, passkeyReadiness.call, makePasskey.call, assertPasskeys.call]

  static let addKey = Call("AddKey", isChange: true) {
    (vault: isolated Served, item: NewItem, source: KeySource) async throws(VaultError) in
    try await vault.service.addKey(item, from: source)
  }
  static let useKey = Call("UseKey") {
    (vault: isolated Served, id: ItemID, use: KeyUse, asking: Asking) async throws(VaultError) in
    try await vault.service.useKey(id, use, asking).sealed()
  }
  static let passkeyReadiness = Call("PasskeyReadiness") { (vault: isolated Served) async throws(VaultError) in
    try await vault.service.passkeyReadiness()
  }
  static let makePasskey = Call("MakePasskey", isChange: true) {
    (vault: isolated Served, passkey: NewPasskey, asking: Asking) async throws(VaultError) in
    let (item, signed) = try await vault.service.makePasskey(passkey, asking)
    return Both(item, signed)
  }
  static let assertPasskeys = Call("AssertPasskeys") {
    (vault: isolated Served, ids: [ItemID], assertion: PasskeyAssertion, asking: Asking) async throws(VaultError) in
    try await vault.service.assertPasskeys(ids, assertion, asking)
  }
}

extension RemoteVault {
  func addKey(_ item: NewItem, from source: KeySource) async throws(VaultError) -> Item {
    try await wire(Calls.addKey, item, source)
  }

  func useKey(_ id: ItemID, _ use: KeyUse, _ asking: Asking) async throws(VaultError) -> SecretBytes {
    try await wire.secret(Calls.useKey, id, use, asking, limit: ReleasedItem.sizeLimit)
  }

  func passkeyReadiness() async throws(VaultError) -> PasskeyReadiness { try await wire(Calls.passkeyReadiness) }

  func makePasskey(_ passkey: NewPasskey, _ asking: Asking) async throws(VaultError) -> (Item, SignedCeremony) {
    let made = try await wire(Calls.makePasskey, passkey, asking)
    return (made.first, made.second)
  }

  func assertPasskeys(_ ids: [ItemID], _ assertion: PasskeyAssertion, _ asking: Asking) async throws(VaultError)
    -> [SignedCeremony]
  {
    try await wire(Calls.assertPasskeys, ids, assertion, asking)
  }
}
