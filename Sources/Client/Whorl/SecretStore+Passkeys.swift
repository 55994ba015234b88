internal import SecretModel

/// Passkeys, for the programs that serve them.
extension SecretStore {
  /// The passkeys for a relying party, or with nil all of them; the newest first. Asks for nothing.
  package func passkeys(for relyingParty: String? = nil) async throws(VaultError) -> [Passkey] {
    let attributes: [AttributeName: AttributeValue] = relyingParty.map { [.relyingParty: .text($0)] } ?? [:]
    let found = try await items(ItemSearch(.passkey, attributes, groups: .all, synchronizable: .any))
    return found.compactMap { Passkey($0) }.reversed()
  }

  /// Whether the store can take and use passkeys. Reads none, and starts no reader, unlike ``biometryProblem()``.
  package func passkeyReadiness() async throws(VaultError) -> PasskeyReadiness {
    try await link.call { service throws(VaultError) in try await service.passkeyReadiness() }
  }

  /// Makes a passkey, after asking for what its access control requires.
  package func makePasskey(_ passkey: NewPasskey, reason: String, using context: AuthenticationContext)
    async throws(VaultError) -> (Passkey, SignedCeremony)
  {
    let (item, signed) = try await asking(context, reason, mayAsk: true) { service, asking throws(VaultError) in
      try await service.makePasskey(passkey, asking)
    }
    guard let made = Passkey(item) else { throw .internalError("a new passkey cannot be read") }
    return (made, signed)
  }

  /// Signs in with passkeys of one relying party, after asking for what their access controls require.
  package func assertPasskeys(
    _ ids: [ItemID], _ assertion: PasskeyAssertion, reason: String, using context: AuthenticationContext
  ) async throws(VaultError) -> [SignedCeremony] {
    try await asking(context, reason, mayAsk: true) { service, asking throws(VaultError) in
      try await service.assertPasskeys(ids, assertion, asking)
    }
  }

  /// Changes the names of a passkey's user, after asking for what its access control requires.
  package func rename(_ id: ItemID, to user: Passkey.User, reason: String, using context: AuthenticationContext)
    async throws(VaultError)
  {
    let change = ItemChange(attributes: [.account: .text(user.name), .label: .text(user.displayName)])
    _ = try await asking(context, reason, mayAsk: true) { service, asking throws(VaultError) in
      try await service.update(.ids([id]), change, secret: nil, asking)
    }
  }

  /// Removes passkeys, and returns their number. Asks for nothing.
  package func remove(passkeys ids: [ItemID]) async throws(VaultError) -> Int {
    try await link.call { service throws(VaultError) in try await service.delete(.ids(ids)) }
  }
}
