/// The two kinds of key pairs. Each has its own external formats.
package enum KeyFamily: Sendable, Hashable, CaseIterable {
  case ec, rsa
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

  package var family: KeyFamily {
    switch self {
    case .ec: .ec
    case .rsa: .rsa
    }
  }

  package var bitCount: Int {
    switch self {
    case .ec(let curve): curve.bitCount
    case .rsa(let bits): bits
    }
  }

  /// The length of a coordinate or of the RSA modulus, in bytes. Apple calls it the block size of a key.
  package var blockCount: Int { (bitCount + 7) / 8 }

  /// Whether keys of this algorithm can be generated and imported.
  package var isSupported: Bool {
    switch self {
    case .ec: true
    case .rsa(let bits): (2048...4096).contains(bits) && bits % 8 == 0
    }
  }
}
