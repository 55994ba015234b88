/// The ways to encrypt to a public key. They are the families of Apple's `SecKeyAlgorithm`.
package enum EncryptionScheme: Sendable, Hashable {
  /// Where the nonce of AES-GCM comes from.
  package enum Nonce: String, Sendable, Hashable {
    /// 16 zero bytes. Safe because each AES key is used once. Apple's older form.
    case zero
    /// The 16 bytes that the key derivation yields after the key. Apple's "variable IV".
    case derived
  }

  /// RSA without padding. Shorter plaintext is padded with leading zeros, and the decrypted plaintext is as long as the
  /// modulus.
  case rsaRaw
  /// RSAES-PKCS1-v1_5 (RFC 8017). The plaintext is at least 11 bytes shorter than the modulus.
  case rsaPKCS1
  /// RSAES-OAEP (RFC 8017) without a label. MGF1 uses the same hash function. The plaintext is shorter than the modulus
  /// by at least two digests and two bytes.
  case rsaOAEP(HashFunction)
  /// A random AES key (128 bits, or 256 for a modulus of 4096 bits) encrypted with RSAES-OAEP, then the plaintext
  /// encrypted with AES-GCM under that key, then the 16-byte tag. The nonce is 16 zero bytes, and the additional data
  /// is the public key in PKCS #1 form. This is Apple's format, as described in its `SecKey.h`.
  case rsaOAEPAESGCM(HashFunction)
  /// An ephemeral public key (04 ‖ X ‖ Y), then the plaintext encrypted with AES-GCM, then the 16-byte tag. The AES key
  /// (128 bits on P-256, 256 on larger curves) comes from Diffie-Hellman and the key derivation of X9.63, with the
  /// ephemeral public key as shared info. There is no additional data. This is Apple's ECIES format, standard and
  /// cofactor, as described in its `SecKey.h`.
  case ecies(HashFunction, Nonce)

  package func supports(_ algorithm: KeyAlgorithm) -> Bool {
    switch self {
    case .rsaRaw, .rsaPKCS1, .rsaOAEP, .rsaOAEPAESGCM: algorithm.family == .rsa
    case .ecies: algorithm.family == .ec
    }
  }

  /// The longest plaintext that `PublicKey.encrypt` accepts, in bytes. Nil if only memory limits it.
  package func plaintextLimit(_ algorithm: KeyAlgorithm) -> Int? {
    switch self {
    case .rsaRaw: algorithm.blockCount
    case .rsaPKCS1: algorithm.blockCount - 11
    case .rsaOAEP(let hash): algorithm.blockCount - 2 * hash.count - 2
    case .rsaOAEPAESGCM, .ecies: nil
    }
  }
}
