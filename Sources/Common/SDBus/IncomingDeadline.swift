/// How long a peer may leave something half sent: its authentication, or a message of which some bytes have arrived.
/// Such a message can hold descriptors of this process that nobody counts, so it must not wait for ever.
struct IncomingDeadline {
  private let limit: UInt64
  private var started: UInt64?

  /// - Parameter limit: in microseconds.
  init(limit: UInt64) { self.limit = limit }

  /// When the peer's time is over, in microseconds of `CLOCK_MONOTONIC`.
  var end: UInt64 { started.map { $0 + limit } ?? .max }

  var hasPassed: Bool { started != nil && end <= BusLoop.now }

  /// The peer has sent a part of something. Its time runs from the first part.
  mutating func start() {
    if started == nil { started = BusLoop.now }
  }

  /// The peer has sent the rest.
  mutating func stop() { started = nil }

  /// Whether more follows the end of the handshake in these bytes: the beginning of a message, which sd-bus reads with
  /// the handshake.
  static func goesOn(after handshake: [UInt8]) -> Bool {
    let end = Array("BEGIN\r\n".utf8)
    return handshake.indices.dropLast(end.count).contains { handshake[$0...].starts(with: end) }
  }
}
