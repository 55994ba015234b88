internal import COpenSSL
internal import KeySchemes
internal import SecureMemory

/// The PKCS #1 formats of RSA keys (RFC 8017, appendix A.1) in DER. A public key is n and e. A private key is 0 (for
/// two primes), n, e, d, p, q, d mod (p - 1), d mod (q - 1) and 1/q mod p.
enum RSAKeyForm {
  /// The longest key that is read, in bytes. A private key of 4096 bits takes fewer than 2400; longer ones are read to
  /// report their size.
  private static let limit = 16_384

  static func publicKey(_ bytes: [UInt8]) throws(KeysError) -> (KeyAlgorithm, KeyHandle) {
    let numbers = try bytes.span.withUnsafeBytes { bytes throws(KeysError) in try read(bytes, count: 2) }
    return (try checkedAlgorithm(n: numbers[0], e: numbers[1]), try handle(numbers))
  }

  /// Does not check that the numbers belong together. ``PrivateKey/init(external:family:)`` does.
  static func privateKey(
    _ bytes: borrowing SecretBytes
  ) throws(KeysError) -> (publicForm: [UInt8], handle: KeyHandle) {
    var numbers = try bytes.withUnsafeBytes { bytes throws(KeysError) in try read(bytes, count: 9) }
    let version = numbers.removeFirst()
    guard version.bitCount == 0 else { throw .badParameters("an RSA key of more than two primes") }
    let algorithm = try checkedAlgorithm(n: numbers[0], e: numbers[1])
    // No number may be zero or longer than the modulus. Refuse such a key before libcrypto sees it.
    guard numbers.allSatisfy({ (1...algorithm.bitCount).contains($0.bitCount) }) else {
      throw .badParameters("not an RSA private key")
    }
    let publicForm = try publicForm(n: numbers[0], e: numbers[1])
    return (publicForm, try handle(numbers))
  }

  static func publicForm(of key: KeyHandle) throws(KeysError) -> [UInt8] {
    try publicForm(n: number(of: key, place: 0), e: number(of: key, place: 1))
  }

  static func privateForm(of key: KeyHandle) throws(KeysError) -> SecretBytes {
    var numbers = [try BigNumber()]
    for place in 0..<8 { numbers.append(try number(of: key, place: place)) }
    return try IntegerSequence.write(numbers)
  }

  private static func publicForm(n: BigNumber, e: BigNumber) throws(KeysError) -> [UInt8] {
    try IntegerSequence.write([n, e]).withUnsafeBytes { Array($0) }
  }

  private static func read(_ bytes: UnsafeRawBufferPointer, count: Int) throws(KeysError) -> [BigNumber] {
    guard bytes.count <= limit, let ranges = IntegerSequence.read(bytes), ranges.count == count else {
      throw .badParameters("not an RSA key in PKCS #1")
    }
    var numbers: [BigNumber] = []
    for range in ranges { numbers.append(try BigNumber(UnsafeRawBufferPointer(rebasing: bytes[range]))) }
    return numbers
  }

  /// The exponent must be odd, at least 3 and below 2^64. Larger ones are slow and not used in practice.
  private static func checkedAlgorithm(n: BigNumber, e: BigNumber) throws(KeysError) -> KeyAlgorithm {
    let algorithm = try checkedAlgorithm(bits: n.bitCount)
    guard n.isOdd, e.isOdd, (2...64).contains(e.bitCount) else { throw .badParameters("not an RSA public key") }
    return algorithm
  }

  /// The algorithm of keys of this size.
  static func checkedAlgorithm(bits: Int) throws(KeysError) -> KeyAlgorithm {
    let algorithm = KeyAlgorithm.rsa(bits: bits)
    guard algorithm.isSupported else {
      throw .badParameters("RSA keys have 2048 to 4096 bits here, in whole bytes; this one has \(bits)")
    }
    return algorithm
  }

  private static func handle(_ numbers: [BigNumber]) throws(KeysError) -> KeyHandle {
    let key = withExtendedLifetime(numbers) {
      // Copies the borrowed numbers. The result is transfer full.
      whorl_rsa_key(LibraryContext.shared.pointer, numbers.map(\.pointer), numbers.count)
    }
    guard let key else {
      _ = KeysError.drainLibrary("an RSA key")
      throw .badParameters("not an RSA key")
    }
    return KeyHandle(taking: key)
  }

  private static func number(of key: KeyHandle, place: Int) throws(KeysError) -> BigNumber {
    let number = try BigNumber()
    // Borrows the key and sets the number.
    guard whorl_rsa_number(key.pointer, place, number.pointer) == 1 else { throw .drainLibrary("an RSA key") }
    return number
  }
}
