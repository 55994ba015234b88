import Glibc
internal import TerminalLines

/// Standard error, for everything but the result.
enum StandardError {
  static let isTerminal = isatty(STDERR_FILENO) == 1

  /// Ignores errors: there is nowhere to report them.
  static func write(_ text: String) {
    _ = writeAll(text, to: STDERR_FILENO)
  }

  static func line(_ text: String) {
    write(text + "\n")
  }
}

/// Standard output, for the result only.
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
