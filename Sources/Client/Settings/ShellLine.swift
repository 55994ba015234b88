internal import Processes

/// A command in shell syntax.
package enum ShellLine {
  package static func text(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

  private static func quoted(_ word: String) -> String {
    let isPlain =
      !word.isEmpty
      && word.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "_@%+=:,./-".utf8.contains(byte)
        }
      }
    return isPlain
      ? word : "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
  }
}

/// A command of the system that only answers a question, by its status.
package enum Question {
  /// Whether it ends with status 0, run without output; nil if there is no such program.
  package static func isTrue(_ words: [String]) -> Bool? {
    guard let command = try? ForegroundCommand(words[0], words, isQuiet: true) else { return nil }
    let status = command.status()
    return status == notFound ? nil : status == 0
  }

  /// The status of a shell that finds no program.
  private static let notFound: Int32 = 127
}
