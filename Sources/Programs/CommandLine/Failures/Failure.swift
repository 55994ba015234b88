import Whorl

/// The program's exit statuses (from `sysexits.h` where it has one).
enum ExitStatus: Int32 {
  case done = 0
  /// `docker-credential`: what failed is on standard output, in words that docker knows.
  case answered = 1
  case usage = 64
  /// Damaged or tampered data.
  case damaged = 65
  /// No such item, finger, reader or store.
  case notFound = 66
  /// The reader cannot be used.
  case unavailable = 69
  case internalError = 70
  case exists = 73
  case inputOutput = 74
  /// Busy or timed out: try again.
  case tryAgain = 75
  /// No match, cancelled, locked out, wrong passcode, set changed, interaction not allowed.
  case refused = 77
  case configuration = 78
  /// `import`: done, but something of the source stayed behind. The first status above those of `sysexits.h`.
  case incomplete = 79
  /// `run`: the command cannot be executed. The same status as in shells.
  case cannotExecute = 126
  /// `run`: the command was not found. The same status as in shells.
  case commandNotFound = 127
}

/// A failure of a command. It is printed as one line: what failed, Apple's name of the error if there is one, and what
/// to do.
struct Failure: Error {
  var status: ExitStatus
  /// What failed.
  var what: String
  /// The `LAError` or `OSStatus` name.
  var name: String?
  /// What to do; nil where there is nothing to say.
  var advice: String?
  /// Whether the vault ended during a call that changes nothing, so that the call can be repeated.
  var vaultHasEnded = false
  /// Whether standard output has told it, so that no line follows.
  var isTold = false

  init(_ status: ExitStatus, _ what: String, name: String? = nil, advice: String? = nil, isTold: Bool = false) {
    self.status = status
    self.what = what
    self.name = name
    self.advice = advice
    self.isTold = isTold
  }

  /// What failed, with the name.
  var words: String { name.map { "\(what) [\($0)]" } ?? what }

  /// The printed line, without its newline.
  func line(command: String?) -> String {
    var line = "whorl: "
    if let command { line += "\(command): " }
    line += words
    if let advice { line += ": \(advice)" }
    return Visible.text(line)
  }

  static func usage(_ what: String, advice: String? = nil) -> Failure {
    Failure(.usage, what, name: "errSecParam", advice: advice)
  }

  /// A question that nobody can answer.
  static func interactionNotAllowed(_ what: String, advice: String) -> Failure {
    Failure(.refused, what, name: "errSecInteractionNotAllowed", advice: advice)
  }

  /// What failed was said on standard output already.
  static let answered = Failure(.answered, "answered", isTold: true)

  /// Something of a source was not brought in. The report has told what.
  ///
  /// - Parameter isTold: whether the report was for a program, which reads the status.
  static func incomplete(isTold: Bool) -> Failure {
    Failure(
      .incomplete, "not everything was brought in: what stayed is listed above, with the reason",
      advice: "put that right and import again, which brings in nothing twice", isTold: isTold)
  }

  /// The person or a signal cancelled the command.
  static let cancelled = Failure(.refused, "cancelled", name: "LAError.userCancel", advice: "run it again")
}
