internal import CSystemd

/// Notices what a client has left half sent: its handshake, or a message of which sd-bus has read a part. The client's
/// time for the rest is limited.
struct PartialInput {
  private var deadline: IncomingDeadline
  /// What the client has sent before the handshake was complete. sd-bus may read a part of the first message with it.
  private var handshake: [UInt8]
  private var isInHandshake = true
  /// Whether sd-bus has the beginning of a message from there, and nothing was read since.
  private var beginsInHandshake = false

  /// - Parameters:
  ///   - limit: the client's time in microseconds.
  ///   - handshake: what waited in the socket before sd-bus read from it.
  init(limit: UInt64, handshake: [UInt8]) {
    deadline = IncomingDeadline(limit: limit)
    self.handshake = handshake
  }

  /// When the client's time is over, in microseconds of `CLOCK_MONOTONIC`.
  var end: UInt64 { deadline.end }

  var hasPassed: Bool { deadline.hasPassed }

  /// The time for the handshake begins.
  mutating func awaitHandshake() { deadline.start() }

  /// Whether bytes of the client wait in the socket. Those of the handshake are kept.
  mutating func waits(in socket: Int32) -> Bool {
    let input = BusOpening.peek(socket, count: isInHandshake ? 1_024 : 1)
    if isInHandshake, handshake.count < 4_096 { handshake += input }
    return !input.isEmpty
  }

  mutating func endHandshake() {
    isInHandshake = false
    beginsInHandshake = IncomingDeadline.endsWithinMessage(handshake)
    if !beginsInHandshake { deadline.stop() }
    handshake = []
  }

  /// Bytes of the client were read. Without a result they are a part of a message.
  mutating func wasRead(withResult: Bool) {
    if withResult { deadline.stop() } else { deadline.start() }
    beginsInHandshake = false
  }

  /// A message came of what was read before.
  mutating func gaveMessage() {
    if !beginsInHandshake { deadline.stop() }
  }
}
