internal import CBOR
internal import Keys
internal import SecretModel

extension CommandServer {
  func manage(_ request: CredentialManagement, _ channel: UInt32) async throws(CTAPStatus) -> CBORValue? {
    guard let proof = request.proof else { throw .tokenRequired }
    let token = try token(proof, over: request.message, for: .credentialManagement)
    let vault = vault
    let passkeys = try await ask { () throws(VaultError) in try await vault.passkeys(for: nil) }
    let discoverable = passkeys.filter(\.isDiscoverable).sorted { $0.created > $1.created }
    /// The passkey of an ID, if the token is for its relying party.
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
      return begin(.relyingParties, try relyingParties(of: discoverable), channel)
    case .credentials(let hash):
      guard token.relyingParty.map({ Self.hash($0.text) == hash }) ?? true else { throw .pinAuthInvalid }
      return begin(
        .credentials, try credentials(of: discoverable.filter { Self.hash($0.relyingParty) == hash }), channel)
    case .delete(let credentialID):
      let id = try passkey(credentialID).id
      try await ask { () throws(VaultError) in try await vault.delete(id) }
      return nil
    case .update(let credentialID, let user):
      let passkey = try passkey(credentialID)
      guard passkey.user.handle == user.handle else { throw .invalidParameter }
      try await ask { () throws(VaultError) in try await vault.update(passkey.id, user: user) }
      return nil
    case .nextRelyingParty, .nextCredential: throw .notAllowed
    }
  }

  private static func hash(_ relyingParty: String) -> [UInt8] { Digest.sha256(Array(relyingParty.utf8)) }

  private func relyingParties(of passkeys: [Passkey]) throws(CTAPStatus) -> [CBORValue] {
    var seen: Set<String> = []
    let parties = passkeys.filter { seen.insert($0.relyingParty).inserted }
    guard !parties.isEmpty else { throw .noCredentials }
    return parties.enumerated().map { number, passkey in
      var party: [CBORValue: CBORValue] = ["id": .text(passkey.relyingParty)]
      if !passkey.relyingPartyName.isEmpty { party["name"] = .text(passkey.relyingPartyName) }
      var entries: [CBORValue: CBORValue] = [3: .map(party), 4: .bytes(Self.hash(passkey.relyingParty))]
      if number == 0 { entries[5] = CBORValue(parties.count) }
      return .map(entries)
    }
  }

  private func credentials(of passkeys: [Passkey]) throws(CTAPStatus) -> [CBORValue] {
    guard !passkeys.isEmpty else { throw .noCredentials }
    return passkeys.enumerated().map { number, passkey in
      var entries: [CBORValue: CBORValue] = [
        6: CredentialEntities.value(of: passkey.user), 7: CredentialEntities.descriptor(passkey.credentialID),
        8: COSEKey(signing: passkey.publicKey)?.value ?? .null, 10: CBORValue(passkey.protection.rawValue),
      ]
      if number == 0 { entries[9] = CBORValue(passkeys.count) }
      return .map(entries)
    }
  }
}
