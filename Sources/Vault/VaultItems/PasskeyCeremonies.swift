import CBOR
import GRDB
import Keys
package import Presence
import Primitives
import VaultStore

/// Makes passkeys, and signs in with them. Each consumes the evidence that a person was there.
extension ItemCatalogue {
  package func passkeyReadiness() throws(VaultError) -> PasskeyReadiness {
    try store.read { snapshot in
      PasskeyReadiness(
        capacity: Passkey.limit - (try passkeyCount.current(in: snapshot)),
        hasFinger: try snapshot.sets().contains { !$0.set.enrolments.isEmpty })
    }
  }

  /// Makes a passkey, and signs for it (self attestation).
  package func makePasskey(_ new: NewPasskey, _ evidence: consuming Evidence) async throws(VaultError)
    -> (Item, SignedCeremony)
  {
    let (made, item) = try Self.made(new)
    var protections = NewProtections(fingers: fingers, passcodes: passcodes)
    let protection = try await protections.protection(of: item) { () throws(VaultError) in
      throw .interactionNotAllowed
    }
    let proofs = try evidence.current()
    guard proofs.showPerson else { throw .touchRefused }
    let stored = try store.commit(items: true) { change in
      try change.requireCurrent(proofs)
      let writer = ItemWriter(change)
      try change.removeAccount(of: new, writer)
      let record = ItemRecord(
        itemClass: .passkey, attributes: item.attributes, created: secondsSince1970(), modified: 0)
      try record.check()
      return try writer.insert(record, protection, secret: made.secret.bytes, replacing: false)
    }
    guard let passkey = Passkey(stored) else { throw .internalError("a passkey cannot be read back") }
    let signed = try Self.attest(passkey, new, made.secret)
    evidence.succeed()
    return (stored, signed)
  }

  /// The passkeys with these ids, all of one relying party.
  package func passkeys(_ ids: [ItemID]) throws(VaultError) -> [WantedItem] {
    let wanted = try toChange(.ids(ids), nil)
    guard wanted.allSatisfy({ $0.record.itemClass == .passkey }) else {
      throw .invalidRequest("this item is not a passkey")
    }
    guard Set(wanted.map { $0.record.attributes[.relyingParty] }).count == 1 else {
      throw .invalidRequest("a touch signs in to one site")
    }
    return wanted
  }

  /// Signs in: unwraps each key for one signature.
  package func assert(_ wanted: [WantedItem], _ assertion: PasskeyAssertion, _ evidence: consuming Evidence)
    async throws(VaultError) -> [SignedCeremony]
  {
    guard assertion.clientDataHash.count == 32 else { throw .invalidRequest("the hash of client data has 32 bytes") }
    guard try evidence.current().showPerson else { throw .touchRefused }
    let released = try await release(wanted, evidence)
    return try released.map { item throws(VaultError) in try Self.assert(item, assertion) }
  }

  private static func assert(_ released: ReleasedItem, _ assertion: PasskeyAssertion) throws(VaultError)
    -> SignedCeremony
  {
    guard let passkey = Passkey(released.item) else { throw .itemDamaged(released.item.name) }
    return try VaultError.ofKeys { () throws(KeysError) in
      let secret = try PasskeySecret.stored(released.secret, passkey.algorithm)
      var data = AuthenticatorData(for: passkey.relyingParty)
      if let request = assertion.secretRequest, passkey.hasSecret {
        data.add("hmac-secret", .bytes(try secret.outputs(request)))
      }
      if assertion.wantsBlob { data.add("credBlob", .bytes(passkey.blob)) }
      return try secret.signed(data, assertion.clientDataHash, passkey.algorithm)
    }
  }

  private static func made(_ new: NewPasskey) throws(VaultError) -> (made: KeyMaking.Made, item: NewItem) {
    try VaultError.ofKeys { () throws(KeysError) in
      let secret = try PasskeySecret.make(new.algorithm)
      let attributes = new.attributes(
        credentialID: try Random.bytes(32), publicKey: secret.privateKey.publicKey.external)
      let item = NewItem(.passkey, attributes, access: new.access)
      return (KeyMaking.Made(item: item, secret: SharedSecret(try secret.bytes())), item)
    }
  }

  private static func attest(_ passkey: Passkey, _ new: NewPasskey, _ secret: SharedSecret) throws(VaultError)
    -> SignedCeremony
  {
    try VaultError.ofKeys { () throws(KeysError) in
      let secret = try PasskeySecret.stored(secret.bytes, passkey.algorithm)
      guard let key = COSEKey(signing: secret.privateKey.publicKey.external) else {
        throw .badParameters("the key is of another algorithm")
      }
      var data = AuthenticatorData(for: passkey.relyingParty)
      data.attest(passkey.credentialID, key)
      if new.repliesWithProtection { data.add("credProtect", CBORValue(new.protection.rawValue)) }
      if new.hasSecret { data.add("hmac-secret", .bool(true)) }
      if new.blob != nil { data.add("credBlob", .bool(new.keepsBlob)) }
      return try secret.signed(data, new.clientDataHash, passkey.algorithm)
    }
  }
}

extension PasskeySecret {
  fileprivate func signed(_ data: AuthenticatorData, _ clientDataHash: [UInt8], _ algorithm: KeyAlgorithm)
    throws(KeysError) -> SignedCeremony
  {
    let bytes = data.bytes
    let scheme = algorithm == .ed25519 ? SignatureScheme.ed25519 : .ecdsa(.sha256, .message, .x962)
    return SignedCeremony(
      authenticatorData: bytes, signature: try privateKey.sign(bytes + clientDataHash, scheme))
  }
}

extension StoreSnapshot {
  /// The number of passkeys, or of those of a relying party, by the index, which includes dead ones.
  func passkeyCount(_ search: ItemSearch) throws -> Int {
    try rows(with: store.tags(for: search, in: .passkey)[0])
  }
}

extension StoreTransaction {
  /// Removes the discoverable passkey of the same account, which the new one replaces (CTAP 2.1, 6.1.2).
  fileprivate func removeAccount(of new: NewPasskey, _ writer: ItemWriter) throws {
    guard new.isDiscoverable else { return }
    let search = ItemSearch(
      .passkey,
      [.relyingParty: .text(new.relyingParty), .userHandle: .bytes(new.user.handle), .discoverable: .number(1)],
      groups: .all, synchronizable: .any, states: [.living, .dead])
    var ids: [ItemID] = []
    try ItemSearcher(self).each(search) { found in
      ids.append(found.item.id)
      return true
    }
    _ = try writer.delete(.ids(ids))
  }

  /// - Throws: `passkeysFull`.
  func requireRoom(forPasskey record: ItemRecord) throws {
    func require(_ search: ItemSearch, limit: Int) throws {
      guard try passkeyCount(search) < limit else { throw VaultError.passkeysFull(limit: limit) }
    }
    let site = record.attributes.filter { $0.key == .relyingParty }
    try require(ItemSearch(.passkey, site), limit: Passkey.relyingPartyLimit)
    try require(ItemSearch(.passkey), limit: Passkey.limit)
  }
}

extension VaultError {
  /// Runs an operation with keys, and maps its errors.
  static func ofKeys<Result: ~Copyable>(_ operation: () throws(KeysError) -> Result) throws(VaultError)
    -> Result
  {
    do throws(KeysError) {
      return try operation()
    } catch .badParameters(let why) {
      throw .invalidRequest(why)
    } catch {
      throw VaultError(cause: error)
    }
  }
}
