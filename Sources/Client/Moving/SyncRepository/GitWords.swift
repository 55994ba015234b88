internal import Primitives

/// Reads the messages of git and ssh, in English (`LC_ALL=C.UTF-8`).
enum GitWords {
  /// The line that says why git has failed: the first one that is neither a warning or hint nor from the remote.
  static func reason(in lines: [String]) -> String? {
    let telling = lines.filter { line in
      !line.allSatisfy(\.isWhitespace)
        && !["warning:", "Warning:", "hint:", "remote:", "Cloning", "To ", "From "].contains { line.hasPrefix($0) }
    }
    guard let line = telling.first else { return nil }
    let marks = ["fatal: ", "error: ", "ssh: "]
    let words = marks.first { line.hasPrefix($0) }.map { line.dropFirst($0.count) } ?? line[...]
    return String(words.hasSuffix(".") ? words.dropLast() : words)
  }

  /// Whether git, or a program that it has started here, has got no more memory.
  static func isOutOfMemory(_ lines: [String]) -> Bool {
    lines.contains { line in !line.hasPrefix("remote:") && line.lowercased().contains("out of memory") }
  }

  /// Whether git has not got through to the remote, or has not been let in. Another connection would fail as well.
  static func saysUnreachable(_ lines: [String]) -> Bool {
    let signs = [
      "Could not read from remote repository", "unable to access", "Authentication failed", "could not read Username",
      "could not read Password", "does not appear to be a git repository", "not allowed",
    ]
    return lines.contains { line in line.hasPrefix("fatal: ") && signs.contains { line.contains($0) } }
  }

  /// Whether the remote lets nobody in without an answer that only a person can type: the passphrase of a key, a
  /// password, or a yes to an unknown host.
  static func saysUnanswered(_ lines: [String]) -> Bool {
    let signs = [
      "Permission denied", "Authentication failed", "could not read Username", "could not read Password",
      "Host key verification failed",
    ]
    return lines.contains { line in !line.hasPrefix("remote:") && signs.contains { line.contains($0) } }
  }

  /// The algorithm of the names of the remote's objects, if git has failed because it is another one here.
  static func otherFormat(_ lines: [String]) -> ObjectFormat? {
    guard let line = lines.first(where: { $0.contains("mismatched algorithms: client ") }) else { return nil }
    return ObjectFormat.allCases.first { line.hasSuffix("server \($0.rawValue)") }
  }

  /// Whether a push has failed because the remote names its objects by another algorithm.
  static func refusesFormat(_ lines: [String]) -> Bool {
    lines.contains { $0.contains("does not support this repository's hash algorithm") }
  }

  /// The progress of a transfer: `Receiving objects:  45% (450/1000), 1.2 MiB`. Nil for other lines.
  static func progress(_ line: String) -> (done: Int, all: Int)? {
    guard line.hasPrefix("Receiving objects") || line.hasPrefix("Writing objects"),
      let numbers = line.firstMatch(of: /\(([0-9]{1,9})\/([0-9]{1,9})\)/),
      let done = OutsideNumber(digits: numbers.1)?.number(in: 0...Int.max),
      let all = OutsideNumber(digits: numbers.2)?.number(in: 0...Int.max)
    else { return nil }
    return (done, all)
  }

  /// Whether a line only shows the progress of a transfer.
  static func isProgress(_ line: String) -> Bool {
    let names = [
      "Receiving objects", "Resolving deltas", "Writing objects", "Compressing objects", "Counting objects",
      "Enumerating objects", "Unpacking objects", "Checking objects", "Delta compression", "Total ",
      "Checking connectivity",
    ]
    return names.contains { line.hasPrefix($0) }
  }
}
