package import SecretModel

/// The logical clock of a version: greater than that of every version that its writer knew.
///
/// Members write it, and one of them may lie. Any number is held, so nothing here can overflow; whoever takes a version
/// asks ``isInForm`` and ``isReachable(from:)``.
package struct LogicalClock: Codable, Sendable, Hashable, Comparable, ExpressibleByIntegerLiteral {
  /// No version has it.
  package static let start: LogicalClock = 0
  /// Every program that reads JSON reads the numbers below this one exactly.
  private static let end: UInt64 = 1 << 53
  /// How far a clock may be ahead of the greatest one that was accepted: more changes than machines make that are away
  /// for some years. Without this limit one lie would use up all numbers.
  private static let leap: UInt64 = 1 << 20

  private let number: UInt64

  package init(integerLiteral value: UInt64) { number = value }

  package init(from decoder: any Decoder) throws {
    number = try decoder.singleValueContainer().decode(UInt64.self)
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(number)
  }

  package static func < (one: LogicalClock, other: LogicalClock) -> Bool { one.number < other.number }

  /// Whether it is one that the format allows.
  package var isInForm: Bool { self > .start && number < Self.end }

  /// Whether a clock that is so great may be accepted after `greatest`.
  package func isReachable(from greatest: LogicalClock) -> Bool {
    self <= greatest || number - greatest.number <= Self.leap
  }

  /// The clock of the next version.
  package func next() throws(VaultError) -> LogicalClock {
    guard number < Self.end - 1 else {
      throw .invalidRequest("no further change can be shared: stop sharing here, and begin anew")
    }
    return LogicalClock(integerLiteral: number + 1)
  }
}

/// For each machine, the clock of its last version that a version replaces.
package typealias VersionVector = [String: LogicalClock]

extension VersionVector {
  /// Whether a version with this version vector replaces one with the version vector `other`.
  package func replaces(_ other: VersionVector) -> Bool {
    other.allSatisfy { machine, clock in self[machine] ?? .start >= clock }
  }
}
