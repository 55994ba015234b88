import CommandBase
import Settings

// How the findings of a survey are shown at the terminal, and in JSON.
extension Finding {
  /// The lines for a person, with the commands that are left.
  var setupLines: [String] {
    let mark =
      switch state {
      case .faulty: "warn"
      case .good: "ok  "
      case .open: "todo"
      case .failed, .later, .note: "    "
      }
    let below = offers.map { ShellLine.text($0.command) } + [advice].compactMap { $0 }
    return ["\(mark)  \(column(of: subject))\(words)"] + below.map { String(repeating: " ", count: 16) + $0 }
  }

  /// The lines for a finished step, with the command that undoes it.
  var wayBackLines: [String] {
    let below = [advice, wayBack.map { "undo: \($0)" }].compactMap { $0 }
    return ["  \(column(of: subject))\(words)"] + below.map { String(repeating: " ", count: 12) + $0 }
  }

  private func column(of name: String) -> String { name + String(repeating: " ", count: 10 - name.count) }
}

/// A finding of a survey in JSON.
struct SetupReport: Encodable {
  let step: String
  let state: String
  let words: String
  let commands: [[String]]
  let advice: String?
  let wayBack: String?

  init(_ finding: Finding) {
    (step, words, advice, wayBack) = (finding.subject, finding.words, finding.advice, finding.wayBack)
    commands = finding.offers.map(\.command)
    state =
      switch finding.state {
      case .good, .faulty: "done"
      case .open: "open"
      case .later: "later"
      case .failed, .note: "note"
      }
  }
}

extension SetupSurvey {
  /// The survey of a command, which says where readers may be missing.
  init(at session: Session) { self.init(session, onGap: UsableReaders.tell) }
}
