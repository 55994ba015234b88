/// The two kinds of key pairs there are; each has external forms of its own.
package enum KeyFamily: Sendable, Hashable, CaseIterable {
  case ec, rsa
}

/// The NIST curves of prime order (FIPS 186-4). Their cofactor is 1: Diffie-Hellman with and without it is the same.
package enum Curve: Sendable, Hashable, CaseIterable {
  case p256, p384, p521

  package var bitCount: Int {
    switch self {
    case .p256: 256
    case .p384: 384
    case .p521: 521
    }
  }

  /// Of a coordinate and of a private scalar, in bytes.
  package var coordinateCount: Int { (bitCount + 7) / 8 }

  /// Of an uncompressed point (X9.63), in bytes: 04 and two coordinates.
  package var pointCount: Int { 1 + 2 * coordinateCount }
}

/// What a key pair computes with.
package enum KeyAlgorithm: Sendable, Hashable {
  case ec(Curve)
  /// 2048 to 4096 bits, a multiple of 8.
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

  /// Of a coordinate of the curve or of the RSA modulus, in bytes: what Apple calls the block size of a key.
  package var blockCount: Int { (bitCount + 7) / 8 }

  /// Whether keys of this algorithm are made and taken here.
  package var isSupported: Bool {
    switch self {
    case .ec: true
    case .rsa(let bits): (2048...4096).contains(bits) && bits % 8 == 0
    }
  }
}
