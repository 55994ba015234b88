/// The kinds of key pairs. Each has its own external formats.
package enum KeyFamily: Sendable, Hashable, CaseIterable {
  case ec, rsa, ed25519
}

/// The supported NIST curves (FIPS 186-4). Their order is prime, so the cofactor is 1, and Diffie-Hellman gives the
/// same result with and without the cofactor.
package enum Curve: Sendable, Hashable, CaseIterable {
  case p256, p384, p521

  package var bitCount: Int {
    switch self {
    case .p256: 256
    case .p384: 384
    case .p521: 521
    }
  }

  /// The length of a coordinate and of a private scalar, in bytes.
  package var coordinateCount: Int { (bitCount + 7) / 8 }

  /// The length of an uncompressed point (X9.63), in bytes: 04 and two coordinates.
  package var pointCount: Int { 1 + 2 * coordinateCount }
}

/// The algorithm and size of a key pair.
package enum KeyAlgorithm: Sendable, Hashable {
  case ec(Curve)
  /// The size is 2048 to 4096 bits and a multiple of 8.
  case rsa(bits: Int)
  /// Ed25519 (RFC 8032).
  case ed25519

  package var family: KeyFamily {
    switch self {
    case .ec: .ec
    case .rsa: .rsa
    case .ed25519: .ed25519
    }
  }

  package var bitCount: Int {
    switch self {
    case .ec(let curve): curve.bitCount
    case .rsa(let bits): bits
    case .ed25519: 256
    }
  }

  /// The length of a coordinate or of the RSA modulus, in bytes. Apple calls it the block size of a key.
  package var blockCount: Int { (bitCount + 7) / 8 }

  /// Whether keys of this algorithm can be generated and imported.
  package var isSupported: Bool {
    switch self {
    case .ec, .ed25519: true
    case .rsa(let bits): (2048...4096).contains(bits) && bits % 8 == 0
    }
  }
}

/// The words for the algorithms of new keys.
extension KeyAlgorithm {
  /// The algorithms that have a word.
  package static let offered: [KeyAlgorithm] = [
    .ed25519, .ec(.p256), .ec(.p384), .ec(.p521), .rsa(bits: 2048), .rsa(bits: 3072), .rsa(bits: 4096),
  ]

  /// Such as `ed25519`, `ecdsa-256` and `rsa-3072`.
  package var word: String {
    switch self {
    case .ed25519: "ed25519"
    case .ec(let curve): "ecdsa-\(curve.bitCount)"
    case .rsa(let bits): "rsa-\(bits)"
    }
  }

  /// Nil for a word of none of ``offered``.
  package init?(word: String) {
    guard let algorithm = Self.offered.first(where: { $0.word == word }) else { return nil }
    self = algorithm
  }
}
