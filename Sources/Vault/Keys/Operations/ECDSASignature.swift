internal import COpenSSL

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
