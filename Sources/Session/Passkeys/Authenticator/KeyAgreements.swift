internal import CBOR
internal import Keys

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
