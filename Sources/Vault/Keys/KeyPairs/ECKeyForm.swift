internal import COpenSSL
internal import KeySchemes
internal import SecureMemory

/// The X9.63 formats of keys on a curve. A public key is 04 ‖ X ‖ Y; a private key adds the scalar K.
enum ECKeyForm {
  /// libcrypto refuses coordinates that are not below the prime and points that are not on the curve. On a curve of
  /// prime order every other point is a valid key.
  static func publicKey(_ point: [UInt8]) throws(KeysError) -> (KeyAlgorithm, KeyHandle) {
    guard let curve = Curve.allCases.first(where: { $0.pointCount == point.count }), point.first == 4 else {
      throw .badParameters("not an uncompressed point of a curve known here")
    }
    // Copies the borrowed bytes; the result is transfer full.
    guard let key = whorl_ec_key(LibraryContext.shared.pointer, curve.name, point, point.count, nil) else {
      _ = KeysError.drainLibrary("a public key")
      throw .badParameters("not a point of the curve")
    }
    return (.ec(curve), KeyHandle(taking: key))
  }

  /// Does not check that the point belongs to the scalar. ``PrivateKey/init(external:family:)`` does.
  static func privateKey(
    _ bytes: borrowing SecretBytes
  ) throws(KeysError) -> (publicForm: [UInt8], handle: KeyHandle) {
    let count = bytes.count
    guard let curve = Curve.allCases.first(where: { $0.pointCount + $0.coordinateCount == count }) else {
      throw .badParameters("not a private key of a curve known here")
    }
    let (point, scalar) = try bytes.withUnsafeBytes { bytes throws(KeysError) in
      (
        Array(bytes[..<curve.pointCount]),
        try BigNumber(UnsafeRawBufferPointer(rebasing: bytes[curve.pointCount...]))
      )
    }
    guard point.first == 4 else { throw .badParameters("not a private key of a curve known here") }
    // Copies the borrowed bytes and number; the result is transfer full.
    let key = whorl_ec_key(LibraryContext.shared.pointer, curve.name, point, point.count, scalar.pointer)
    guard let key else {
      _ = KeysError.drainLibrary("a private key")
      throw .badParameters("not a private key of the curve")
    }
    return (point, KeyHandle(taking: key))
  }

  static func publicForm(of key: KeyHandle, _ curve: Curve) throws(KeysError) -> [UInt8] {
    var point = [UInt8](repeating: 0, count: curve.pointCount)
    var written = 0
    // Writes at most the size of the borrowed buffer.
    guard
      EVP_PKEY_get_octet_string_param(key.pointer, OSSL_PKEY_PARAM_PUB_KEY, &point, point.count, &written) == 1,
      written == point.count
    else { throw .drainLibrary("a public key") }
    return point
  }

  static func privateForm(of key: KeyHandle, publicForm: [UInt8]) throws(KeysError) -> SecretBytes {
    let scalar = try BigNumber()
    var target: OpaquePointer? = scalar.pointer
    // Sets the given number. The caller keeps it.
    guard EVP_PKEY_get_bn_param(key.pointer, OSSL_PKEY_PARAM_PRIV_KEY, &target) == 1 else {
      throw .drainLibrary("a private key")
    }
    var bytes = SecretBytes(count: publicForm.count + (publicForm.count - 1) / 2)
    let done = bytes.withUnsafeMutableBytes {
      $0.copyBytes(from: publicForm)
      return scalar.write(to: UnsafeMutableRawBufferPointer(rebasing: $0[publicForm.count...]))
    }
    guard done else { throw .drainLibrary("a private key") }
    return bytes
  }
}
