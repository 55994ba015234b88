internal import COpenSSL

/// Why a cryptographic operation gave no result.
package enum KeysError: Error, Sendable, Hashable {
  /// The box, its key or its additional data is not what was sealed. Which of them cannot be told.
  case authenticationFailed
  /// Something handed in is outside what is allowed; the value says what. Never holds secret bytes.
  case badParameters(String)
  /// libcrypto failed, in its words.
  case library(String)
  /// The system's random number generator failed.
  case random

  /// Empties this thread's queue of libcrypto errors, so that none is taken for a later call's, and keeps the first,
  /// which is the cause.
  static func drainLibrary(_ operation: String) -> KeysError {
    let code = ERR_get_error()
    ERR_clear_error()
    guard code != 0 else { return .library("\(operation) failed") }
    let reason = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
      // Writes at most the given number of bytes into the borrowed buffer, always terminated.
      ERR_error_string_n(code, text.baseAddress, text.count)
      return text.baseAddress.map { String(cString: $0) } ?? ""
    }
    return .library("\(operation) failed: \(reason)")
  }
}
