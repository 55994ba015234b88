internal import SecureMemory

/// A `pinUvAuthToken`: made after a touch, for one ceremony or for the management of credentials.
struct PINToken: Sendable {
  /// How long it lives unused, in milliseconds.
  static let lifetime: UInt64 = 30_000
  /// How long it lives however it is used, in milliseconds.
  static let longestLifetime: UInt64 = 600_000

  let version: PINProtocol
  let bytes: SharedSecret
  let permissions: TokenPermissions
  /// The one relying party that it is for; nil for all of them, and only for the management.
  let relyingParty: RelyingPartyID?
  /// Holds the proof of the touch.
  let ceremony: any PasskeyCeremony
  let made: UInt64
  var used: UInt64

  func isExpired(at now: UInt64) -> Bool {
    now >= used + Self.lifetime || now >= made + Self.longestLifetime
  }

  /// Whether a request over these bytes was made with this token.
  func verifies(_ proof: TokenProof, over message: [UInt8]) -> Bool {
    proof.version == version && version.verifies(proof.mac, key: bytes.bytes, message)
  }
}
