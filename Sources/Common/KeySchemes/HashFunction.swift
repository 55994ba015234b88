/// The hash functions of signatures, OAEP and key agreement. SHA-1 is only for compatibility with existing data.
package enum HashFunction: String, Sendable, Hashable, CaseIterable {
  case sha1, sha224, sha256, sha384, sha512

  /// The length of a digest, in bytes.
  package var count: Int {
    switch self {
    case .sha1: 20
    case .sha224: 28
    case .sha256: 32
    case .sha384: 48
    case .sha512: 64
    }
  }
}
