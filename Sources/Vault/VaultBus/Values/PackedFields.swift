internal import Primitives
internal import SecretModel

/// Writes fields one after another: the field's number (a byte), the length of its value (four bytes, the least
/// significant first), and the value. Lists of a thousand items are too slow as D-Bus containers.
struct PackedFields {
  private(set) var bytes: [UInt8] = []

  mutating func append(_ number: UInt8, _ value: some Collection<UInt8>) {
    append(byte: number)
    append(counted: value)
  }

  mutating func append(_ number: UInt8, _ value: UInt64) {
    append(byte: number)
    append(8 as UInt32)
    append(value)
  }

  mutating func append(_ number: UInt8, _ value: Double) { append(number, value.bitPattern) }

  // The parts of a field.

  mutating func append(byte: UInt8) { bytes.append(byte) }

  /// The length in four bytes, and the value.
  mutating func append(counted value: some Collection<UInt8>) {
    append(UInt32(clamping: value.count))
    bytes.append(contentsOf: value)
  }

  private mutating func append<Number: FixedWidthInteger>(_ number: Number) {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }
}

/// Reads what ``PackedFields``, of this or another program, has written.
///
/// Reading throws `invalidRequest` where the bytes end too early.
struct PackedReader {
  private let bytes: [UInt8]
  private var next: Int
  private let end: Int

  init(_ bytes: [UInt8]) { self.init(bytes, 0..<bytes.count) }

  private init(_ bytes: [UInt8], _ range: Range<Int>) {
    self.bytes = bytes
    next = range.lowerBound
    end = range.upperBound
  }

  var isAtEnd: Bool { next == end }

  mutating func byte() throws(VaultError) -> UInt8 { bytes[try take(1).lowerBound] }

  /// A value preceded by its length.
  mutating func counted() throws(VaultError) -> PackedReader {
    guard let count = OutsideNumber(bigEndian: bytes[try take(4)].reversed()).number(in: 0...bytes.count) else {
      throw .unreadable("what ends too early")
    }
    return PackedReader(bytes, try take(count))
  }

  // The rest of the bytes as one value.

  var data: [UInt8] { Array(bytes[next..<end]) }

  func text() throws(VaultError) -> String {
    guard let text = String(validating: bytes[next..<end], as: UTF8.self) else { throw .unreadable("text") }
    return text
  }

  func word<Word: RawRepresentable<String>>() throws(VaultError) -> Word {
    guard let word = Word(rawValue: try text()) else { throw .unreadable(Word.self) }
    return word
  }

  func integer() throws(VaultError) -> UInt64 {
    var rest = self
    let value = try rest.take(8)
    guard rest.isAtEnd else { throw .unreadable("a number") }
    return UInt64(bigEndian: bytes[value].reversed())
  }

  func double() throws(VaultError) -> Double { Double(bitPattern: try integer()) }

  private mutating func take(_ count: Int) throws(VaultError) -> Range<Int> {
    guard count <= end - next else { throw .unreadable("what ends too early") }
    defer { next += count }
    return next..<next + count
  }
}
