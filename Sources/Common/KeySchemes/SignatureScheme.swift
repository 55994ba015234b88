/// The ways to sign. They are the families of Apple's `SecKeyAlgorithm`.
package enum SignatureScheme: Sendable, Hashable {
  /// What the caller passes to sign or verify.
  package enum Input: String, Sendable, Hashable {
    /// A message of any length. The scheme hashes it.
    case message
    /// A digest made with the scheme's hash function.
    case digest
  }

  /// The encoding of the two integers of an ECDSA signature.
  package enum ECDSAEncoding: String, Sendable, Hashable {
    /// A DER sequence of the two integers.
    case x962
    /// Both integers, each padded to the length of a coordinate (RFC 4754).
    case rfc4754
  }

  /// RSA without padding, for input that the caller has already padded. Shorter input is padded with leading zeros.
  case rsaRaw
  /// RSASSA-PKCS1-v1_5 (RFC 8017) padding around the input as it is. The caller adds a DigestInfo if one is needed.
  case rsaPKCS1Raw
  /// RSASSA-PKCS1-v1_5 (RFC 8017).
  case rsaPKCS1(HashFunction, Input)
  /// RSASSA-PSS (RFC 8017). MGF1 uses the same hash function, and the salt is as long as a digest.
  case rsaPSS(HashFunction, Input)
  /// ECDSA (FIPS 186-4).
  case ecdsa(HashFunction, Input, ECDSAEncoding)
  /// ECDSA over a digest of any length. A digest longer than the order of the curve is truncated to its first bits.
  case ecdsaDigest(ECDSAEncoding)
  /// Ed25519 (RFC 8032) over the message itself, which is not hashed before.
  case ed25519

  package func supports(_ algorithm: KeyAlgorithm) -> Bool {
    switch self {
    case .rsaRaw, .rsaPKCS1Raw, .rsaPKCS1, .rsaPSS: algorithm.family == .rsa
    case .ecdsa, .ecdsaDigest: algorithm.family == .ec
    case .ed25519: algorithm.family == .ed25519
    }
  }
}
