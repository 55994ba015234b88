internal import COpenSSL
package import KeySchemes

extension PrivateKey {
  /// Signs, where the scheme is one for this key and `data` is what it asks for; else
  /// ``KeysError/badParameters(_:)``.
  package borrowing func sign(_ data: [UInt8], _ scheme: SignatureScheme) throws(KeysError) -> [UInt8] {
    let input = try scheme.input(data, for: algorithm)
    let context = try handle.context()
    guard EVP_PKEY_sign_init(context.pointer) == 1, try scheme.prepare(context) else { throw .drainLibrary("signing") }
    var signature = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(handle.pointer)))
    var count = signature.count
    // Borrows the input, writes at most `count` bytes.
    guard EVP_PKEY_sign(context.pointer, &signature, &count, input, input.count) == 1 else {
      let error = KeysError.drainLibrary("signing")
      // The one thing about the input that only the modulus can tell.
      throw scheme == .rsaRaw ? .badParameters("the number is not below the modulus") : error
    }
    signature.removeLast(signature.count - count)
    guard scheme.encoding == .rfc4754 else { return signature }
    return try ECDSASignature.rfc4754(x962: signature, coordinateCount: algorithm.blockCount)
  }
}

extension PublicKey {
  /// Whether `signature` is one of `data` by the private key of this one. A scheme for other keys and `data` that is
  /// not what it asks for are ``KeysError/badParameters(_:)``; a signature that is not one is only not right.
  package func verify(
    _ signature: [UInt8], of data: [UInt8], _ scheme: SignatureScheme
  ) throws(KeysError) -> Bool {
    let input = try scheme.input(data, for: algorithm)
    var signature = signature
    if scheme.encoding == .rfc4754 {
      guard signature.count == 2 * algorithm.blockCount else { return false }
      signature = try ECDSASignature.x962(rfc4754: signature)
    }
    let context = try handle.context()
    guard EVP_PKEY_verify_init(context.pointer) == 1, try scheme.prepare(context) else {
      throw .drainLibrary("verifying")
    }
    // Borrows both. Zero or less is every reason not to believe it.
    guard EVP_PKEY_verify(context.pointer, signature, signature.count, input, input.count) == 1 else {
      _ = KeysError.drainLibrary("verifying")
      return false
    }
    return true
  }
}

extension SignatureScheme {
  /// Tells an operation that was begun about padding and hash function; false where libcrypto does not agree.
  fileprivate func prepare(_ operation: borrowing OperationContext) throws(KeysError) -> Bool {
    let context = operation.pointer
    switch self {
    case .ecdsa, .ecdsaDigest:
      return true
    case .rsaRaw:
      return EVP_PKEY_CTX_set_rsa_padding(context, RSA_NO_PADDING) == 1
    case .rsaPKCS1Raw:
      return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
    case .rsaPKCS1(let hash, _):
      let algorithm = try hash.fetched.get()
      return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
        // Borrows the algorithm: its name is all that counts.
        && EVP_PKEY_CTX_set_signature_md(context, algorithm) == 1
    case .rsaPSS(let hash, _):
      let algorithm = try hash.fetched.get()
      return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1
        // Both borrow the algorithm, as above.
        && EVP_PKEY_CTX_set_signature_md(context, algorithm) == 1
        && EVP_PKEY_CTX_set_rsa_mgf1_md(context, algorithm) == 1
        && EVP_PKEY_CTX_set_rsa_pss_saltlen(context, Int32(hash.count)) == 1
    }
  }
}
