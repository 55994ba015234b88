internal import COpenSSL
package import KeySchemes
package import SecureMemory

extension PrivateKey {
  /// Signs. Throws ``KeysError/badParameters(_:)`` if the scheme does not fit the key or `data` does not fit the
  /// scheme.
  package borrowing func sign(_ data: [UInt8], _ scheme: SignatureScheme) throws(KeysError) -> [UInt8] {
    let input = try scheme.input(data, for: algorithm)
    if scheme == .ed25519 { return try Ed25519.sign(input, count: input.count, with: handle) }
    let context = try handle.context()
    guard EVP_PKEY_sign_init(context.pointer) == 1, try scheme.prepare(context) else { throw .drainLibrary("signing") }
    var signature = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(handle.pointer)))
    var count = signature.count
    // Borrows the input and writes at most `count` bytes.
    guard EVP_PKEY_sign(context.pointer, &signature, &count, input, input.count) == 1 else {
      let error = KeysError.drainLibrary("signing")
      // The caller cannot check this: only libcrypto compares the input with the modulus.
      throw scheme == .rsaRaw ? .badParameters("the number is not below the modulus") : error
    }
    signature.removeLast(signature.count - count)
    guard scheme.encoding == .rfc4754 else { return signature }
    return try ECDSASignature.rfc4754(x962: signature, coordinateCount: algorithm.blockCount)
  }

  /// Signs a message that is a secret, with Ed25519. Throws ``KeysError/badParameters(_:)`` for another key.
  package borrowing func sign(secret message: borrowing SecretBytes) throws(KeysError) -> [UInt8] {
    guard algorithm == .ed25519 else { throw .badParameters("only Ed25519 signs a secret message") }
    let handle = handle
    return try message.withUnsafeBytes { (bytes) throws(KeysError) in
      try Ed25519.sign(bytes.bindMemory(to: UInt8.self).baseAddress, count: bytes.count, with: handle)
    }
  }
}

extension PublicKey {
  /// Whether `signature` is a valid signature of `data` for this key. Throws ``KeysError/badParameters(_:)`` if the
  /// scheme does not fit the key or `data` does not fit the scheme. A malformed signature is not an error but false.
  package func verify(
    _ signature: [UInt8], of data: [UInt8], _ scheme: SignatureScheme
  ) throws(KeysError) -> Bool {
    let input = try scheme.input(data, for: algorithm)
    if scheme == .ed25519 { return try Ed25519.verify(signature, of: input, count: input.count, with: handle) }
    var signature = signature
    if scheme.encoding == .rfc4754 {
      guard signature.count == 2 * algorithm.blockCount else { return false }
      signature = try ECDSASignature.x962(rfc4754: signature)
    }
    let context = try handle.context()
    guard EVP_PKEY_verify_init(context.pointer) == 1, try scheme.prepare(context) else {
      throw .drainLibrary("verifying")
    }
    // Borrows both. Every result except 1 means that the signature is not valid.
    guard EVP_PKEY_verify(context.pointer, signature, signature.count, input, input.count) == 1 else {
      _ = KeysError.drainLibrary("verifying")
      return false
    }
    return true
  }

  /// Whether `signature` is a valid Ed25519 signature of a message that is a secret. Throws ``KeysError/badParameters(_:)``
  /// for another key.
  package func verify(_ signature: [UInt8], of message: borrowing SecretBytes) throws(KeysError) -> Bool {
    guard algorithm == .ed25519 else { throw .badParameters("only Ed25519 signs a secret message") }
    return try message.withUnsafeBytes { (bytes) throws(KeysError) in
      try Ed25519.verify(
        signature, of: bytes.bindMemory(to: UInt8.self).baseAddress, count: bytes.count, with: handle)
    }
  }
}

extension SignatureScheme {
  /// Sets padding and hash function of an initialised operation. False if libcrypto refuses them.
  fileprivate func prepare(_ operation: borrowing OperationContext) throws(KeysError) -> Bool {
    let context = operation.pointer
    switch self {
    case .ecdsa, .ecdsaDigest, .ed25519:
      return true
    case .rsaRaw:
      return EVP_PKEY_CTX_set_rsa_padding(context, RSA_NO_PADDING) == 1
    case .rsaPKCS1Raw:
      return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
    case .rsaPKCS1(let hash, _):
      let algorithm = try hash.fetched.get()
      return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
        // Borrows the algorithm and uses only its name.
        && EVP_PKEY_CTX_set_signature_md(context, algorithm) == 1
    case .rsaPSS(let hash, _):
      let algorithm = try hash.fetched.get()
      return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1
        // Both calls borrow the algorithm, as above.
        && EVP_PKEY_CTX_set_signature_md(context, algorithm) == 1
        && EVP_PKEY_CTX_set_rsa_mgf1_md(context, algorithm) == 1
        && EVP_PKEY_CTX_set_rsa_pss_saltlen(context, Int32(hash.count)) == 1
    }
  }
}
