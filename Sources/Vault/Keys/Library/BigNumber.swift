internal import COpenSSL

/// Owns a `BIGNUM` that may be secret. libcrypto wipes its memory when it is reallocated or freed.
final class BigNumber {
  /// The `BIGNUM *`. Valid as long as this object exists.
  let pointer: OpaquePointer

  /// Makes the number zero.
  init() throws(KeysError) {
    // Transfer full. The number is a secure one, so that parameters made from it are wiped too.
    guard let pointer = BN_secure_new() else { throw .drainLibrary("a number") }
    self.pointer = pointer
    // Make libcrypto use constant-time algorithms for this number.
    BN_set_flags(pointer, BN_FLG_CONSTTIME)
  }

  /// Makes a number from bytes, most significant first.
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

  /// This number, an RSA private exponent, modulo `prime` - 1.
  func exponent(for prime: BigNumber) throws(KeysError) -> BigNumber {
    let exponent = try BigNumber()
    // Borrows the numbers and sets the result.
    guard whorl_rsa_exponent(exponent.pointer, pointer, prime.pointer) == 1 else { throw .drainLibrary("an RSA key") }
    return exponent
  }

  /// Writes the number to all of `bytes`, with leading zeros. False if it is too large.
  func write(to bytes: UnsafeMutableRawBufferPointer) -> Bool {
    // Writes exactly the given number of bytes into the borrowed memory.
    BN_bn2binpad(pointer, bytes.bindMemory(to: UInt8.self).baseAddress, Int32(bytes.count)) == Int32(bytes.count)
  }
}
