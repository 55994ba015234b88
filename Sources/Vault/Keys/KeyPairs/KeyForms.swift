// OpenSSL's keys, and Apple's forms of keys on curves and of RSA with the DER below them.

internal import COpenSSL
internal import Primitives

/// Owns an `EVP_PKEY` and with it libcrypto's copy of the key. libcrypto wipes that copy when it frees it.
///
/// `@unchecked Sendable`: the key is immutable, and every operation uses its own context.
final class KeyHandle: @unchecked Sendable {
  /// The `EVP_PKEY *`. Valid as long as this object exists.
  let pointer: OpaquePointer

  /// Takes over the caller's reference.
  init(taking pointer: OpaquePointer) {
    self.pointer = pointer
  }

  deinit { EVP_PKEY_free(pointer) }

  /// Makes a context for one operation with this key.
  func context() throws(KeysError) -> OperationContext {
    // Takes its own reference to the key. The result is transfer full.
    guard let context = EVP_PKEY_CTX_new_from_pkey(LibraryContext.shared.pointer, pointer, nil) else {
      throw .drainLibrary("a key operation")
    }
    return OperationContext(taking: context)
  }

  /// The result of Diffie-Hellman without key derivation, of `count` bytes.
  func sharedSecret(with peer: KeyHandle, count: Int) throws(KeysError) -> SecretBytes {
    let context = try context()
    // Takes its own reference to the peer's key. The last argument, 1, makes it validate that key.
    guard EVP_PKEY_derive_init(context.pointer) == 1, EVP_PKEY_derive_set_peer_ex(context.pointer, peer.pointer, 1) == 1
    else {
      _ = KeysError.drainLibrary("key agreement")
      throw .badParameters("the two keys cannot be used together")
    }
    var secret = SecretBytes(count: count)
    var written = count
    let result = secret.withUnsafeMutableBytes {
      // Writes at most `written` bytes into the borrowed memory.
      EVP_PKEY_derive(context.pointer, $0.bindMemory(to: UInt8.self).baseAddress, &written)
    }
    guard result == 1, written == count else {
      _ = KeysError.drainLibrary("key agreement")
      throw .badParameters("the public key gives no shared secret")
    }
    return secret
  }
}

/// Owns an `EVP_PKEY_CTX`, for one operation with a key.
struct OperationContext: ~Copyable {
  /// The `EVP_PKEY_CTX *`. Valid as long as this value exists.
  let pointer: OpaquePointer

  /// Takes over the caller's reference.
  init(taking pointer: OpaquePointer) {
    self.pointer = pointer
  }

  deinit { EVP_PKEY_CTX_free(pointer) }
}

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

extension Curve {
  /// libcrypto's name of the curve.
  var name: String {
    switch self {
    case .p256: "P-256"
    case .p384: "P-384"
    case .p521: "P-521"
    }
  }
}

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

/// A DER sequence of non-negative integers, which is the PKCS #1 format of RSA keys. Only the canonical encoding is
/// accepted, so that a key that is read and written again has the same bytes.
enum IntegerSequence {
  private static let sequenceTag: UInt8 = 0x30
  private static let integerTag: UInt8 = 0x02

  /// The positions of the integers in `bytes`, without leading zero bytes for the sign. Nil unless `bytes` is exactly
  /// one such sequence.
  static func read(_ bytes: UnsafeRawBufferPointer) -> [Range<Int>]? {
    guard let content = element(in: bytes, 0..<bytes.count, tag: sequenceTag), content.upperBound == bytes.count else {
      return nil
    }
    var integers: [Range<Int>] = []
    var next = content.lowerBound
    while next < content.upperBound {
      guard let integer = element(in: bytes, next..<content.upperBound, tag: integerTag), !integer.isEmpty else {
        return nil
      }
      next = integer.upperBound
      let first = bytes[integer.lowerBound]
      // The integer is negative.
      guard first < 0x80 else { return nil }
      guard first == 0, integer.count > 1 else {
        integers.append(integer)
        continue
      }
      // The leading zero byte is redundant.
      guard bytes[integer.lowerBound + 1] >= 0x80 else { return nil }
      integers.append(integer.dropFirst())
    }
    return integers
  }

  /// The position of the content of the element at the start of `range`. Nil if the element has another tag or is
  /// malformed.
  static func element(in bytes: UnsafeRawBufferPointer, _ range: Range<Int>, tag: UInt8) -> Range<Int>? {
    guard range.count >= 2, bytes[range.lowerBound] == tag else { return nil }
    var start = range.lowerBound + 2
    var count = Int(bytes[range.lowerBound + 1])
    if count >= 0x80 {
      // Accept a length of at most two bytes, in its shortest form.
      let lengthCount = count - 0x80
      guard (1...2).contains(lengthCount), range.count >= 2 + lengthCount else { return nil }
      count = bytes[start..<start + lengthCount].reduce(0) { $0 << 8 | Int($1) }
      guard count >= (lengthCount == 1 ? 0x80 : 0x100) else { return nil }
      start += lengthCount
    }
    guard count <= range.upperBound - start else { return nil }
    return start..<start + count
  }

  static func write(_ numbers: [BigNumber]) throws(KeysError) -> SecretBytes {
    // One bit is needed for the sign. Zero takes one byte.
    let counts = numbers.map { $0.bitCount / 8 + 1 }
    let headers = counts.map { header(integerTag, count: $0) }
    let contentCount = zip(headers, counts).reduce(0) { $0 + $1.0.count + $1.1 }
    let outer = header(sequenceTag, count: contentCount)
    var encoding = SecretBytes(count: outer.count + contentCount)
    let done = encoding.withUnsafeMutableBytes { encoding in
      encoding.copyBytes(from: outer)
      var next = outer.count
      for (index, number) in numbers.enumerated() {
        UnsafeMutableRawBufferPointer(rebasing: encoding[next...]).copyBytes(from: headers[index])
        next += headers[index].count
        guard number.write(to: UnsafeMutableRawBufferPointer(rebasing: encoding[next..<next + counts[index]])) else {
          return false
        }
        next += counts[index]
      }
      return true
    }
    guard done else { throw .drainLibrary("an RSA key") }
    return encoding
  }

  private static func header(_ tag: UInt8, count: Int) -> [UInt8] {
    switch count {
    case ..<0x80: [tag, UInt8(count)]
    case ..<0x100: [tag, 0x81, UInt8(count)]
    default: [tag, 0x82, UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)]
    }
  }
}
