/// How something is signed: the families of Apple's `SecKeyAlgorithm`.
package enum SignatureScheme: Sendable, Hashable {
  /// What is signed.
  package enum Input: Sendable, Hashable {
    /// Bytes of any number, hashed here.
    case message
    /// What the hash function of the scheme gave for them.
    case digest
  }

  /// How the two numbers of an ECDSA signature are written.
  package enum ECDSAEncoding: Sendable, Hashable {
    /// A DER sequence of both.
    case x962
    /// Both, each as long as a coordinate of the curve (RFC 4754).
    case rfc4754
  }

  /// RSA without padding: for what was padded elsewhere. Shorter input is led by zeros.
  case rsaRaw
  /// RSASSA-PKCS1-v1_5 (RFC 8017) over bytes that name their hash function themselves, or do not.
  case rsaPKCS1Raw
  /// RSASSA-PKCS1-v1_5 (RFC 8017).
  case rsaPKCS1(HashFunction, Input)
  /// RSASSA-PSS (RFC 8017); the mask uses the same hash function, and the salt is as long as a digest.
  case rsaPSS(HashFunction, Input)
  /// ECDSA (FIPS 186-4).
  case ecdsa(HashFunction, Input, ECDSAEncoding)
  /// ECDSA over a digest of any length; of one longer than the order of the curve, the first bits count.
  case ecdsaDigest(ECDSAEncoding)

  package func supports(_ algorithm: KeyAlgorithm) -> Bool {
    switch self {
    case .rsaRaw, .rsaPKCS1Raw, .rsaPKCS1, .rsaPSS: algorithm.family == .rsa
    case .ecdsa, .ecdsaDigest: algorithm.family == .ec
    }
  }
}
