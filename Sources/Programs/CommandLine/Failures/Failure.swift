// How a command fails: what it says, and the exit status. Each error of another target becomes a `Failure` here.

import Fingerprint
internal import Glibc
internal import Moving
internal import PromptTexts
import SecretModel
import Wallets
import Whorl

/// A failure of a command. Its first line says what failed and what to do. `--verbose` and `--json` add its technical
/// names (``FailureReport``).
struct Failure: Error {
  var status: ExitStatus
  /// What failed.
  var what: String
  /// The `LAError` or `OSStatus` name.
  var name: String?
  /// What to do; nil if there is no advice.
  var advice: String?
  /// The same without the advice to run `whorl doctor`, for that command itself.
  var adviceOfDoctor: String?
  /// Technical details of the cause.
  var detail: String?
  /// The vault's error; nil for other failures.
  var cause: VaultError?
  /// Whether the vault ended during a call that changes nothing, so that the call can be repeated.
  var vaultHasEnded = false
  /// Whether it was reported on standard output, so that no line is printed.
  var isTold = false

  init(_ status: ExitStatus, _ what: String, name: String? = nil, advice: String? = nil, isTold: Bool = false) {
    self.status = status
    self.what = what
    self.name = name
    (self.advice, adviceOfDoctor) = (advice, advice)
    self.isTold = isTold
  }

  init(_ status: ExitStatus, _ explanation: Explanation, name: String? = nil) {
    self.init(status, explanation.what, name: name, advice: explanation.fullAdvice)
    (adviceOfDoctor, detail) = (explanation.advice, explanation.detail)
  }

  /// What failed, with technical details, for lists such as those of 'doctor' and 'status'.
  var words: String { detail.map { "\(what) (\($0))" } ?? what }

  /// Whether the items are closed: until the store's first unlock, or while the session is locked.
  var isOfClosedItems: Bool { if case .notUnlocked? = cause { true } else { false } }

  /// The printed line, without its newline.
  func line(command: String?) -> String {
    var line = "whorl: "
    if let command { line += "\(command): " }
    line += what
    if let advice { line += ": \(advice)" }
    return Visible.text(line)
  }

  static func usage(_ what: String, advice: String? = nil) -> Failure {
    Failure(.usage, what, name: "errSecParam", advice: advice)
  }

  /// The system has refused to read or write a file.
  ///
  /// - Parameters:
  ///   - what: what could not be done, with the path.
  ///   - code: its error number.
  static func onFile(_ what: String, _ code: Int32) -> Failure {
    Failure(
      .inputOutput, "\(what): \(String(cString: strerror(code)))",
      name: [ENOSPC, EDQUOT].contains(code) ? "errSecDiskFull" : "errSecIO",
      advice: Explanation.advice(onFileError: code))
  }

  /// A prompt that nobody can answer.
  static func interactionNotAllowed(_ what: String, advice: String) -> Failure {
    Failure(.refused, what, name: "errSecInteractionNotAllowed", advice: advice)
  }

  /// The failure was already printed on standard output.
  static let answered = Failure(.answered, "answered", isTold: true)

  /// A part of a source was not imported, as the report has listed.
  ///
  /// - Parameter isTold: whether the report was for a program, which reads the status.
  static func incomplete(isTold: Bool) -> Failure {
    Failure(
      .incomplete, "not everything was imported: the rest is listed above, with the reasons",
      advice: "correct that and import again: nothing is imported twice", isTold: isTold)
  }

  /// The person or a signal cancelled the command.
  static let cancelled = Failure(.refused, Explanation.cancelled, name: "LAError.userCancel")

  /// A mistake of Whorl's own.
  static func defect(_ error: any Error) -> Failure {
    Failure(.internalError, Explanation.defect("\(error)"), name: "errSecInternalError")
  }
}

extension Failure {
  /// The failure for each error of the vault.
  init(_ error: VaultError) {
    let described = error.described
    self.init(ExitStatus(described.kind), described.explanation, name: described.apple.name)
    cause = error
    vaultHasEnded =
      switch error {
      case .systemCancelled, .contextInvalidated: true
      default: false
      }
  }
}

extension VaultError {
  /// Whether the store's own key is lost, so that only the recovery key opens the store.
  var isLostDeviceKey: Bool {
    switch self {
    case .deviceKeyMissing, .credential, .tpm(.absent, _), .tpm(.changed, _), .tpm(.registersChanged, _),
      .tpm(.refused, _):
      true
    default: false
    }
  }
}

extension Failure {
  /// The failure for each error of a reader.
  init(_ error: ReaderError) {
    let described = error.described
    self.init(ExitStatus(described.kind), described.explanation, name: described.apple.name)
  }
}

extension Failure {
  /// The failure for each error of reading another program's secrets.
  init(_ error: ImportError) {
    let (status, name): (ExitStatus, String?) =
      switch error {
      case .missing: (.notFound, "errSecItemNotFound")
      case .malformed, .unreadable: (.damaged, "errSecDecode")
      case .unavailable: (.unavailable, nil)
      case .declined: (.refused, Failure.cancelled.name)
      case .ownService: (.refused, "errSecParam")
      case .system: (.inputOutput, "errSecIO")
      }
    self.init(status, error.explanation, name: name)
  }
}

extension Failure {
  /// The failure for each error of a wallet.
  init(_ error: WalletError) {
    let (status, name): (ExitStatus, String?) =
      switch error {
      case .missing: (.notFound, "errSecNoSuchKeychain")
      case .damaged: (.damaged, "errSecInvalidKeychain")
      case .withoutPassword, .unsupported, .foreign, .refused: (.refused, nil)
      case .wrongSecret: (.refused, "errSecAuthFailed")
      case .unsendable: (.usage, "errSecParam")
      case .program, .notRunning: (.unavailable, nil)
      case .noAnswer, .busy: (.tryAgain, nil)
      case .unverified, .copyUnverified: (.damaged, nil)
      case .system: (.inputOutput, "errSecIO")
      }
    self.init(status, error.explanation, name: name)
  }
}

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
