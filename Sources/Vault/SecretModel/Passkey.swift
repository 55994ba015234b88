package import KeySchemes

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
