internal import CBOR

/// The answers of a command that its client asks for one by one, with the commands that go on.
struct Remainder {
  enum Kind { case assertions, relyingParties, credentials }

  /// How long the next command may take, in milliseconds.
  static let lifetime: UInt64 = 30_000

  let kind: Kind
  /// The client that began.
  let channel: UInt32
  private(set) var answers: ArraySlice<CBORValue>
  private var deadline: UInt64

  init(_ kind: Kind, _ answers: ArraySlice<CBORValue>, for channel: UInt32, at now: UInt64) {
    (self.kind, self.answers, self.channel) = (kind, answers, channel)
    deadline = now + Self.lifetime
  }

  /// The next answer; nil for another client, after the last, and where too much time has passed.
  mutating func next(_ kind: Kind, for channel: UInt32, at now: UInt64) -> CBORValue? {
    guard kind == self.kind, channel == self.channel, now < deadline else { return nil }
    deadline = now + Self.lifetime
    return answers.popFirst()
  }
}
