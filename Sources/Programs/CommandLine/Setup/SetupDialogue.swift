import CommandBase
internal import Prompts
import Settings

/// The messages and prompts of `whorl setup` at the terminal.
struct SetupDialogue {
  let terminal: Terminal

  /// The message after Ctrl-C and Esc.
  static let goesOn = "'whorl setup' goes on from here"

  /// Prints lines after an empty one.
  func tell(_ lines: String...) {
    StandardError.line("")
    for line in lines { add(line) }
  }

  /// Prints a line that belongs to the one before.
  func add(_ line: String) { StandardError.line(Visible.text(line)) }

  /// Asks until the answer is a yes or a no. Enter takes the standard answer, and the end of input is a no.
  func isChosen(_ question: String, standard: Bool = false) throws(Failure) -> Bool {
    while true {
      guard let answer = try line("\(question) \(standard ? "[Y/n]" : "[y/N]")") else { return false }
      switch answer.lowercased() {
      case "": return standard
      case "y", "yes": return true
      case "n", "no": return false
      default: add("Please answer y or n.")
      }
    }
  }

  /// A line without spaces around it; nil at the end of input.
  func line(_ question: String) throws(Failure) -> String? {
    try asked { () throws(Unanswered) in
      try terminal.readLine(Visible.text(question)).map { line in
        let words = line.drop { $0 == " " || $0 == "\t" }
        return String(words.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
      }
    }
  }

  /// Waits for Enter. False after the time limit.
  func isEntered(within limit: Duration) throws(Failure) -> Bool {
    try asked { () throws(Unanswered) in try terminal.isEntered(within: limit) }
  }

  /// Runs a prompt. Cancelling it ends the setup, but undoes nothing.
  func asked<Answer: ~Copyable>(_ question: () throws(Unanswered) -> Answer) throws(Failure) -> Answer {
    do {
      return try question()
    } catch {
      guard case .cancelled = error else { throw Failure(error) }
      throw .stopped
    }
  }
}

extension Failure {
  /// The person ended the setup at a prompt.
  static let stopped = Failure(.refused, "stopped", name: "LAError.userCancel", advice: SetupDialogue.goesOn)
}
