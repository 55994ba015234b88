/// A program's desktop file (desktop-entry-spec).
struct DesktopFile {
  /// The untranslated name.
  let name: String
  /// The name or the path of an icon.
  let icon: String?
  /// The command line, split into words; empty if there is none.
  let command: [String]

  /// Nil for a file that describes no program, or is marked as removed.
  init?(_ text: String) {
    var values: [Substring: String] = [:]
    var isInEntry = false
    for line in text.split(separator: "\n") {
      if line.hasPrefix("[") {
        // Only the first group of this name counts; actions have groups of their own.
        if isInEntry { break }
        isInEntry = line.trimmed == "[Desktop Entry]"
        continue
      }
      guard isInEntry, !line.hasPrefix("#"), let sign = line.firstIndex(of: "=") else { continue }
      let key = line[..<sign].trimmed
      if values[key] == nil { values[key] = Self.unescaped(line[line.index(after: sign)...].trimmed) }
    }
    guard values["Type"] == "Application", values["Hidden"] != "true", let name = values["Name"], !name.isEmpty else {
      return nil
    }
    self.name = name
    icon = values["Icon"].flatMap { $0.isEmpty ? nil : $0 }
    command = Self.words(values["Exec"] ?? "")
  }

  /// Whether its command has only options and placeholders for files. Another argument may be a script, or a program
  /// that an interpreter or `flatpak run` starts.
  var startsProgramAlone: Bool {
    command.dropFirst().allSatisfy { word in
      word.hasPrefix("%") && word.unicodeScalars.count == 2 || word.hasPrefix("-") && !word.contains("=")
    }
  }

  private static func unescaped(_ value: Substring) -> String {
    var text = ""
    var rest = value[...]
    while let character = rest.popFirst() {
      guard character == "\\", let kind = rest.popFirst() else {
        text.append(character)
        continue
      }
      switch kind {
      case "s": text.append(" ")
      case "n": text.append("\n")
      case "t": text.append("\t")
      case "r": text.append("\r")
      default: text.append(kind)
      }
    }
    return text
  }

  /// The words of a command line, with quotation marks resolved.
  private static func words(_ line: String) -> [String] {
    var words: [String] = []
    var word: String?
    var isQuoted = false
    var rest = line[...]
    while let character = rest.popFirst() {
      switch character {
      case "\"":
        isQuoted.toggle()
        word = word ?? ""
      case "\\" where isQuoted:
        if let next = rest.popFirst() { word = (word ?? "") + String(next) }
      case " " where !isQuoted:
        if let ended = word { words.append(ended) }
        word = nil
      default: word = (word ?? "") + String(character)
      }
    }
    if let word { words.append(word) }
    return words
  }
}

extension Substring {
  fileprivate var trimmed: Substring {
    var rest = drop { $0.isWhitespace }
    while rest.last?.isWhitespace == true { rest.removeLast() }
    return rest
  }
}
