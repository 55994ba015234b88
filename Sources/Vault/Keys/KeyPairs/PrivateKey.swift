// Keys: the cryptography of Whorl, implemented with OpenSSL; no other target calls it. Begin with `PrivateKey` and
// `PublicKey`. `Operations` has what is done with them, `Sealing` encrypts with symmetric keys, `Derivation` makes keys,
// `SSH` and `Certificates` have two outer forms.

internal import COpenSSL
package import Primitives

/// A private key with its public key. The only copy is in libcrypto's memory. That memory is not locked, unlike
/// ``SecureMemory/SecretBytes``, and is wiped when this value is destroyed. Keep it only briefly.
package struct PrivateKey: ~Copyable, Sendable {
  package let publicKey: PublicKey

  package var algorithm: KeyAlgorithm { publicKey.algorithm }

  let handle: KeyHandle

  /// Generates a key. RSA with 4096 bits takes a second or more.
  package static func generate(_ algorithm: KeyAlgorithm) throws(KeysError) -> PrivateKey {
    if case .rsa(let bits) = algorithm { _ = try RSAKeyForm.checkedAlgorithm(bits: bits) }
    let handle = try KeyHandle.generate(algorithm)
    let publicForm =
      switch algorithm {
      case .ec(let curve): try ECKeyForm.publicForm(of: handle, curve)
      case .rsa: try RSAKeyForm.publicForm(of: handle)
      case .ed25519: try RawKeyForm.ed25519.publicForm(of: handle)
      case .x25519: try RawKeyForm.x25519.publicForm(of: handle)
      }
    return PrivateKey(
      publicKey: try PublicKey(external: publicForm, family: algorithm.family), handle: handle)
  }

  /// Reads the format of ``external()``. Anything that is not a valid and consistent key is
  /// ``KeysError/badParameters(_:)``. For RSA this tests the primes, which takes up to half a second.
  package init(external: borrowing SecretBytes, family: KeyFamily) throws(KeysError) {
    let (publicForm, handle) = try Self.read(external, family)
    switch family {
    case .ec, .rsa: try handle.checkPair()
    // The public key was computed from the private one.
    case .ed25519, .x25519: break
    }
    self.init(publicKey: try PublicKey(external: publicForm, family: family), handle: handle)
  }

  /// Reads the format of ``external()`` from authenticated data, such as an item of the store. Checks the format but
  /// not whether the parts of the key belong together.
  package init(stored external: borrowing SecretBytes, family: KeyFamily) throws(KeysError) {
    let (publicForm, handle) = try Self.read(external, family)
    self.init(publicKey: try PublicKey(external: publicForm, family: family), handle: handle)
  }

  private static func read(
    _ external: borrowing SecretBytes, _ family: KeyFamily
  ) throws(KeysError) -> (publicForm: [UInt8], handle: KeyHandle) {
    switch family {
    case .ec: try ECKeyForm.privateKey(external)
    case .rsa: try RSAKeyForm.privateKey(external)
    case .ed25519: try RawKeyForm.ed25519.privateKey(external)
    case .x25519: try RawKeyForm.x25519.privateKey(external)
    }
  }

  private init(publicKey: PublicKey, handle: KeyHandle) {
    self.publicKey = publicKey
    self.handle = handle
  }

  /// The key in Apple's export format: 04 ‖ X ‖ Y ‖ K (X9.63) for a key on a curve, and RSAPrivateKey (PKCS #1) in DER
  /// for RSA. The 32 bytes of RFC 8032 for Ed25519, and of RFC 7748 for X25519.
  package borrowing func external() throws(KeysError) -> SecretBytes {
    switch algorithm.family {
    case .ec: try ECKeyForm.privateForm(of: handle, publicForm: publicKey.external)
    case .rsa: try RSAKeyForm.privateForm(of: handle)
    case .ed25519: try RawKeyForm.ed25519.privateForm(of: handle)
    case .x25519: try RawKeyForm.x25519.privateForm(of: handle)
    }
  }
}

