internal import Prompts
import Settings

// How a failure ends a command.
extension Failure {
  /// The printed line, without its newline.
  func line(command: String?) -> String {
    var line = "whorl: "
    if let command { line += "\(command): " }
    line += what
    if let advice { line += ": \(advice)" }
    return Visible.text(line)
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
}
