internal import Glibc

extension BusError {
  /// What has happened, as the words after a colon.
  package var words: String {
    switch self {
    case .remote(_, let message, _): message
    case .system(let code): String(cString: strerror(code))
    case .disconnected, .notSent, .cancelled: "the connection ended"
    case .tooLarge, .malformed: "an answer is not valid"
    }
  }
}
