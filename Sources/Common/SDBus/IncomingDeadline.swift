internal import Primitives

/// The time limit for a peer to complete its authentication, or a message of which some bytes have arrived. A partial
/// message can hold descriptors of this process that are not counted, so it must not wait for ever.
struct IncomingDeadline {
  private let limit: UInt64
  private var started: UInt64?
  /// When this process has first noticed that the time has passed.
  private var noticed: UInt64?

  /// - Parameter limit: in microseconds.
  init(limit: UInt64) { self.limit = limit }

  /// The end of the peer's time, in microseconds of `CLOCK_MONOTONIC`.
  var end: UInt64 { noticed.map { $0 + LoopTimer.grace.microseconds } ?? started.map { $0 + limit } ?? .max }

  /// Whether the peer's time is over. It is not before `LoopTimer.grace` has passed since the first call that found it
  /// so: the rest may have arrived long ago, while this process could not run.
  mutating func isOver() -> Bool {
    let now = LoopClock.now
    guard end <= now else { return false }
    guard noticed == nil else { return true }
    noticed = now
    return false
  }

  /// Starts the time when the peer has sent the first part.
  mutating func start() {
    if started == nil { started = LoopClock.now }
  }

  /// Stops the time when the peer has sent the rest.
  mutating func stop() { (started, noticed) = (nil, nil) }

  /// Whether these bytes, which begin with the handshake, end within a message. sd-bus reads that part together with
  /// the handshake.
  static func endsWithinMessage(_ bytes: [UInt8]) -> Bool {
    let end = Array("BEGIN\r\n".utf8)
    guard let begin = bytes.indices.first(where: { bytes[$0...].starts(with: end) }) else { return false }
    var rest = bytes[(begin + end.count)...]
    while !rest.isEmpty {
      guard rest.count >= 16 else { return true }
      // The fixed part of a header: the length of the body at 4, and that of the fields at 12, which are padded to 8.
      let isLittle = rest[rest.startIndex] == UInt8(ascii: "l")
      func length(at offset: Int) -> Int {
        let digits = rest.dropFirst(offset).prefix(4)
        return Int(clamping: UInt32(bigEndian: isLittle ? Array(digits.reversed()) : Array(digits)))
      }
      let size = 16 + (length(at: 12) + 7) / 8 * 8 + length(at: 4)
      guard size <= rest.count else { return true }
      rest = rest.dropFirst(size)
    }
    return false
  }
}
