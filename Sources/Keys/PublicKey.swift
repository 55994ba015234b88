package import KeySchemes

/// A public key: its bytes, and libcrypto's form of them, made once.
package struct PublicKey: Sendable {
  package let algorithm: KeyAlgorithm

  /// 04 ‖ X ‖ Y (X9.63) for a key on a curve, RSAPublicKey (PKCS #1) in DER for RSA: what Apple exports.
  package let external: [UInt8]

  /// SHA-1 of ``external``: what Apple finds keys by.
  package let label: [UInt8]

  let handle: KeyHandle

  /// Reads ``external``. Anything that is not exactly a usable key is ``KeysError/badParameters(_:)``.
  package init(external: [UInt8], family: KeyFamily) throws(KeysError) {
    (algorithm, handle) =
      switch family {
      case .ec: try ECKeyForm.publicKey(external)
      case .rsa: try RSAKeyForm.publicKey(external)
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
