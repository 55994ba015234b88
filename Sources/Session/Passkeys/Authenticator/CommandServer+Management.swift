internal import CBOR
internal import SecretModel

extension CommandServer {
  func manage(_ request: CredentialManagement, _ channel: UInt32) async throws(CTAPStatus) -> CBORValue? {
    guard let proof = request.proof else { throw .tokenRequired }
    let token = try token(proof, over: request.message, for: .credentialManagement)
    guard token.permissions.announced == .credentialManagement else { throw .pinAuthInvalid }
    let vault = vault
    let passkeys = try await ask { () throws(VaultError) in try await vault.passkeys(for: nil) }
    let discoverable = passkeys.filter(\.isDiscoverable).sorted { $0.created > $1.created }
    /// The passkey with this ID. Throws if the token is for another relying party.
    func passkey(_ credentialID: [UInt8]) throws(CTAPStatus) -> Passkey {
      guard let passkey = discoverable.first(where: { $0.credentialID == credentialID }) else { throw .noCredentials }
      guard token.relyingParty.map({ $0.text == passkey.relyingParty }) ?? true else { throw .pinAuthInvalid }
      return passkey
    }
    switch request.action {
    case .metadata:
      guard token.relyingParty == nil else { throw .pinAuthInvalid }
      let capacity = try await ask { () throws(VaultError) in try await vault.capacity() }
      return [1: CBORValue(discoverable.count), 2: CBORValue(capacity)]
    case .relyingParties:
      guard token.relyingParty == nil else { throw .pinAuthInvalid }
      return begin(.relyingParties, try PasskeyListing.relyingParties(of: discoverable), channel)
    case .credentials(let hash):
      guard token.relyingParty.map({ PasskeyListing.hash($0.text) == hash }) ?? true else { throw .pinAuthInvalid }
      return begin(
        .credentials,
        try PasskeyListing.credentials(of: discoverable.filter { PasskeyListing.hash($0.relyingParty) == hash }),
        channel)
    case .delete(let credentialID):
      let passkey = try passkey(credentialID)
      try await ask(true) { () throws(VaultError) in try await vault.delete(passkey.id, .delete(passkey)) }
      return nil
    case .update(let credentialID, let user):
      let passkey = try passkey(credentialID)
      guard passkey.user.handle == user.handle else { throw .invalidParameter }
      // A prompt for a change that changes nothing would only teach people to touch.
      guard passkey.user != user else { return nil }
      try await ask(true) { () throws(VaultError) in
        try await vault.update(passkey.id, user: user, .rename(passkey, to: user))
      }
      return nil
    case .nextRelyingParty, .nextCredential: throw .notAllowed
    }
  }
}
