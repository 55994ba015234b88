internal import CBOR

/// The answers of an enumeration after the first. The client fetches each with a command of its own.
struct Remainder {
  enum Kind { case assertions, relyingParties, credentials }

  /// The time limit for the next command, in milliseconds.
  static let lifetime: UInt64 = 30_000

  let kind: Kind
  /// The client that began the enumeration.
  let channel: UInt32
  private(set) var answers: ArraySlice<CBORValue>
  private var deadline: UInt64

  init(_ kind: Kind, _ answers: ArraySlice<CBORValue>, for channel: UInt32, at now: UInt64) {
    (self.kind, self.answers, self.channel) = (kind, answers, channel)
    deadline = now + Self.lifetime
  }

  /// The next answer; nil for another client, after the last one, and after the time limit.
  mutating func next(_ kind: Kind, for channel: UInt32, at now: UInt64) -> CBORValue? {
    guard kind == self.kind, channel == self.channel, now < deadline else { return nil }
    deadline = now + Self.lifetime
    return answers.popFirst()
  }
}
