internal import CSystemd

/// Limits the time for a client to complete its handshake, or a message of which sd-bus has read a part.
struct PartialInput {
  private var deadline: IncomingDeadline
  /// The bytes that the client sent before the handshake was complete. sd-bus may read a part of the first message with
  /// them.
  private var handshake: [UInt8]
  private var isInHandshake = true
  /// Whether sd-bus has the beginning of a message from the handshake, and has read nothing since.
  private var beginsInHandshake = false

  /// - Parameters:
  ///   - limit: the client's time in microseconds.
  ///   - handshake: the bytes in the socket before sd-bus read from it.
  init(limit: UInt64, handshake: [UInt8]) {
    deadline = IncomingDeadline(limit: limit)
    self.handshake = handshake
  }

  /// The end of the client's time, in microseconds of `CLOCK_MONOTONIC`.
  var end: UInt64 { deadline.end }

  /// Whether the client's time is over. Call it after reading what has arrived.
  mutating func isOver() -> Bool { deadline.isOver() }

  /// Starts the time for the handshake.
  mutating func awaitHandshake() { deadline.start() }

  /// Whether bytes of the client wait in the socket. Keeps those of the handshake.
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

  /// Notes that bytes of the client were read. Without a result they are a part of a message.
  mutating func wasRead(withResult: Bool) {
    if withResult { deadline.stop() } else { deadline.start() }
    beginsInHandshake = false
  }

  /// Notes that a message was complete with the bytes read before.
  mutating func gaveMessage() {
    if !beginsInHandshake { deadline.stop() }
  }
}
