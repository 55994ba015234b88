internal import SDBus

/// The signals that a connection has received, kept until somebody waits for one.
final class SecretServiceSignals: Sendable {
  private let stream: AsyncStream<BusSignal>
  private let continuation: AsyncStream<BusSignal>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream() }

  func add(_ signal: BusSignal) { continuation.yield(signal) }

  func end() { continuation.finish() }

  /// The next signal of an object; nil if the connection ends first. Earlier signals of other objects are dropped.
  func first(from sender: String, path: String) async -> BusSignal? {
    for await signal in stream where signal.sender == sender && signal.path == path { return signal }
    return nil
  }
}
