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

  /// Nil for the schemes that know none.
  var hash: HashFunction? {
    switch self {
    case .rsaPKCS1(let hash, _), .rsaPSS(let hash, _), .ecdsa(let hash, _, _): hash
    case .rsaRaw, .rsaPKCS1Raw, .ecdsaDigest: nil
    }
  }

  /// Nil for RSA.
  var encoding: ECDSAEncoding? {
    switch self {
    case .ecdsa(_, _, let encoding), .ecdsaDigest(let encoding): encoding
    case .rsaRaw, .rsaPKCS1Raw, .rsaPKCS1, .rsaPSS: nil
    }
  }

  /// What libcrypto is given to sign or to verify.
  func input(_ data: [UInt8], for algorithm: KeyAlgorithm) throws(KeysError) -> [UInt8] {
    guard supports(algorithm) else { throw .badParameters("this key does not sign like that") }
    switch self {
    case .rsaRaw:
      guard data.count <= algorithm.blockCount else { throw .badParameters("more bytes than the modulus has") }
      return [UInt8](repeating: 0, count: algorithm.blockCount - data.count) + data
    case .rsaPKCS1Raw:
      guard data.count <= algorithm.blockCount - 11 else { throw .badParameters("more bytes than fit the padding") }
      return data
    case .ecdsaDigest:
      guard !data.isEmpty else { throw .badParameters("a digest is not empty") }
      return data
    case .rsaPKCS1(let hash, .message), .rsaPSS(let hash, .message), .ecdsa(let hash, .message, _):
      return try hash.digest(data)
    case .rsaPKCS1(let hash, .digest), .rsaPSS(let hash, .digest), .ecdsa(let hash, .digest, _):
      guard data.count == hash.count else { throw .badParameters("the digest is not \(hash.count) bytes") }
      return data
    }
  }
}
