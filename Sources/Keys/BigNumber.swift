internal import COpenSSL

/// Owns a `BIGNUM` that may be secret: libcrypto wipes its memory when it grows and when it is freed.
final class BigNumber {
  /// `BIGNUM *`, valid as long as this object.
  let pointer: OpaquePointer

  /// Zero.
  init() throws(KeysError) {
    // Transfer full. Marked as secure, so that parameters made from it are wiped too.
    guard let pointer = BN_secure_new() else { throw .drainLibrary("a number") }
    self.pointer = pointer
    // Keeps the time of what is computed with it from telling its value.
    BN_set_flags(pointer, BN_FLG_CONSTTIME)
  }

  /// From bytes, the most significant first.
  convenience init(_ bytes: UnsafeRawBufferPointer) throws(KeysError) {
    try self.init()
    // Copies the borrowed bytes into the number, and returns it.
    guard BN_bin2bn(bytes.bindMemory(to: UInt8.self).baseAddress, Int32(bytes.count), pointer) != nil else {
      throw .drainLibrary("a number")
    }
  }

  deinit { BN_clear_free(pointer) }

  var bitCount: Int { Int(BN_num_bits(pointer)) }

  var isOdd: Bool { BN_is_odd(pointer) == 1 }

  /// Fills `bytes` with the number, zeros first; false where it is too large.
  func write(to bytes: UnsafeMutableRawBufferPointer) -> Bool {
    // Writes exactly the given number of bytes into the borrowed memory.
    BN_bn2binpad(pointer, bytes.bindMemory(to: UInt8.self).baseAddress, Int32(bytes.count)) == Int32(bytes.count)
  }
}
