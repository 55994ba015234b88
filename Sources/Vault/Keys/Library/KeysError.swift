internal import COpenSSL

/// Why a cryptographic operation failed.
package enum KeysError: Error, Sendable, Hashable {
  /// The box, its key or its additional data is wrong. It is not possible to tell which.
  case authenticationFailed
  /// A parameter is not allowed. The value says which one and never contains secret bytes.
  case badParameters(String)
  /// libcrypto failed. The value is its message.
  case library(String)
  /// The system's random number generator failed.
  case random

  /// Removes all libcrypto errors from this thread's queue, so that no later call reports them, and returns the first
  /// one, which is the cause.
  static func drainLibrary(_ operation: String) -> KeysError {
    let code = ERR_get_error()
    ERR_clear_error()
    guard code != 0 else { return .library("\(operation) failed") }
    let reason = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
      // Writes at most the given number of bytes into the borrowed buffer, with a terminating NUL.
      ERR_error_string_n(code, text.baseAddress, text.count)
      return text.baseAddress.map { String(cString: $0) } ?? ""
    }
    return .library("\(operation) failed: \(reason)")
  }
}
