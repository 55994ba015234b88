// Signatures, and their check.

internal import COpenSSL
package import Primitives

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

/// Converts ECDSA signatures between their two encodings.
enum ECDSASignature {
  static func rfc4754(x962 signature: [UInt8], coordinateCount: Int) throws(KeysError) -> [UInt8] {
    let numbers = signature.withUnsafeBufferPointer { bytes in
      var next = bytes.baseAddress
      // Reads the borrowed bytes and advances the pointer. The result is transfer full.
      return d2i_ECDSA_SIG(nil, &next, bytes.count)
    }
    guard let numbers else { throw .drainLibrary("a signature") }
    defer { ECDSA_SIG_free(numbers) }
    var encoding = [UInt8](repeating: 0, count: 2 * coordinateCount)
    let done = encoding.withUnsafeMutableBufferPointer { encoding in
      guard let base = encoding.baseAddress else { return false }
      // The numbers are borrowed from the signature. Each call fills exactly the given number of bytes.
      return BN_bn2binpad(ECDSA_SIG_get0_r(numbers), base, Int32(coordinateCount)) == Int32(coordinateCount)
        && BN_bn2binpad(ECDSA_SIG_get0_s(numbers), base + coordinateCount, Int32(coordinateCount))
          == Int32(coordinateCount)
    }
    guard done else { throw .drainLibrary("a signature") }
    return encoding
  }

  /// Converts to DER. `signature` must have an even number of bytes.
  static func x962(rfc4754 signature: [UInt8]) throws(KeysError) -> [UInt8] {
    let half = signature.count / 2
    // Transfer full.
    guard let numbers = ECDSA_SIG_new() else { throw .drainLibrary("a signature") }
    defer { ECDSA_SIG_free(numbers) }
    let numbersSet = signature.withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress, let r = BN_bin2bn(base, Int32(half), nil) else { return false }
      guard let s = BN_bin2bn(base + half, Int32(half), nil) else {
        BN_free(r)
        return false
      }
      // On success the signature owns both numbers.
      return ECDSA_SIG_set0(numbers, r, s) == 1
    }
    guard numbersSet else { throw .drainLibrary("a signature") }
    let count = i2d_ECDSA_SIG(numbers, nil)
    guard count > 0 else { throw .drainLibrary("a signature") }
    var encoding = [UInt8](repeating: 0, count: Int(count))
    let written = encoding.withUnsafeMutableBufferPointer { encoding in
      var next = encoding.baseAddress
      // Writes as many bytes as computed above and advances the pointer.
      return i2d_ECDSA_SIG(numbers, &next)
    }
    guard written == count else { throw .drainLibrary("a signature") }
    return encoding
  }
}

extension Algorithms {
  /// Fetches the algorithms for opening a store and an item. This takes about 2 ms, for which a program need not wait
  /// if it calls this early on another thread.
  package static func prepare() {
    let key = SecretBytes(count: 32)
    _ = MAC.hmacSHA256(key: key, [])
    _ = Digest.sha256([])
    // Errors are ignored: the same operation fails again, with its error, when it is needed.
    guard let derived = try? KDF.hkdf(key: key, info: []) else { return }
    // This is not a valid box, but opening it fetches the algorithm.
    _ = try? AEAD.open([UInt8](repeating: 0, count: 64), key: derived, aad: [])
  }
}
