// Passkeys: as values, as attributes of items, on their way between stores.

package import Primitives

/// A passkey without its private key: a credential of WebAuthn for one account of one site. An item of class `passkey`
/// of the vault.
package struct Passkey: Sendable, Hashable, Identifiable {
  /// The account at the relying party.
  package struct User: Sendable, Hashable {
    /// Identifies the account: 1 to 64 bytes of the relying party's own.
    package var handle: [UInt8]
    /// Such as `alice@example.com`; empty if the relying party gave none.
    package var name: String
    /// Such as `Alice Miller`; empty if the relying party gave none.
    package var displayName: String

    package init(handle: [UInt8], name: String, displayName: String) {
      self.handle = handle
      self.name = name
      self.displayName = displayName
    }
  }

  /// When a passkey may be used without a finger, as the extension `credProtect` of CTAP 2.1 numbers it. Whorl signs
  /// only after a finger or the passcode. So this decides what a request without one may learn of the passkey.
  package enum Protection: Int, Sendable, Hashable, CaseIterable {
    /// `userVerificationOptional`
    case optional = 1
    /// `userVerificationOptionalWithCredentialIDList`: a request that does not have the credential's ID learns nothing.
    case optionalWithList = 2
    /// `userVerificationRequired`: a request without a finger learns nothing.
    case required = 3
  }

  /// The item.
  package var id: ItemID
  /// The ID that the relying party knows the passkey by: random bytes.
  package var credentialID: [UInt8]
  /// The domain of the relying party, such as `example.com`. It is what the asking program says.
  package var relyingParty: String
  /// Such as `Example`; empty if the relying party gave none.
  package var relyingPartyName: String
  package var user: User
  /// P-256 for ES256, or Ed25519 for EdDSA.
  package var algorithm: KeyAlgorithm
  /// The public key, in the external representation of its algorithm.
  package var publicKey: [UInt8]
  /// Whether it is found without its ID (a resident key).
  package var isDiscoverable: Bool
  package var protection: Protection
  /// Whether it has a secret for the extension `hmac-secret`.
  package var hasSecret: Bool
  /// Up to 32 bytes that the relying party had kept with it, for the extension `credBlob`; empty if there are none.
  package var blob: [UInt8]
  /// What has to happen before it signs.
  package var access: AccessControl
  /// Seconds since 1970.
  package var created: Double

  package init(
    id: ItemID, credentialID: [UInt8], relyingParty: String, relyingPartyName: String, user: User,
    algorithm: KeyAlgorithm, publicKey: [UInt8], isDiscoverable: Bool, protection: Protection, hasSecret: Bool,
    blob: [UInt8], access: AccessControl, created: Double
  ) {
    self.id = id
    self.credentialID = credentialID
    self.relyingParty = relyingParty
    self.relyingPartyName = relyingPartyName
    self.user = user
    self.algorithm = algorithm
    self.publicKey = publicKey
    self.isDiscoverable = isDiscoverable
    self.protection = protection
    self.hasSecret = hasSecret
    self.blob = blob
    self.access = access
    self.created = created
  }
}

/// A passkey to be made.
package struct NewPasskey: Sendable, Hashable {
  package var relyingParty: String
  package var relyingPartyName: String
  package var user: Passkey.User
  /// P-256 or Ed25519.
  package var algorithm: KeyAlgorithm
  package var isDiscoverable: Bool
  package var protection: Passkey.Protection
  /// Whether the relying party asked for the extension `credProtect`, which is then answered.
  package var repliesWithProtection: Bool
  /// Whether it gets a secret for the extension `hmac-secret`.
  package var hasSecret: Bool
  /// For the extension `credBlob`; nil where it was not asked for. One of more than 32 bytes is not kept.
  package var blob: [UInt8]?
  /// SHA-256 of the client data, which the attestation signs.
  package var clientDataHash: [UInt8]
  /// What has to happen before it signs, and before it is made.
  package var access: AccessControl

  package init(
    relyingParty: String, relyingPartyName: String = "", user: Passkey.User, algorithm: KeyAlgorithm = .ec(.p256),
    isDiscoverable: Bool, protection: Passkey.Protection = .optional, repliesWithProtection: Bool = false,
    hasSecret: Bool = false, blob: [UInt8]? = nil, clientDataHash: [UInt8],
    access: AccessControl = AccessControl(.anyFinger)
  ) {
    self.relyingParty = relyingParty
    self.relyingPartyName = relyingPartyName
    self.user = user
    self.algorithm = algorithm
    self.isDiscoverable = isDiscoverable
    self.protection = protection
    self.repliesWithProtection = repliesWithProtection
    self.hasSecret = hasSecret
    self.blob = blob
    self.clientDataHash = clientDataHash
    self.access = access
  }
}

