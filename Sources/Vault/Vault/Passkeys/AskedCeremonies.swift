import Presence
import SecretModel
import VaultItems
import VaultStore

/// The ceremonies of passkeys. Each asks the person for its proof, and uses that up: no later call of the context finds
/// it.
struct AskedCeremonies {
  let presence: OwnerPresence
  let catalogue: ItemCatalogue
  let sessionLock: SessionLock

  init(_ presence: OwnerPresence, _ catalogue: ItemCatalogue, _ sessionLock: SessionLock) {
    (self.presence, self.catalogue, self.sessionLock) = (presence, catalogue, sessionLock)
  }

  /// Makes a passkey.
  func make(_ passkey: NewPasskey, _ request: Request) async throws(VaultError) -> (Item, SignedCeremony) {
    try passkey.check()
    await sessionLock.follow()
    let turn = try await presence.contexts.turn(of: request)
    defer { turn.context.useUp() }
    let evidence = try await presence.authorizer.evidence(
      for: passkey.access, reason: request.asking.reason, turn.context)
    return try await catalogue.makePasskey(passkey, evidence)
  }

  /// Signs in with passkeys of one relying party.
  func assert(_ ids: [ItemID], _ assertion: PasskeyAssertion, _ request: Request) async throws(VaultError)
    -> [SignedCeremony]
  {
    await sessionLock.follow()
    let wanted = try catalogue.passkeys(ids)
    let turn = try await presence.contexts.turn(of: request)
    defer { turn.context.useUp() }
    let evidence = try await presence.authorizer.evidence(
      for: wanted.map(\.need), reason: request.asking.reason, turn.context)
    return try await catalogue.assert(wanted, assertion, evidence)
  }
}
