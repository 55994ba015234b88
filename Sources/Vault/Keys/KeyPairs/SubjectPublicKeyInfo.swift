package import KeySchemes

/// The content of "PUBLIC KEY" files (RFC 5280, section 4.1): an algorithm identifier and the key.
enum SubjectPublicKeyInfo {
  /// The algorithm identifier in DER: rsaEncryption and its NULL parameter.
  private static let rsaEncryption: [UInt8] = [
    0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
  ]
  private static let sequenceTag: UInt8 = 0x30
  private static let bitStringTag: UInt8 = 0x03

  /// The RSA key inside, in PKCS #1 form. Nil unless `bytes` has exactly this format.
  static func rsaKey(in bytes: [UInt8]) -> [UInt8]? {
    // Borrows the bytes for the call.
    bytes.withUnsafeBytes { bytes in
      guard
        let content = IntegerSequence.element(in: bytes, 0..<bytes.count, tag: sequenceTag),
        content.upperBound == bytes.count, bytes[content].starts(with: rsaEncryption),
        let bits = IntegerSequence.element(
          in: bytes, content.dropFirst(rsaEncryption.count), tag: bitStringTag),
        bits.upperBound == bytes.count, bits.count > 1, bytes[bits.lowerBound] == 0
      else { return nil }
      // The first byte of a bit string is the number of unused bits, here 0.
      return Array(bytes[bits.dropFirst()])
    }
  }
}

extension PublicKey {
  /// Reads a key that a client imports. Accepts ``external`` and, for RSA, also SubjectPublicKeyInfo, as Apple's
  /// functions do.
  package init(brought bytes: [UInt8], family: KeyFamily) throws(KeysError) {
    let inner = family == .rsa ? SubjectPublicKeyInfo.rsaKey(in: bytes) : nil
    try self.init(external: inner ?? bytes, family: family)
  }
}
