/// A whole number from outside this process: from a bus, a file, a repository, a reader or another program. Whoever sent
/// it may be an enemy, and arithmetic that overflows ends the process. So it has no arithmetic and no conversions:
/// ``number(in:)`` is the way to a number, and asks for the range that makes sense (decision 0162).
package struct OutsideNumber: Sendable, Hashable {
  private let value: Int128

  package init(_ value: some FixedWidthInteger) { self.value = Int128(clamping: value) }

  /// The number that bytes are, the highest first. Of more than eight, the last eight count.
  package init(bigEndian bytes: some Sequence<UInt8>) { value = Int128(UInt64(bigEndian: bytes)) }

  /// The number that digits are, in base 10, without a sign; nil for any other text.
  package init?(digits text: some StringProtocol) {
    guard (1...20).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    value = text.utf8.reduce(0) { $0 * 10 + Int128($1 - 0x30) }
  }

  /// The number; nil if it is not in the range.
  package func number<Number: FixedWidthInteger>(in range: ClosedRange<Number>) -> Number? {
    guard let number = Number(exactly: value), range.contains(number) else { return nil }
    return number
  }
}

extension FixedWidthInteger where Self: UnsignedInteger {
  /// The bits that bytes have, the highest first: for numbers that are only compared, of as many bytes as the type has.
  package init(bigEndian bytes: some Sequence<UInt8>) {
    self = bytes.reduce(0) { $0 &<< 8 | Self(truncatingIfNeeded: $1) }
  }
}

extension FixedWidthInteger {
  /// The nearest number of this type: for times in seconds, which other machines may have written. 0 for what is no
  /// number.
  package init(clamping time: Double) {
    if time.isNaN {
      self = 0
    } else {
      // The greatest value itself may not be a Double: it is rounded up to one that does not fit.
      self = Self(exactly: time.rounded(.towardZero)) ?? (time < 0 ? .min : .max)
    }
  }
}
