/// Why a message was not sent, not understood or not answered.
package enum BusError: Error, Sendable, Hashable {
  /// The peer answered with this D-Bus error.
  case remote(name: String, message: String)
  /// The connection ended before an answer came, or was closed already.
  case disconnected
  /// The caller's task was cancelled. An answer that still comes is dropped.
  case cancelled
  /// A message is larger than the connection's ``BusConnection/Limits`` allow.
  case tooLarge
  /// A message has a type this library does not carry.
  case malformed
  /// A call of libsystemd failed; the value is the positive errno.
  case system(Int32)
}

/// Turns sd-bus's negative errno into an error; gives the value back otherwise.
@discardableResult
func checked(_ result: Int32) throws(BusError) -> Int32 {
  guard result >= 0 else { throw BusError.system(-result) }
  return result
}