/// A request to sign in with a passkey.
package struct PasskeyAssertion: Sendable {
  /// SHA-256 of the client data.
  package var clientDataHash: [UInt8]
  /// For the extension `hmac-secret`; nil where it was not asked for.
  package var secretRequest: PasskeySecretRequest?
  /// Whether to return the passkey's `credBlob`.
  package var wantsBlob: Bool

  package init(clientDataHash: [UInt8], secretRequest: PasskeySecretRequest? = nil, wantsBlob: Bool = false) {
    self.clientDataHash = clientDataHash
    self.secretRequest = secretRequest
    self.wantsBlob = wantsBlob
  }
}

/// What the vault has signed in a ceremony.
package struct SignedCeremony: Sendable, Hashable {
  /// The authenticator data of WebAuthn, which the vault builds.
  package var authenticatorData: [UInt8]
  /// The signature over the authenticator data and the hash of the client data, as WebAuthn encodes it.
  package var signature: [UInt8]

  package init(authenticatorData: [UInt8], signature: [UInt8]) {
    self.authenticatorData = authenticatorData
    self.signature = signature
  }
}

extension Passkey {
  /// The AAGUID of Whorl: what WebAuthn tells a relying party the authenticator's model by. A random UUID, fixed for
  /// good: e86d91cd-20f0-4a25-9630-4768c90dcc26.
  package static let model: [UInt8] = [
    0xe8, 0x6d, 0x91, 0xcd, 0x20, 0xf0, 0x4a, 0x25, 0x96, 0x30, 0x47, 0x68, 0xc9, 0x0d, 0xcc, 0x26,
  ]
}

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

/// Whether a store can take and use passkeys. Programs ask this often, so it takes as long with a thousand passkeys as
/// with one.
package struct PasskeyReadiness: Sendable, Hashable {
  /// How many more passkeys fit.
  package var capacity: Int
  /// Whether a finger is enrolled, as far as the store knows.
  package var hasFinger: Bool

  package init(capacity: Int, hasFinger: Bool) {
    self.capacity = capacity
    self.hasFinger = hasFinger
  }
}

/// The request of the extension `hmac-secret` (CTAP 2.1, 12.5): the vault computes one or two outputs and encrypts them
/// to the platform, since the authenticator data that it signs contains them.
package struct PasskeySecretRequest: Sendable {
  /// The PIN/UV auth protocols of CTAP 2.1.
  package enum Encryption: Int, Sendable, Hashable {
    /// AES-256-CBC with a zero IV.
    case protocolOne = 1
    /// AES-256-CBC with a random IV before the ciphertext.
    case protocolTwo = 2
  }

  package var encryption: Encryption
  /// The key for AES that was agreed with the platform, of 32 bytes.
  package var key: SharedSecret
  /// One salt of 32 bytes, or two.
  package var salts: SharedSecret

  package init(encryption: Encryption, key: SharedSecret, salts: SharedSecret) {
    self.encryption = encryption
    self.key = key
    self.salts = salts
  }
}

/// The secret of a passkey on its way from one store to another: the result of ``KeyUse/export`` of a passkey, and what
/// ``KeySource/passkey(_:)`` has.
///
/// The bytes are a version, the key of the extension `hmac-secret` (32 bytes) and the private key in PKCS #8.
package struct MovingPasskey: Sendable {
  /// CTAP's CredRandom with user verification. Not used by a passkey without the extension `hmac-secret`.
  package let secretKey: SharedSecret
  /// The private key in PKCS #8.
  package let key: SharedSecret

  /// The length of ``secretKey``.
  package static let secretKeyCount = 32
  private static let version: UInt8 = 2
  private static let headCount = 1 + secretKeyCount

  /// - Parameter secretKey: of 32 bytes.
  package init(secretKey: SharedSecret, key: SharedSecret) { (self.secretKey, self.key) = (secretKey, key) }

  /// Nil for other bytes. The key itself is not checked.
  package init?(_ bytes: borrowing SecretBytes) {
    guard bytes.count > Self.headCount else { return nil }
    let parts = unsafe bytes.withUnsafeBytes { bytes -> (SharedSecret, SharedSecret)? in
      guard unsafe bytes[0] == Self.version else { return nil }
      return unsafe (
        SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[1..<Self.headCount]))),
        SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[Self.headCount...])))
      )
    }
    guard let parts else { return nil }
    (secretKey, key) = parts
  }

  package var bytes: SecretBytes {
    var bytes = SecretBytes(count: Self.headCount + key.bytes.count)
    unsafe bytes.withUnsafeMutableBytes { target in
      unsafe target[0] = Self.version
      unsafe secretKey.bytes.withUnsafeBytes { source in
        unsafe UnsafeMutableRawBufferPointer(rebasing: target[1...]).copyMemory(from: source)
      }
      unsafe key.bytes.withUnsafeBytes { source in
        unsafe UnsafeMutableRawBufferPointer(rebasing: target[Self.headCount...]).copyMemory(from: source)
      }
    }
    return bytes
  }
}
