package import KeySchemes

/// What files called "PUBLIC KEY" hold (RFC 5280, section 4.1): a key behind the name of its algorithm.
enum SubjectPublicKeyInfo {
  /// The algorithm in DER: rsaEncryption, and the null that belongs to it.
  private static let rsaEncryption: [UInt8] = [
    0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
  ]
  private static let sequenceTag: UInt8 = 0x30
  private static let bitStringTag: UInt8 = 0x03

  /// The key of RSA within, in PKCS #1. Nil where `bytes` is anything but exactly this form around something.
  static func rsaKey(in bytes: [UInt8]) -> [UInt8]? {
    // Borrowed for the call.
    bytes.withUnsafeBytes { bytes in
      guard
        let content = IntegerSequence.element(in: bytes, 0..<bytes.count, tag: sequenceTag),
        content.upperBound == bytes.count, bytes[content].starts(with: rsaEncryption),
        let bits = IntegerSequence.element(
          in: bytes, content.dropFirst(rsaEncryption.count), tag: bitStringTag),
        bits.upperBound == bytes.count, bits.count > 1, bytes[bits.lowerBound] == 0
      else { return nil }
      // The zero says that no bits of the last byte are left over.
      return Array(bytes[bits.dropFirst()])
    }
  }
}

extension PublicKey {
  /// Reads a key that a client brings: ``external``, and for RSA that behind the name of its algorithm too, as Apple's
  /// calls do.
  package init(brought bytes: [UInt8], family: KeyFamily) throws(KeysError) {
    let inner = family == .rsa ? SubjectPublicKeyInfo.rsaKey(in: bytes) : nil
    try self.init(external: inner ?? bytes, family: family)
  }
}