extension KeyHandle {
  fileprivate static func generate(_ algorithm: KeyAlgorithm) throws(KeysError) -> KeyHandle {
    let name =
      switch algorithm.family {
      case .ec: "EC"
      case .rsa: "RSA"
      case .ed25519: RawKeyForm.ed25519.name
      case .x25519: RawKeyForm.x25519.name
      }
    // Transfer full.
    guard let pointer = EVP_PKEY_CTX_new_from_name(LibraryContext.shared.pointer, name, nil) else {
      throw .drainLibrary("key generation")
    }
    let context = OperationContext(taking: pointer)
    guard EVP_PKEY_keygen_init(context.pointer) == 1 else { throw .drainLibrary("key generation") }
    let chosen =
      switch algorithm {
      case .ec(let curve): EVP_PKEY_CTX_set_group_name(context.pointer, curve.name)
      case .rsa(let bits): EVP_PKEY_CTX_set_rsa_keygen_bits(context.pointer, Int32(bits))
      case .ed25519, .x25519: Int32(1)
      }
    var key: OpaquePointer?
    // Generates a key that the caller owns (transfer full).
    guard chosen == 1, EVP_PKEY_generate(context.pointer, &key) == 1, let key else {
      throw .drainLibrary("key generation")
    }
    return KeyHandle(taking: key)
  }

  /// Checks that the scalar is in range or the primes are prime, and that the public key belongs to the private key.
  fileprivate func checkPair() throws(KeysError) {
    let context = try context()
    guard EVP_PKEY_private_check(context.pointer) == 1, EVP_PKEY_pairwise_check(context.pointer) == 1 else {
      _ = KeysError.drainLibrary("a private key")
      throw .badParameters("the parts of the private key do not belong together")
    }
  }
}

