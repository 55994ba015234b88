internal import CBOR
internal import Keys
internal import Primitives
internal import SecretModel

extension CommandServer {
  func answer(_ request: ClientPIN) async throws(CTAPStatus) -> CBORValue {
    switch request {
    case .keyAgreement(let version): return [1: try agreements.publicKey(version)]
    case .uvRetries: return [5: CBORValue(await vault.tries())]
    case .token(let version, let platformKey, let permissions, let relyingParty):
      return try await token(version, platformKey, permissions, relyingParty)
    }
  }

  /// `getPinUvAuthTokenUsingUvWithPermissions`: one touch, for one ceremony.
  private func token(
    _ version: PINProtocol, _ platformKey: CBORValue, _ permissions: TokenPermissions, _ relyingParty: RelyingPartyID?
  ) async throws(CTAPStatus) -> CBORValue {
    let keys = try agreements.keys(with: platformKey, version)
    await endToken()
    let ceremony = try await begin(words(permissions.announced, relyingParty))
    do throws(CTAPStatus) {
      try await ask(true) { () throws(VaultError) in try await ceremony.verify() }
      guard let bytes = try? Random.key(), let encrypted = try? keys.encrypt(bytes) else { throw .other }
      keep(
        PINToken(
          version: version, bytes: SharedSecret(bytes), permissions: permissions, relyingParty: relyingParty,
          ceremony: ceremony, made: now(), used: now()))
      return [2: .bytes(encrypted)]
    } catch {
      await ceremony.end()
      throw error
    }
  }

  private func words(_ announced: TokenPermissions, _ relyingParty: RelyingPartyID?) -> CeremonyWords {
    switch (announced, relyingParty) {
    case (.makeCredential, let relyingParty?): .make(for: relyingParty)
    case (.getAssertion, let relyingParty?): .signIn(to: relyingParty)
    default: .list(relyingParty)
    }
  }
}
