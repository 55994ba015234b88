/// Why a message could not be sent or read, or was not answered.
package enum BusError: Error, Sendable, Hashable {
  /// The peer answered with this D-Bus error. `message` is its first argument, and `details` are the arguments after it.
  case remote(name: String, message: String, details: [BusValue] = [])
  /// The connection ended before an answer came.
  case disconnected
  /// The connection had ended already, and the message was not sent.
  case notSent
  /// The caller's task was cancelled. A later answer is dropped.
  case cancelled
  /// A message is larger than the connection's ``BusLimits`` allow.
  case tooLarge
  /// A message contains a type that ``BusValue`` does not support.
  case malformed
  /// A call of libsystemd failed; the value is the positive errno.
  case system(Int32)
}

/// Throws if `result` is one of sd-bus's negative errno values; returns it otherwise.
@discardableResult
func checked(_ result: Int32) throws(BusError) -> Int32 {
  guard result >= 0 else { throw BusError.system(-result) }
  return result
}
