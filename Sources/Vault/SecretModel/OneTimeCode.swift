package import Primitives

/// A one-time code of the time (RFC 6238), with how long it is valid.
package struct OneTimeCode: Sendable {
  /// What the name of an item has in it that holds a seed; imports add it to the name of the entry.
  package static let itemMark = "#totp"
  /// The digits that a seed may ask for. RFC 4226 asks for six at least, and its 31 bits give no more than nine.
  package static let lengths = 6...9
  /// The seconds that a code may be valid.
  package static let periods = 1...3_600

  /// The code, in ASCII.
  package let digits: SharedSecret
  /// The seconds until the next code, at the moment when this one was made.
  package let secondsLeft: Int
  /// The seconds from one code to the next.
  package let period: Int

  package init(digits: consuming SecretBytes, secondsLeft: Int, period: Int) {
    self.digits = SharedSecret(digits)
    self.secondsLeft = secondsLeft
    self.period = period
  }

  /// The answer to ``KeyUse/oneTimeCode``: the digits, the seconds left and the period, with a space between.
  package var answer: SecretBytes { SecretBytes(joining: [], digits.bytes, Array(" \(secondsLeft) \(period)".utf8)) }

  /// Nil for bytes that are no answer.
  package init?(answer: borrowing SecretBytes) {
    let read = unsafe answer.withUnsafeBytes { bytes -> (digits: SharedSecret, secondsLeft: Int, period: Int)? in
      let parts = unsafe bytes.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
      guard unsafe parts.count == 3, unsafe Self.lengths.contains(parts[0].count),
        unsafe parts[0].allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
        let period = unsafe OutsideNumber(digits: String(decoding: parts[2], as: UTF8.self))?.number(in: Self.periods),
        let left = unsafe OutsideNumber(digits: String(decoding: parts[1], as: UTF8.self))?.number(in: 1...period)
      else { return nil }
      return unsafe (SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: parts[0]))), left, period)
    }
    guard let read else { return nil }
    (digits, secondsLeft, period) = read
  }
}
