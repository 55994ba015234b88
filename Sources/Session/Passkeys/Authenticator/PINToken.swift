internal import SecureMemory

/// A `pinUvAuthToken`: made after a touch, for one ceremony or for the management of credentials.
struct PINToken: Sendable {
  /// The time after which an unused token expires, in milliseconds.
  static let lifetime: UInt64 = 30_000
  /// The maximum lifetime, in milliseconds.
  static let longestLifetime: UInt64 = 600_000

  let version: PINProtocol
  let bytes: SharedSecret
  let permissions: TokenPermissions
  /// The only relying party it is valid for; nil for all, which only the management of credentials allows.
  let relyingParty: RelyingPartyID?
  /// Holds the proof of the touch.
  let ceremony: any PasskeyCeremony
  let made: UInt64
  var used: UInt64

  func isExpired(at now: UInt64) -> Bool {
    now >= used + Self.lifetime || now >= made + Self.longestLifetime
  }

  /// Whether the proof authenticates the message with this token.
  func verifies(_ proof: TokenProof, over message: [UInt8]) -> Bool {
    proof.version == version && version.verifies(proof.mac, key: bytes.bytes, message)
  }
}
