internal import KeySchemes

extension SignatureScheme {
  /// The hash function. Nil for schemes that do not define one.
  var hash: HashFunction? {
    switch self {
    case .rsaPKCS1(let hash, _), .rsaPSS(let hash, _), .ecdsa(let hash, _, _): hash
    case .rsaRaw, .rsaPKCS1Raw, .ecdsaDigest, .ed25519: nil
    }
  }

  /// The encoding of the signature. Nil for RSA.
  var encoding: ECDSAEncoding? {
    switch self {
    case .ecdsa(_, _, let encoding), .ecdsaDigest(let encoding): encoding
    case .rsaRaw, .rsaPKCS1Raw, .rsaPKCS1, .rsaPSS, .ed25519: nil
    }
  }

  /// The bytes that libcrypto signs or verifies.
  func input(_ data: [UInt8], for algorithm: KeyAlgorithm) throws(KeysError) -> [UInt8] {
    guard supports(algorithm) else { throw .badParameters("this key does not support this signature algorithm") }
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
    case .ed25519: return data
    case .rsaPKCS1(let hash, .message), .rsaPSS(let hash, .message), .ecdsa(let hash, .message, _):
      return try hash.digest(data)
    case .rsaPKCS1(let hash, .digest), .rsaPSS(let hash, .digest), .ecdsa(let hash, .digest, _):
      guard data.count == hash.count else { throw .badParameters("the digest is not \(hash.count) bytes") }
      return data
    }
  }
}
