internal import KeySchemes

/// The attributes of an item of class `passkey`. Its account is the user's name, and its label the user's display name.
extension AttributeName {
  /// The ID of the credential.
  package static let credentialID = Self(rawValue: "whorl.passkey.id")
  /// The domain of the relying party.
  package static let relyingParty = Self(rawValue: "whorl.passkey.rp")
  /// The name of the relying party, for people.
  package static let relyingPartyName = Self(rawValue: "whorl.passkey.rp-name")
  /// Identifies the account at the relying party.
  package static let userHandle = Self(rawValue: "whorl.passkey.user")
  /// Whether the passkey is found without its ID: 1 or 0.
  package static let discoverable = Self(rawValue: "whorl.passkey.discoverable")
  /// The level of `credProtect`.
  package static let credentialProtection = Self(rawValue: "whorl.passkey.protection")
  /// Whether it has a secret for `hmac-secret`: 1 or 0.
  package static let secretExtension = Self(rawValue: "whorl.passkey.hmac-secret")
  /// The bytes of `credBlob`.
  package static let credentialBlob = Self(rawValue: "whorl.passkey.blob")
}

extension Passkey {
  /// The passkey that an item is; nil for an item of another class, and a damaged one.
  package init?(_ item: Item) {
    guard item.itemClass == .passkey, item.state == .living else { return nil }
    func text(_ name: AttributeName) -> String { if case .text(let text)? = item.attributes[name] { text } else { "" } }
    func bytes(_ name: AttributeName) -> [UInt8] {
      if case .bytes(let bytes)? = item.attributes[name] { bytes } else { [] }
    }
    func number(_ name: AttributeName) -> Int {
      if case .number(let number)? = item.attributes[name] { Int(clamping: number) } else { 0 }
    }
    guard let algorithm = KeyAlgorithm(word: text(.keyType)),
      let protection = Protection(rawValue: number(.credentialProtection))
    else { return nil }
    self.init(
      id: item.id, credentialID: bytes(.credentialID), relyingParty: text(.relyingParty),
      relyingPartyName: text(.relyingPartyName),
      user: User(handle: bytes(.userHandle), name: text(.account), displayName: text(.label)), algorithm: algorithm,
      publicKey: bytes(.publicKey), isDiscoverable: number(.discoverable) == 1, protection: protection,
      hasSecret: number(.secretExtension) == 1, blob: bytes(.credentialBlob), access: item.access, created: item.created
    )
  }
}

extension NewPasskey {
  /// The attributes of the item, but for those that follow from its key.
  package func attributes(credentialID: [UInt8], publicKey: [UInt8]) -> [AttributeName: AttributeValue] {
    [
      .credentialID: .bytes(credentialID), .relyingParty: .text(relyingParty),
      .relyingPartyName: .text(relyingPartyName), .userHandle: .bytes(user.handle), .account: .text(user.name),
      .label: .text(user.displayName), .keyType: .text(algorithm.word), .publicKey: .bytes(publicKey),
      .discoverable: .number(isDiscoverable ? 1 : 0), .credentialProtection: .number(Int64(protection.rawValue)),
      .secretExtension: .number(hasSecret ? 1 : 0), .credentialBlob: .bytes(keepsBlob ? blob ?? [] : []),
    ]
  }
}

extension Passkey {
  /// The most passkeys of a store.
  package static let limit = 1_000
  /// The most passkeys for one relying party.
  package static let relyingPartyLimit = 64
  /// The most bytes of ``blob``.
  package static let blobLimit = 32
  /// What an access control must be for a passkey: a finger is always needed, or the passcode in its place.
  package static let accessControls: [AccessControl] = [
    AccessControl(.anyFinger), AccessControl(.currentSet), AccessControl(.presence),
  ]
}

extension NewPasskey {
  /// Whether the blob fits. One that does not is left out, and the signed data says so.
  package var keepsBlob: Bool { blob.map { $0.count <= Passkey.blobLimit } ?? false }

  /// Refuses what no passkey can have.
  package func check() throws(VaultError) {
    try Passkey.check(relyingParty, user, algorithm, access)
    try VaultError.require(clientDataHash.count == 32, "the hash of client data has 32 bytes")
  }
}

extension Passkey {
  /// Refuses what no passkey can have, in one that comes from elsewhere.
  package func check() throws(VaultError) {
    try Self.check(relyingParty, user, algorithm, access)
    try VaultError.require((1...255).contains(credentialID.count), "the ID of a passkey has 1 to 255 bytes")
    try VaultError.require(blob.count <= Self.blobLimit, "what a site keeps with a passkey has at most 32 bytes")
  }

  fileprivate static func check(
    _ relyingParty: String, _ user: User, _ algorithm: KeyAlgorithm, _ access: AccessControl
  ) throws(VaultError) {
    try VaultError.require(algorithm == .ec(.p256) || algorithm == .ed25519, "a passkey's key is for ES256 or EdDSA")
    try VaultError.require((1...64).contains(user.handle.count), "a user handle has 1 to 64 bytes")
    try VaultError.require(
      (1...253).contains(relyingParty.utf8.count), "the ID of a relying party has 1 to 253 bytes")
    try VaultError.require(
      !relyingParty.hasControlCharacters, "the ID of a relying party has no control characters")
    try VaultError.require(
      accessControls.contains(access), "a passkey needs a finger, or the passcode in its place")
  }
}

extension VaultError {
  fileprivate static func require(_ holds: Bool, _ why: String) throws(VaultError) {
    if !holds { throw .invalidRequest(why) }
  }
}