/// A public key: its bytes, and a libcrypto key made from them.
package struct PublicKey: Sendable {
  package let algorithm: KeyAlgorithm

  /// The key in Apple's export format: 04 ‖ X ‖ Y (X9.63) for a key on a curve, and RSAPublicKey (PKCS #1) in DER for
  /// RSA. The 32 bytes of RFC 8032 for Ed25519, and of RFC 7748 for X25519.
  package let external: [UInt8]

  /// The SHA-1 of ``external``, by which Apple finds keys.
  package let label: [UInt8]

  let handle: KeyHandle

  /// Reads the format of ``external``. Anything that is not a valid key is ``KeysError/badParameters(_:)``.
  package init(external: [UInt8], family: KeyFamily) throws(KeysError) {
    (algorithm, handle) =
      switch family {
      case .ec: try ECKeyForm.publicKey(external)
      case .rsa: try RSAKeyForm.publicKey(external)
      case .ed25519: try RawKeyForm.ed25519.publicKey(external)
      case .x25519: try RawKeyForm.x25519.publicKey(external)
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

/// PKCS #8 (RFC 5958): a private key and its algorithm in DER, as programs exchange keys.
extension PrivateKey {
  /// Reads a key of P-256, of another curve known here or of Ed25519. Anything else, and what is not a consistent key, is
  /// ``KeysError/badParameters(_:)``.
  package init(pkcs8: borrowing SecretBytes, _ algorithm: KeyAlgorithm) throws(KeysError) {
    let handle = try KeyHandle(pkcs8: pkcs8)
    let external: SecretBytes
    switch algorithm {
    case .ed25519 where EVP_PKEY_is_a(handle.pointer, RawKeyForm.ed25519.name) == 1:
      external = try RawKeyForm.ed25519.privateForm(of: handle)
    case .ec(let curve) where EVP_PKEY_is_a(handle.pointer, "EC") == 1 && handle.isOn(curve):
      external = try ECKeyForm.privateForm(of: handle, publicForm: try ECKeyForm.publicForm(of: handle, curve))
    default: throw .badParameters("the key is of another algorithm")
    }
    try self.init(external: external, family: algorithm.family)
  }

  package borrowing func pkcs8() throws(KeysError) -> SecretBytes {
    // Borrows the key. The result is transfer full, and libcrypto wipes it when it is freed.
    guard let info = EVP_PKEY2PKCS8(handle.pointer) else { throw .drainLibrary("a private key") }
    defer { PKCS8_PRIV_KEY_INFO_free(info) }
    let count = i2d_PKCS8_PRIV_KEY_INFO(info, nil)
    guard count > 0 else { throw .drainLibrary("a private key") }
    var bytes = SecretBytes(count: Int(count))
    let written = bytes.withUnsafeMutableBytes { target in
      // Writes `count` bytes into the borrowed memory, and moves its own copy of the pointer.
      var place = target.bindMemory(to: UInt8.self).baseAddress
      return i2d_PKCS8_PRIV_KEY_INFO(info, &place)
    }
    guard written == count else { throw .drainLibrary("a private key") }
    return bytes
  }
}

extension KeyHandle {
  fileprivate convenience init(pkcs8: borrowing SecretBytes) throws(KeysError) {
    let key = pkcs8.withUnsafeBytes { bytes -> OpaquePointer? in
      let start = bytes.bindMemory(to: UInt8.self).baseAddress
      var place = start
      // Copies the borrowed bytes and moves the pointer behind them. The result is transfer full.
      guard let info = d2i_PKCS8_PRIV_KEY_INFO(nil, &place, bytes.count) else { return nil }
      defer { PKCS8_PRIV_KEY_INFO_free(info) }
      guard let start, place == start + bytes.count else { return nil }
      // Copies the key. The result is transfer full.
      return EVP_PKCS82PKEY_ex(info, LibraryContext.shared.pointer, nil)
    }
    guard let key else {
      _ = KeysError.drainLibrary("a private key")
      throw .badParameters("not a private key that is known here")
    }
    self.init(taking: key)
  }

  /// Whether the key is on this curve.
  fileprivate func isOn(_ curve: Curve) -> Bool {
    var name = [CChar](repeating: 0, count: 64)
    var count = 0
    // Writes at most the size of the borrowed buffer.
    guard EVP_PKEY_get_group_name(pointer, &name, name.count, &count) == 1 else { return false }
    // libcrypto has several names for a curve, and one number.
    let number = OBJ_sn2nid(name)
    return number != NID_undef && number == EC_curve_nist2nid(curve.name)
  }
}

/// The content of "PUBLIC KEY" files (RFC 5280, section 4.1): an algorithm identifier and the key.
enum SubjectPublicKeyInfo {
  /// The algorithm identifier in DER: rsaEncryption and its NULL parameter.
  private static let rsaEncryption: [UInt8] = [
    0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
  ]
  private static let sequenceTag: UInt8 = 0x30
  private static let bitStringTag: UInt8 = 0x03

  /// The RSA key inside, in PKCS #1 form. Nil unless `bytes` has exactly this format.
  static func rsaKey(in bytes: [UInt8]) -> [UInt8]? {
    // Borrows the bytes for the call.
    bytes.withUnsafeBytes { bytes in
      guard
        let content = IntegerSequence.element(in: bytes, 0..<bytes.count, tag: sequenceTag),
        content.upperBound == bytes.count, bytes[content].starts(with: rsaEncryption),
        let bits = IntegerSequence.element(
          in: bytes, content.dropFirst(rsaEncryption.count), tag: bitStringTag),
        bits.upperBound == bytes.count, bits.count > 1, bytes[bits.lowerBound] == 0
      else { return nil }
      // The first byte of a bit string is the number of unused bits, here 0.
      return Array(bytes[bits.dropFirst()])
    }
  }
}

extension PublicKey {
  /// Reads a key that a client imports. Accepts ``external`` and, for RSA, also SubjectPublicKeyInfo, as Apple's
  /// functions do.
  package init(brought bytes: [UInt8], family: KeyFamily) throws(KeysError) {
    let inner = family == .rsa ? SubjectPublicKeyInfo.rsaKey(in: bytes) : nil
    try self.init(external: inner ?? bytes, family: family)
  }
}
