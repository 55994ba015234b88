import Glibc

/// Standard error, where everything goes that is not the answer.
enum StandardError {
  static let isTerminal = isatty(STDERR_FILENO) == 1

  /// Nobody can be told that this failed.
  static func write(_ text: String) {
    _ = writeAll(text, to: STDERR_FILENO)
  }

  static func line(_ text: String) {
    write(text + "\n")
  }
}

/// Standard output, where the answer goes and nothing else.
enum StandardOutput {
  static let isTerminal = isatty(STDOUT_FILENO) == 1

  static func write(_ text: String) throws(Failure) {
    if let code = writeAll(text, to: STDOUT_FILENO) { throw .cannotWrite(code) }
  }

  static func line(_ text: String) throws(Failure) {
    try write(text + "\n")
  }
}

extension Failure {
  static func cannotRead(_ what: String, _ code: Int32) -> Failure {
    Failure(
      .inputOutput, "cannot read \(what): \(String(cString: strerror(code)))", name: "errSecIO",
      advice: "see where it is redirected from")
  }

  static func cannotWrite(_ code: Int32) -> Failure {
    Failure(
      .inputOutput, "cannot write: \(String(cString: strerror(code)))", name: "errSecIO",
      advice: "see where the output goes, and whether there is room")
  }
}

/// Writes all of it; returns `errno` of what failed.
func writeAll(_ text: String, to descriptor: Int32) -> Int32? {
  var text = text
  return text.withUTF8 { bytes in
    var rest = bytes[...]
    while !rest.isEmpty {
      // Borrows the rest for the call.
      let count = Glibc.write(
        descriptor, UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[rest.indices]).baseAddress,
        rest.count)
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&entry, 1, -1)
      } else if errno != EINTR {
        return errno
      }
    }
    return nil
  }
}
