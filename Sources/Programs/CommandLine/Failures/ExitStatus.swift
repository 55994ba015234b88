import SecretModel

/// The program's exit statuses (from `sysexits.h` where it has one).
enum ExitStatus: Int32, CaseIterable {
  case done = 0
  /// The failure is on standard output, in words that docker recognizes.
  case answered = 1
  case usage = 64
  case damaged = 65
  case notFound = 66
  case unavailable = 69
  case internalError = 70
  case exists = 73
  case inputOutput = 74
  case tryAgain = 75
  case refused = 77
  case configuration = 78
  /// The first status above those of `sysexits.h`.
  case incomplete = 79
  /// The same status as in shells.
  case cannotExecute = 126
  /// The same status as in shells.
  case commandNotFound = 127

  /// For `whorl help exit-statuses`.
  var meaning: String {
    switch self {
    case .done: "done"
    case .answered: "docker-credential only: what failed is on standard output, for docker"
    case .usage: "wrong usage"
    case .damaged: "damaged or tampered data"
    case .notFound: "no such item, finger, reader or store"
    case .unavailable: "the reader or the service is unavailable"
    case .internalError: "internal error"
    case .exists: "exists already"
    case .inputOutput: "input or output failed"
    case .tryAgain: "busy or timed out: try again"
    case .refused: "refused: no match, cancelled, locked out, wrong passcode, fingers changed, or nobody could be asked"
    case .configuration: "bad configuration"
    case .incomplete: "import only: done, except for the listed entries"
    case .cannotExecute: "run only: the command cannot be executed"
    case .commandNotFound: "run only: the command was not found"
    }
  }
}

extension ExitStatus {
  /// The status for a kind of failure.
  init(_ kind: FailureKind) {
    self =
      switch kind {
      case .usage: .usage
      case .damaged: .damaged
      case .notFound: .notFound
      case .unavailable: .unavailable
      case .internalError: .internalError
      case .exists: .exists
      case .inputOutput: .inputOutput
      case .tryAgain: .tryAgain
      case .refused: .refused
      case .configuration: .configuration
      }
  }
}
