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

  /// The progress of a transfer: `Receiving objects:  45% (450/1000), 1.2 MiB`. Nil for other lines.
  static func progress(_ line: String) -> (done: Int, all: Int)? {
    guard line.hasPrefix("Receiving objects") || line.hasPrefix("Writing objects"),
      let numbers = line.firstMatch(of: /\(([0-9]{1,9})\/([0-9]{1,9})\)/), let done = Int(numbers.1),
      let all = Int(numbers.2)
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
