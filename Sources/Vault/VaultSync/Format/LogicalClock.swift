package import SecretModel

/// The logical clock of a version: a number in an epoch, which is the number of the newest list of members that the
/// writer had seen in the repository. It is greater than that of every version that its writer knew.
///
/// A clock of a later epoch is greater, and the numbers begin anew with each epoch, so the numbers that a member has used
/// up are gone with the list that it was in. Members write the clocks, and one of them may lie: any numbers are held, so
/// nothing here can overflow. Whoever takes a version asks ``isInForm`` and ``isReachable(from:)``.
package struct LogicalClock: Codable, Sendable, Hashable, Comparable {
  /// No version has it.
  package static let start = beginning(of: 0)
  /// Every program that reads JSON reads the numbers below this one exactly.
  private static let end: UInt64 = 1 << 53
  /// How far a clock may be ahead of the greatest one that was accepted: more changes than machines make that are away
  /// for some years. Without this limit one lie would use up all numbers.
  private static let leap: UInt64 = 1 << 20

  /// 0 before the first list, and in a clock of builds that wrote a number alone.
  package let epoch: Int
  private let number: UInt64

  package init(_ epoch: Int, _ number: UInt64) { (self.epoch, self.number) = (epoch, number) }

  /// Less than every clock of the epoch.
  package static func beginning(of epoch: Int) -> LogicalClock { LogicalClock(epoch, 0) }

  package init(from decoder: any Decoder) throws {
    guard var pair = try? decoder.unkeyedContainer() else {
      self.init(0, try decoder.singleValueContainer().decode(UInt64.self))
      return
    }
    self.init(try pair.decode(Int.self), try pair.decode(UInt64.self))
    guard pair.isAtEnd else {
      throw DecodingError.dataCorruptedError(in: pair, debugDescription: "a clock has two numbers")
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var pair = encoder.unkeyedContainer()
    try pair.encode(epoch)
    try pair.encode(number)
  }

  package static func < (one: LogicalClock, other: LogicalClock) -> Bool {
    (one.epoch, one.number) < (other.epoch, other.number)
  }

  /// Whether it is one that the format allows.
  package var isInForm: Bool { epoch >= 0 && number > 0 && number < Self.end }

  /// Whether a clock that is so great may be accepted after `greatest`.
  package func isReachable(from greatest: LogicalClock) -> Bool {
    guard self > greatest else { return true }
    return number - (epoch == greatest.epoch ? greatest.number : 0) <= Self.leap
  }

  /// The clock of the next version.
  ///
  /// - Parameter published: the number of the newest list of members in the repository.
  package func next(in published: Int) throws(VaultError) -> LogicalClock {
    let before = max(self, .beginning(of: published))
    guard before.number < Self.end - 1 else {
      throw .invalidRequest("no further change can be shared before one of your computers joins or leaves")
    }
    return LogicalClock(before.epoch, before.number + 1)
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
