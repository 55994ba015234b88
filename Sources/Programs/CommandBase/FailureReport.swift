internal import Prompts
package import Settings

// How a failure ends a command.
extension Failure {
  /// The printed line, without its newline.
  package func line(command: String?, of program: String = "whorl") -> String {
    var line = "\(program): "
    if let command { line += "\(command): " }
    line += what
    if let advice { line += ": \(advice)" }
    return Visible.text(line)
  }

  /// The failure was already printed on standard output.
  package static let answered = Failure(.answered, "answered", isTold: true)
}

/// The form of a failure on standard error: one line for a person; with `--verbose` a second line with technical names;
/// with `--json` one object on one line.
package struct FailureReport {
  private enum Form { case line, verbose, json }

  private let form: Form
  private let program: String
  /// The command's name.
  package var command: String?

  /// - Parameter words: the words of the command line. The form is needed even before, or without, successful parsing.
  package init(_ words: [String] = [], of program: String = "whorl") {
    self.program = program
    let own = words.prefix { $0 != "--" }
    form = own.contains("--json") ? .json : own.contains("--verbose") ? .verbose : .line
  }

  package func tell(_ failure: Failure) {
    guard !failure.isTold else { return }
    switch form {
    case .line: StandardError.line(failure.line(command: command, of: program))
    case .verbose: StandardError.line("\(failure.line(command: command, of: program))\n\(more(of: failure))")
    case .json:
      let text = try? JSON.text(Told(failure, command))
      StandardError.line(text ?? failure.line(command: command, of: program))
    }
  }

  private func more(of failure: Failure) -> String {
    let parts = [failure.name, "exit status \(failure.status.rawValue)", failure.detail].compactMap(\.self)
    return Visible.text("\(program): " + parts.joined(separator: ", "))
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
