import Foundation
import Testing

/// A program's definition of its commands, as ArgumentParser prints it.
private struct CommandHelp: Decodable {
  var commandName: String
  var abstract: String?
  var discussion: String?
  var subcommands: [CommandHelp]?

  /// The names of this command and all below it, each with its text.
  func texts(_ path: String = "") -> [(command: String, text: String)] {
    let path = path.isEmpty ? commandName : "\(path) \(commandName)"
    return [(path, discussion ?? "")] + (subcommands ?? []).flatMap { $0.texts(path) }
  }
}

@Suite("Commands in texts")
struct ShownCommandTests {
  private static let programs = [
    "whorl", "git", "sudo", "printf", "echo", "export", "rm", "systemctl", "apt", "make", "mkdir", "keepassxc-cli",
  ]

  /// A line that begins with a command.
  private func command(in line: Substring) -> Substring? {
    let words = line.drop { $0 == " " }
    return words.split(separator: " ").first.flatMap { Self.programs.contains(String($0)) ? words : nil }
  }

  /// The shell's syntax errors for a command, which is not run.
  private func complaint(about command: Substring) async throws -> String? {
    let checked = try await run("sh", "-n", "-c", String(command))
    return checked.status == 0 ? nil : "\(command): \(checked.errors)"
  }

  @Test("commands in the help of whorl are valid shell")
  func help() async throws {
    struct Dump: Decodable { var command: CommandHelp }
    let dump = try await run(
      Repository.products.appending(path: "whorl").path, "--experimental-dump-help")
    let texts = try JSONDecoder().decode(Dump.self, from: Data(dump.output.utf8)).command.texts()
    var count = 0
    for (name, text) in texts {
      for line in text.split(separator: "\n") where line.hasPrefix("  ") {
        guard let command = command(in: line) else { continue }
        count += 1
        // The command may be followed by a column with its description.
        let typed = command.firstRange(of: "   ").map { command[..<$0.lowerBound] } ?? command
        if let complaint = try await complaint(about: typed) { Issue.record("\(name): \(complaint)") }
      }
    }
    #expect(count > 100, "the help shows \(count) commands")
  }

  @Test("commands in the documents are valid shell")
  func documents() async throws {
    let folder = Repository.root.appending(path: "docs")
    let pages = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".md") }
    var count = 0
    for page in pages.map({ "docs/\($0)" }) + ["README.md", "SECURITY.md"] {
      // Without transcripts, whose indented lines are what a program has printed.
      let text = try Repository.text(page).replacing(/```[^`]*\n```/, with: "")
      // An indented block, or code in backquotes.
      let blocks = text.split(separator: "\n").filter { $0.hasPrefix("    ") }
      let inline = text.matches(of: /`([a-z]+ [^`\n]+)`/).map {
        $0.1.split(separator: "\\|").joined(separator: "|")[...]
      }
      for line in blocks + inline {
        guard let command = command(in: line), !command.contains("…") else { continue }
        count += 1
        if let complaint = try await complaint(about: command) { Issue.record("\(page): \(complaint)") }
        // People copy the whole line. A shell ignores text after a number sign.
        let column = command.firstRange(of: "   ").map { command[$0.lowerBound...].drop { $0 == " " } }
        #expect(column?.hasPrefix("#") ?? true, "\(page): \(command)")
      }
    }
    #expect(count > 100, "the documents show \(count) commands")
  }

  /// A quotation mark within a quoted command would look like its end to somebody who copies it.
  @Test("commands in messages contain no quotation mark of the kind around them")
  func messages() throws {
    let sources = Repository.root.appending(path: "Sources/Programs")
    let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter { $0.hasSuffix(".swift") }
    var count = 0
    for file in files {
      let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
      for shown in text.matches(of: /'((?:whorl|git|sudo|systemctl|rm) [^'\n]*)'(.?)/) {
        count += 1
        #expect(!"^(!{".contains(shown.2) && !shown.1.hasSuffix(" "), "\(file): \(shown.0)")
      }
    }
    #expect(count > 50, "messages show \(count) commands")
  }
}
