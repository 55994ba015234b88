/// How something is encrypted to a public key: the families of Apple's `SecKeyAlgorithm`.
package enum EncryptionScheme: Sendable, Hashable {
  /// Where the nonce of AES-GCM comes from.
  package enum Nonce: Sendable, Hashable {
    /// 16 zero bytes: the key serves once. Apple's older form.
    case zero
    /// The 16 bytes derived after the key. Apple's "variable IV".
    case derived
  }

  /// RSA without padding. Shorter plaintext is led by zeros, and what is decrypted is as long as the modulus.
  case rsaRaw
  /// RSAES-PKCS1-v1_5 (RFC 8017): at most 11 bytes less than the modulus.
  case rsaPKCS1
  /// RSAES-OAEP (RFC 8017) without a label; the mask uses the same hash function. At most two digests and two bytes less
  /// than the modulus.
  case rsaOAEP(HashFunction)
  /// A random AES key (128 bits; for a modulus of 4096 bits, 256) in RSAES-OAEP, then the plaintext under it in AES-GCM,
  /// then the tag of 16 bytes. The nonce is 16 zero bytes, the additional data the public key in PKCS #1. The form is
  /// Apple's, as its `SecKey.h` describes it.
  case rsaOAEPAESGCM(HashFunction)
  /// A new public key (04 ‖ X ‖ Y), then the plaintext in AES-GCM, then the tag of 16 bytes. The AES key (128 bits on
  /// P-256, 256 on larger curves) is derived as X9.63 does it, from Diffie-Hellman, with the new public key as shared
  /// info; no additional data. The form is Apple's ECIES, standard and cofactor, as its `SecKey.h` describes it.
  case ecies(HashFunction, Nonce)

  package func supports(_ algorithm: KeyAlgorithm) -> Bool {
    switch self {
    case .rsaRaw, .rsaPKCS1, .rsaOAEP, .rsaOAEPAESGCM: algorithm.family == .rsa
    case .ecies: algorithm.family == .ec
    }
  }

  /// The most that `PublicKey.encrypt` takes, in bytes; nil where only memory bounds it.
  package func plaintextLimit(_ algorithm: KeyAlgorithm) -> Int? {
    switch self {
    case .rsaRaw: algorithm.blockCount
    case .rsaPKCS1: algorithm.blockCount - 11
    case .rsaOAEP(let hash): algorithm.blockCount - 2 * hash.count - 2
    case .rsaOAEPAESGCM, .ecies: nil
    }
  }
}
