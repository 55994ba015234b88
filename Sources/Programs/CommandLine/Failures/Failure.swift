internal import Glibc
internal import PromptTexts
import SecretModel

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
