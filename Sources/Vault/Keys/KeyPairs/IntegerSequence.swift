internal import SecureMemory

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
