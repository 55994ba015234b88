internal import COpenSSL
package import KeySchemes
package import SecureMemory

/// PKCS #8 (RFC 5958): a private key and its algorithm in DER, as programs exchange keys.
extension PrivateKey {
  /// Reads a key of P-256, of another curve known here or of Ed25519. Anything else, and what is not a consistent key, is
  /// ``KeysError/badParameters(_:)``.
  package init(pkcs8: borrowing SecretBytes, _ algorithm: KeyAlgorithm) throws(KeysError) {
    let handle = try KeyHandle(pkcs8: pkcs8)
    let external: SecretBytes
    switch algorithm {
    case .ed25519 where EVP_PKEY_is_a(handle.pointer, Ed25519.name) == 1:
      external = try Ed25519.privateForm(of: handle)
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
