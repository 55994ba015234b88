import Foundation
import Testing

/// A program's definition of its commands, as ArgumentParser prints it.
private struct CommandTree: Decodable {
  struct Argument: Decodable {
    struct Name: Decodable { var name: String }

    var names: [Name]?
    var shouldDisplay: Bool
  }

  var commandName: String
  var arguments: [Argument]?
  var subcommands: [CommandTree]?

  /// The commands below this one, without `help`.
  var commands: [CommandTree] { (subcommands ?? []).filter { $0.commandName != "help" } }
  var options: [String] { (arguments ?? []).filter(\.shouldDisplay).flatMap { ($0.names ?? []).map(\.name) } }

  static func of(_ program: String) async throws -> CommandTree {
    struct Dump: Decodable { var command: CommandTree }
    let dump = try await run(Repository.products.appending(path: program).path, "--experimental-dump-help")
    return try JSONDecoder().decode(Dump.self, from: Data(dump.output.utf8)).command
  }
}

@Suite("Manual pages and completions")
struct ManualTests {
  private func page(_ path: String) throws -> String { try Repository.text("data/man/\(path)") }

  @Test("each whorl command has a manual page with all its options; common options are on the page of whorl")
  func commandPages() async throws {
    let whorl = try await CommandTree.of("whorl")
    #expect(whorl.commands.count > 10)
    try await withTemporaryFolder { folder in
      let made = try await run(
        "scripts/generate-manual.py", Repository.products.appending(path: "whorl").path, folder.path)
      #expect(made.status == 0, "\(made.errors)")
      let main = try String(contentsOf: folder.appending(path: "whorl.1"), encoding: .utf8)
      for command in whorl.commands {
        #expect(main.contains("Xr whorl-\(command.commandName) 1"))
        let own = try String(contentsOf: folder.appending(path: "whorl-\(command.commandName).1"), encoding: .utf8)
        for option in ([command] + command.commands).flatMap(\.options) where option != "h" {
          let words = option.count == 1 ? "Fl \(option)" : "Fl -\(option)"
          #expect(own.contains(words) || main.contains(words), "\(command.commandName): \(option)")
        }
        for below in command.commands {
          #expect(own.contains("Ss whorl \(command.commandName) \(below.commandName)"))
        }
      }
      let pages = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(pages.count == whorl.commands.count + 1)
    }
  }

  @Test("the manual pages give no warnings in mandoc")
  func lint() async throws {
    try await withTemporaryFolder { folder in
      for program in ["whorl", "whorl-finger", "whorl-reader-kit", "whorl-gtk"] {
        _ = try await run("scripts/generate-manual.py", Repository.products.appending(path: program).path, folder.path)
      }
      let generated = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        .map { folder.appending(path: $0).path }
      let written = try FileManager.default.contentsOfDirectory(
        atPath: Repository.root.appending(path: "data/man").path
      ).filter { !$0.hasSuffix(".in") }.map { "data/man/\($0)" }
      #expect(generated.count > 10 && written.count > 3)
      let lint = try await run("mandoc", ["-T", "lint", "-W", "warning"] + generated + written)
      #expect(lint.status == 0, "\(lint.output)\(lint.errors)")
    }
  }

  @Test("the manual page of whorld.conf has exactly the settings of the service")
  func settings() throws {
    let source = try Repository.text("Sources/Vault/VaultHost/ServiceSettings.swift")
    let known = Set(source.matches(of: /\n {6}case "([a-z-]+)":/).map { String($0.1) })
    let told = Set(try page("whorld.conf.5").matches(of: /\n\.It Ic ([a-z-]+)/).map { String($0.1) })
    #expect(known.contains("reader"))
    #expect(told == known)
  }

