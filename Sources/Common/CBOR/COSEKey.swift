/// COSE's numbers of algorithms.
package enum COSEAlgorithm {
  package static let es256 = -7
  package static let edDSA = -8
  static let ecdhES = -25
}

/// A public key as COSE (RFC 9052, RFC 9053) encodes it.
package enum COSEKey: Sendable, Hashable {
  /// A point of P-256 for signatures by ES256.
  case es256(x: [UInt8], y: [UInt8])
  /// A point of P-256 for a key agreement, with the algorithm that CTAP2 prescribes.
  case agreement(x: [UInt8], y: [UInt8])
  /// A key of Ed25519 for signatures by EdDSA.
  case ed25519([UInt8])

  /// A key for signatures: a point of P-256 as 04 ‖ X ‖ Y, or 32 bytes of Ed25519.
  package init?(signing external: [UInt8]) {
    if external.count == 32 {
      self = .ed25519(external)
    } else {
      guard external.count == 65, external[0] == 4 else { return nil }
      self = .es256(x: Array(external[1...32]), y: Array(external[33...]))
    }
  }

  /// A point of P-256 as 04 ‖ X ‖ Y.
  package init?(agreement external: [UInt8]) {
    guard external.count == 65, external[0] == 4 else { return nil }
    self = .agreement(x: Array(external[1...32]), y: Array(external[33...]))
  }

  /// Nil for other kinds of keys, and for coordinates of another length. Does not check that a point is on the curve.
  package init?(_ value: CBORValue) {
    guard let entries = value.entries else { return nil }
    let (type, algorithm, curve) = (entries[1]?.integer, entries[3]?.integer, entries[-1]?.integer)
    guard let x = entries[-2]?.byteString, x.count == 32 else { return nil }
    if type == 1, algorithm == COSEAlgorithm.edDSA, curve == 6 {
      self = .ed25519(x)
      return
    }
    guard type == 2, curve == 1, let y = entries[-3]?.byteString, y.count == 32 else { return nil }
    switch algorithm {
    case COSEAlgorithm.es256: self = .es256(x: x, y: y)
    case COSEAlgorithm.ecdhES: self = .agreement(x: x, y: y)
    default: return nil
    }
  }

  /// 04 ‖ X ‖ Y, or 32 bytes of Ed25519.
  package var external: [UInt8] {
    switch self {
    case .es256(let x, let y), .agreement(let x, let y): [4] + x + y
    case .ed25519(let bytes): bytes
    }
  }

  package var value: CBORValue {
    switch self {
    case .es256(let x, let y): [1: 2, 3: CBORValue(COSEAlgorithm.es256), -1: 1, -2: .bytes(x), -3: .bytes(y)]
    case .agreement(let x, let y): [1: 2, 3: CBORValue(COSEAlgorithm.ecdhES), -1: 1, -2: .bytes(x), -3: .bytes(y)]
    case .ed25519(let bytes): [1: 1, 3: CBORValue(COSEAlgorithm.edDSA), -1: 6, -2: .bytes(bytes)]
    }
  }
}
