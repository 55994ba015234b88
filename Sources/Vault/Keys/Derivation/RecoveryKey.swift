package import Primitives

/// 160 random bits for a person to write down: 32 symbols of Crockford's base 32 and 3 symbols of checksum, in seven
/// groups of five. A key with that much entropy needs no key stretching.
///
/// The checksum makes the number that all 35 symbols form a multiple of 32749, the largest prime below 32^3. Because it
/// is a prime, every single wrong symbol and every swap of two symbols is detected. Any other mistake is missed only
/// once in 32749 times. A typing error can therefore be told from a wrong key without trying the key.
package struct RecoveryKey: ~Copyable {
  /// Why a text is not a recovery key.
  package enum ParseError: Error, Sendable, Hashable {
    /// The text does not have 35 symbols, not counting spaces and dashes.
    case wrongLength
    /// A character is not a symbol. The position counts from 1, without spaces and dashes.
    case notASymbol(position: Int)
    /// The checksum is wrong: at least one symbol is mistyped.
    case mistyped
  }

  private static let byteCount = 20
  private static let symbolCount = 35
  private static let checkCount = 3
  private static let groupCount = 5
  private static let modulus: UInt32 = 32749
  private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

  private let bits: SecretBytes

  private init(bits: consuming SecretBytes) {
    self.bits = bits
  }

  package static func generate() throws(KeysError) -> RecoveryKey {
    RecoveryKey(bits: try Random.key(byteCount))
  }

  /// Reads the format of ``text()``. Accepts lower case, spaces and dashes anywhere, O for 0, and I or L for 1.
  package init(parsing text: borrowing SecretBytes) throws(ParseError) {
    // The symbols are secret too, so they are kept in locked memory.
    var symbols = SecretBytes(count: Self.symbolCount)
    let error = text.withUnsafeBytes { text in
      symbols.withUnsafeMutableBytes { Self.read(text, into: $0) }
    }
    if let error { throw error }
    guard symbols.withUnsafeBytes({ Self.remainder(of: $0) }) == 0 else { throw .mistyped }
    bits = symbols.withUnsafeBytes { Self.pack($0) }
  }

  /// The key in the form that is shown, in ASCII: `XXXXX-XXXXX-XXXXX-XXXXX-XXXXX-XXXXX-XXXXX`.
  package borrowing func text() -> SecretBytes {
    var symbols = SecretBytes(count: Self.symbolCount)
    bits.withUnsafeBytes { bits in
      symbols.withUnsafeMutableBytes { Self.unpack(bits, into: $0) }
    }
    let check = (Self.modulus - symbols.withUnsafeBytes { Self.remainder(of: $0) }) % Self.modulus
    var text = SecretBytes(count: Self.symbolCount + Self.symbolCount / Self.groupCount - 1)
    symbols.withUnsafeMutableBytes { symbols in
      for place in 0..<Self.checkCount {
        symbols[Self.symbolCount - 1 - place] = UInt8(check >> UInt32(5 * place) & 31)
      }
      text.withUnsafeMutableBytes { text in
        for (index, symbol) in symbols.enumerated() {
          let position = index + index / Self.groupCount
          text[position] = Self.alphabet[Int(symbol)]
          if index % Self.groupCount == Self.groupCount - 1, position + 1 < text.count {
            text[position + 1] = UInt8(ascii: "-")
          }
        }
      }
    }
    return text
  }

  /// Derives a key of 32 bytes for the use that `info` names.
  package borrowing func key(info: [UInt8]) throws(KeysError) -> SecretBytes {
    try KDF.hkdf(key: bits, info: info)
  }

  // MARK: - Symbols and bits

  private static func read(
    _ text: UnsafeRawBufferPointer, into symbols: UnsafeMutableRawBufferPointer
  ) -> ParseError? {
    var found = 0
    for byte in text where !" -\t\r\n".utf8.contains(byte) {
      guard let value = value(of: byte) else { return .notASymbol(position: found + 1) }
      guard found < symbolCount else { return .wrongLength }
      symbols[found] = value
      found += 1
    }
    return found == symbolCount ? nil : .wrongLength
  }

  private static func value(of byte: UInt8) -> UInt8? {
    let upper = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte - 32 : byte
    switch upper {
    case UInt8(ascii: "O"): return 0
    case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
    default: return alphabet.firstIndex(of: upper).map { UInt8($0) }
    }
  }

  private static func remainder(of symbols: UnsafeRawBufferPointer) -> UInt32 {
    symbols.reduce(0) { ($0 << 5 | UInt32($1)) % modulus }
  }

  /// Converts each eight symbols to five bytes. The checksum is left out.
  private static func pack(_ symbols: UnsafeRawBufferPointer) -> SecretBytes {
    var bits = SecretBytes(count: byteCount)
    bits.withUnsafeMutableBytes { bits in
      for group in 0..<byteCount / 5 {
        let word = (0..<8).reduce(UInt64(0)) { $0 << 5 | UInt64(symbols[8 * group + $1]) }
        for byte in 0..<5 { bits[5 * group + byte] = UInt8(truncatingIfNeeded: word >> UInt64(32 - 8 * byte)) }
      }
    }
    return bits
  }

  private static func unpack(_ bits: UnsafeRawBufferPointer, into symbols: UnsafeMutableRawBufferPointer) {
    for group in 0..<byteCount / 5 {
      let word = (0..<5).reduce(UInt64(0)) { $0 << 8 | UInt64(bits[5 * group + $1]) }
      for place in 0..<8 { symbols[8 * group + place] = UInt8(word >> UInt64(35 - 5 * place) & 31) }
    }
  }
}
