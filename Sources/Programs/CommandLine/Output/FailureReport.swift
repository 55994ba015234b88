internal import PromptTexts

/// The form of a failure on standard error: one line for a person; with `--verbose` a second line with technical names;
/// with `--json` one object on one line.
struct FailureReport {
  private enum Form { case line, verbose, json }

  private let form: Form
  /// The command's name.
  var command: String?

  /// - Parameter words: the words of the command line. The form is needed even before, or without, successful parsing.
  init(_ words: [String] = []) {
    let own = words.prefix { $0 != "--" }
    form = own.contains("--json") ? .json : own.contains("--verbose") ? .verbose : .line
  }

  func tell(_ failure: Failure) {
    guard !failure.isTold else { return }
    switch form {
    case .line: StandardError.line(failure.line(command: command))
    case .verbose: StandardError.line("\(failure.line(command: command))\n\(Self.more(of: failure))")
    case .json:
      let text = try? JSON.text(Told(failure, command))
      StandardError.line(text ?? failure.line(command: command))
    }
  }

  private static func more(of failure: Failure) -> String {
    let parts = [failure.name, "exit status \(failure.status.rawValue)", failure.detail].compactMap(\.self)
    return Visible.text("whorl: " + parts.joined(separator: ", "))
  }

  private struct Told: Encodable {
    var error: String
    var advice: String?
    var detail: String?
    var name: String?
    var status: Int32
    var command: String?

    init(_ failure: Failure, _ command: String?) {
      (error, advice, detail) = (failure.what, failure.advice, failure.detail)
      (name, status, self.command) = (failure.name, failure.status.rawValue, command)
    }
  }
}
