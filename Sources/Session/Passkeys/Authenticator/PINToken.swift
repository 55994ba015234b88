internal import CBOR
internal import Keys
internal import Primitives

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

/// The key pairs of both PIN/UV auth protocols, each made on first use.
final class KeyAgreements {
  /// A class, since a dictionary cannot hold noncopyable values.
  private final class Pair {
    let agreement: KeyAgreement
    init() throws(KeysError) { agreement = try KeyAgreement() }
  }

  private var pairs: [PINProtocol: Pair] = [:]

  func publicKey(_ version: PINProtocol) throws(CTAPStatus) -> CBORValue { try pair(version).agreement.publicKey }

  /// The keys that are shared with a platform.
  func keys(with platformKey: CBORValue, _ version: PINProtocol) throws(CTAPStatus) -> PINKeys {
    guard let keys = try? pair(version).agreement.keys(with: platformKey, version) else { throw .invalidParameter }
    return keys
  }

  /// Discards the pairs. The next use makes new ones.
  func removeAll() { pairs = [:] }

  private func pair(_ version: PINProtocol) throws(CTAPStatus) -> Pair {
    if let known = pairs[version] { return known }
    guard let new = try? Pair() else { throw .other }
    pairs[version] = new
    return new
  }
}
