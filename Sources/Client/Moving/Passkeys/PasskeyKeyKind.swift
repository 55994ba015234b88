internal import KeySchemes
internal import SecureMemory

/// Finds the algorithm of a private key in PKCS #8. The vault checks the key itself.
enum PasskeyKeyKind {
  /// id-ecPublicKey and prime256v1 (RFC 5480), and id-Ed25519 (RFC 8410), in DER.
  private static let identifiers: [(KeyAlgorithm, [UInt8])] = [
    (
      .ec(.p256),
      [
        0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D,
        0x03, 0x01, 0x07,
      ]
    ), (.ed25519, [0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70]),
  ]

  /// Nil for a key of another kind.
  static func algorithm(of key: SharedSecret) -> KeyAlgorithm? {
    key.bytes.withUnsafeBytes { bytes in
      // A sequence of one or two bytes of length, the version and the algorithm.
      guard bytes.count > 6, bytes[0] == 0x30 else { return nil }
      let head = bytes[1] < 0x80 ? 2 : 2 + Int(bytes[1] & 0x7F)
      guard head <= 4 else { return nil }
      let rest = bytes[(head + 3)...]
      return identifiers.first { rest.starts(with: $0.1) }?.0
    }
  }
}