  @Test("the manual pages of whorld and whorl-reader have exactly their options")
  func options() async throws {
    let help = try await run(Repository.products.appending(path: "whorld").path, "--help").output
    // Only the list is indented; the synopsis also contains options.
    let vault = Set(help.matches(of: #/\n +--([a-z]+)\ /#).map { String($0.1) })
    let told = Set(try page("whorld.8").matches(of: /\n\.It Fl -([a-z]+)/).map { String($0.1) })
    #expect(vault.contains("system"))
    #expect(told == vault)

    let source = try Repository.text("Sources/Programs/whorl-reader/ReaderProcessOptions.swift")
    let reader = Set(source.matches(of: /\n *case "--([a-z-]+)":/).map { String($0.1) })
    let toldOfReader = Set(try page("whorl-reader.8").matches(of: /\n\.It Fl -([a-z-]+)/).map { String($0.1) })
    #expect(reader.contains("unit-for"))
    #expect(toldOfReader == reader)
  }

  @Test("the manual page of whorl-agent has exactly its options")
  func agent() async throws {
    let agent = Set(try await CommandTree.of("whorl-agent").options).subtracting(["h", "help"])
    let told = Set(try page("whorl-agent.1").matches(of: /\n\.It Fl -([a-z-]+)/).map { String($0.1) })
    #expect(agent.contains("upstream"))
    #expect(told == agent)
  }

  @Test("help, manual page and document of whorl list the same exit statuses")
  func exitStatuses() async throws {
    let help = try await run(Repository.products.appending(path: "whorl").path, "help", "exit-statuses").output
    let manual = try page("whorl.1.in").matches(of: /\n\.It ([0-9]+)\n/).map { String($0.1) }
    let document = try Repository.text("docs/exit-statuses.md").matches(of: /\n\| ([0-9]+) \|/).map { String($0.1) }
    #expect(manual.first == "0" && manual.count > 8)
    #expect(document == manual)
    for status in manual { #expect(help.contains(" \(status)  "), "\(status)") }
    let listed = help.matches(of: /\n +([0-9]+) {2}/).map { String($0.1) }
    #expect(listed == manual)
  }

  @Test("whorl's manual page and docs/exit-statuses.md name every error that --verbose prints")
  func errorNames() throws {
    let manual = try page("whorl.1.in")
    let document = try Repository.text("docs/exit-statuses.md")
    let name = /"((?:errSec|LAError\.)\w+)"/
    var names: Set<String> = []
    for file in try Repository.files(
      under: ["Sources/Programs/CommandBase", "Sources/Programs/CommandLine"], extensions: ["swift"])
    {
      names.formUnion(try Repository.text(file).matches(of: name).map { String($0.1) })
    }
    // The names of Apple's errors for each error of the vault or of a reader.
    for file in try Repository.files(under: ["Sources/Vault/SecretModel"], extensions: ["swift"]) {
      let text = try Repository.text(file)
      names.formUnion(text.matches(of: /\.status\(\.(errSec\w+)/).map { String($0.1) })
      names.formUnion(text.matches(of: /\.authentication\(\.(\w+)\)/).map { "LAError.\($0.1)" })
    }
    #expect(names.count > 20)
    for each in names {
      #expect(manual.contains(each), "\(each)")
      #expect(document.contains("`\(each)`"), "\(each)")
    }
  }

  /// Each argument: the shell, and its option to check a script without running it.
  @Test(
    "completions of whorl name every command, and their shell accepts them", arguments: ["bash", "zsh", "fish"])
  func completions(shell: String) async throws {
    let whorl = try await CommandTree.of("whorl")
    let script = try await run(
      Repository.products.appending(path: "whorl").path, "--generate-completion-script", shell
    ).output
    for command in whorl.commands { #expect(script.contains(command.commandName), "\(command.commandName)") }
    guard try await run("which", shell).status == 0 else { return }
    try await withTemporaryFolder { folder in
      let file = folder.appending(path: "completions")
      try script.write(to: file, atomically: true, encoding: .utf8)
      let read = try await run(shell, "-n", file.path)
      #expect(read.status == 0, "\(read.errors)")
    }
  }
}
