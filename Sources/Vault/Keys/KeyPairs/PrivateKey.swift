internal import COpenSSL
package import KeySchemes
package import SecureMemory

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
      case .ed25519: try Ed25519.publicForm(of: handle)
      }
    return PrivateKey(
      publicKey: try PublicKey(external: publicForm, family: algorithm.family), handle: handle)
  }

  /// Reads the format of ``external()``. Anything that is not a valid and consistent key is
  /// ``KeysError/badParameters(_:)``. For RSA this tests the primes, which takes up to half a second.
  package init(external: borrowing SecretBytes, family: KeyFamily) throws(KeysError) {
    let (publicForm, handle) = try Self.read(external, family)
    // The public key of Ed25519 is computed from the private one.
    if family != .ed25519 { try handle.checkPair() }
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
    case .ed25519: try Ed25519.privateKey(external)
    }
  }

  private init(publicKey: PublicKey, handle: KeyHandle) {
    self.publicKey = publicKey
    self.handle = handle
  }

  /// The key in Apple's export format: 04 ‖ X ‖ Y ‖ K (X9.63) for a key on a curve, and RSAPrivateKey (PKCS #1) in DER
  /// for RSA. The 32 bytes of RFC 8032 for Ed25519.
  package borrowing func external() throws(KeysError) -> SecretBytes {
    switch algorithm.family {
    case .ec: try ECKeyForm.privateForm(of: handle, publicForm: publicKey.external)
    case .rsa: try RSAKeyForm.privateForm(of: handle)
    case .ed25519: try Ed25519.privateForm(of: handle)
    }
  }
}

extension KeyHandle {
  fileprivate static func generate(_ algorithm: KeyAlgorithm) throws(KeysError) -> KeyHandle {
    let name =
      switch algorithm.family {
      case .ec: "EC"
      case .rsa: "RSA"
      case .ed25519: Ed25519.name
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
      case .ed25519: Int32(1)
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
