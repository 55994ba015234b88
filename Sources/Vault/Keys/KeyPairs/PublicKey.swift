package import KeySchemes

/// A public key: its bytes, and a libcrypto key made from them.
package struct PublicKey: Sendable {
  package let algorithm: KeyAlgorithm

  /// The key in Apple's export format: 04 ‖ X ‖ Y (X9.63) for a key on a curve, and RSAPublicKey (PKCS #1) in DER for
  /// RSA. The 32 bytes of RFC 8032 for Ed25519.
  package let external: [UInt8]

  /// The SHA-1 of ``external``, by which Apple finds keys.
  package let label: [UInt8]

  let handle: KeyHandle

  /// Reads the format of ``external``. Anything that is not a valid key is ``KeysError/badParameters(_:)``.
  package init(external: [UInt8], family: KeyFamily) throws(KeysError) {
    (algorithm, handle) =
      switch family {
      case .ec: try ECKeyForm.publicKey(external)
      case .rsa: try RSAKeyForm.publicKey(external)
      case .ed25519: try Ed25519.publicKey(external)
      }
    self.external = external
    label = try HashFunction.sha1.digest(external)
  }
}

extension PublicKey: Hashable {
  package static func == (one: PublicKey, other: PublicKey) -> Bool {
    one.algorithm == other.algorithm && one.external == other.external
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(external)
  }
}
