internal import Glibc

/// The rules of a PAM service, read from its files in `/etc/pam.d` with every `@include`, `include` and `substack`
/// followed.
package struct PAMStack: Sendable {
  /// The four kinds of rules.
  package enum Kind: String, Sendable, CaseIterable {
    case auth, account, password, session
  }

  /// One rule.
  package struct Rule: Sendable, Hashable {
    package let kind: Kind
    /// The control field: a word, or text in brackets.
    package let control: String
    /// The name of the module's file, without its folder.
    package let module: String
    package let arguments: [String]
    /// The file that has the rule, and its line there, from 1.
    package let file: String
    package let line: Int
  }

  /// The rules of all kinds, in the order in which they are written.
  package let rules: [Rule]

  /// Reads the stack of a service; nil if none of the folders has a file for it.
  ///
  /// - Parameter folders: searched in this order; the first file of the service is read.
  package init?(service: String, in folders: [String]) {
    var reader = Reader(folders: folders)
    guard reader.read(service, nil, depth: 0) else { return nil }
    rules = reader.rules
  }

  /// The rules of a kind.
  package func rules(of kind: Kind) -> [Rule] { rules.filter { $0.kind == kind } }

  private struct Reader {
    /// The depth of includes that Linux-PAM itself follows.
    private static let depthLimit = 32
    private static let sizeLimit = 1 << 20

    let folders: [String]
    var rules: [Rule] = []

    /// Reads the rules of one kind, or of all, from a file; false if it does not exist.
    mutating func read(_ name: String, _ kind: Kind?, depth: Int) -> Bool {
      guard depth < Self.depthLimit, let (path, text) = contents(of: name) else { return false }
      var number = 0
      var start = 1
      var whole = ""
      for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        number += 1
        if whole.isEmpty { start = number }
        let part = line.prefix { $0 != "#" }
        if part.hasSuffix("\\") {
          whole += part.dropLast() + " "
          continue
        }
        take(words(of: whole + part), kind, path, start, depth)
        whole = ""
      }
      take(words(of: whole), kind, path, start, depth)
      return true
    }

    private mutating func take(_ words: [String], _ wanted: Kind?, _ path: String, _ line: Int, _ depth: Int) {
      guard let first = words.first else { return }
      if first == "@include" {
        if words.count > 1 { _ = read(words[1], wanted, depth: depth + 1) }
        return
      }
      // The dash before a kind only means that a missing module is not logged.
      guard let kind = Kind(rawValue: String(first.drop { $0 == "-" }).lowercased()), words.count > 2,
        wanted == nil || wanted == kind
      else { return }
      if ["include", "substack"].contains(words[1]) {
        _ = read(words[2], kind, depth: depth + 1)
        return
      }
      let module = words[2].split(separator: "/").last.map(String.init) ?? words[2]
      rules.append(
        Rule(
          kind: kind, control: words[1], module: module, arguments: Array(words.dropFirst(3)), file: path, line: line))
    }

    /// The words of a line. Text in brackets is one word.
    private func words(of line: String) -> [String] {
      var words: [String] = []
      var word = ""
      var isBracketed = false
      for character in line {
        if isBracketed {
          if character == "]" { isBracketed = false }
          word.append(character)
        } else if character.isWhitespace {
          if !word.isEmpty { words.append(word) }
          word = ""
        } else {
          if character == "[", word.isEmpty { isBracketed = true }
          word.append(character)
        }
      }
      if !word.isEmpty { words.append(word) }
      return words
    }

    private func contents(of name: String) -> (path: String, text: String)? {
      let paths = name.hasPrefix("/") ? [name] : folders.map { "\($0)/\(name)" }
      for path in paths {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { continue }
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while bytes.count < Self.sizeLimit {
          // Borrows the chunk for the call and writes at most its length.
          let count = chunk.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress, $0.count) }
          guard count > 0 else { break }
          bytes += chunk[..<count]
        }
        return (path, String(decoding: bytes, as: UTF8.self))
      }
      return nil
    }
  }
}
