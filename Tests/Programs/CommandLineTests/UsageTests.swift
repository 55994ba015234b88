import Glibc
import ProgramDriver
import Testing

@Suite("Usage, help and configuration")
struct UsageTests {
  @Test("global options are accepted before the command's name, also before a command that runs another")
  func leadingOptions() async throws {
    try await TestStore.with { store in
      try await store.set("n", "kept", "--access", "none")
      let got = try await Invocation(arguments: ["--store", store.directory, "get", "n"]).run()
      #expect(got.text == "kept")
      let listed = try await Invocation(arguments: ["--json", "--store=\(store.directory)", "ls"]).run()
      #expect(listed.text.contains(#""service":"n""#))
      let words = ["--store", store.directory, "run", "--env", "A=n", "--", "/bin/sh", "-c", "echo $A"]
      #expect(try await Invocation(arguments: words).run().text == "kept\n")
      #expect(try await Invocation(arguments: ["--store"]).run().status == 64)
      let twice = ["--store", "/nonexistent", "get", "n", "--store", store.directory]
      #expect(try await Invocation(arguments: twice).run().text == "kept", "the last one counts")
      let grouped = ["--store", store.directory, "reader", "use", "auto", "--passcode-fd", "3"]
      let used = try await Invocation(arguments: grouped, descriptors: ["\(TestStore.passcode)\n"]).run()
      #expect(used.status == 0, "\(used.diagnostics)")
    }
  }

  @Test(
    "wrong usage gives status 64 and one line",
    arguments: [
      ["get"], ["frobnicate"], ["get", "a", "--bogus"], ["set"], ["set", "a", "--access", "sometimes"],
      ["enroll", "sixth-finger"], ["unenroll"], ["unenroll", "--all", "left-thumb"], ["run", "--", "true"],
      ["run", "--env", "A=b"], ["run", "--env-file", "a"], ["inject", "a"], ["inject", "--replace"], ["code"],
      ["run", "--env", "1A=b", "--", "true"], ["run", "--env", "A", "--", "true"],
      ["run", "--env", "A=b", "--env", "A=c", "--", "true"], ["get", "a", "--timeout", "0"],
      ["ls", "--reader", "virtual-image"], ["init", "--no-passcode", "--passcode-fd", "3"],
      ["reader", "test"], ["reader", "use", "elsewhere"],
      ["get", "a", "--json", "--null"], ["passcode", "--yes"],
      ["log", "--since", "yesterday"], ["log", "--since", "2026-13-01"], ["log", "-n", "0"],
      ["migrate", "--store", "/tmp/a"], ["migrate", "--remove-old", "--dry-run"],
      ["migrate", "--enroll", "right-index", "--dry-run"],
      ["ssh", "add", "--import", "/tmp/a", "--type", "ed25519"], ["login", "enable", "kwallet", "--anyway"],
      ["login", "enable", "passcode", "--sealed-under", "recovery-key"],
      ["init", "--no-passcode", "--allow-guessable"], ["passcode", "--remove", "--allow-guessable"],
      ["recover", "--new-key", "--allow-guessable"],
      ["login", "enable", "passcode", "--password-fd", "3"], ["login", "disable", "kwallet", "--recovery-fd", "3"],
      ["login", "disable", "passcode", "--password-fd", "3"],
      ["import"], ["import", "--from", "csv"], ["import", "--from", "secret-service", "file"],
      ["import", "file", "--access", "none"], ["import", "--from", "csv", "file", "--skip-bound"], ["export"],
      ["export", "file", "--to", "age1"], ["secret-service", "gate"],
      ["secret-service", "gate", "--access", "none"], ["secret-service", "ungate", "--program", "sh"],
    ])
  func usage(_ arguments: [String]) async throws {
    let result = try await Invocation(arguments: arguments).run()
    #expect(result.status == 64, "\(result.diagnostics)")
    #expect(result.output.isEmpty)
    #expect(result.diagnostics.split(separator: "\n").count == 1, "\(result.diagnostics)")
    guard !arguments.contains("--json") else { return }
    #expect(result.diagnostics.hasPrefix("whorl: "))
    #expect(PlainWords.foreign(in: result.diagnostics) == [], "\(result.diagnostics)")
  }

  private static let commands = [
    "init", "setup", "enroll", "fingers", "unenroll", "set", "get", "ls", "rm", "run", "inject", "code", "unlock",
    "lock",
    "passcode", "recover", "reseal", "status", "log", "migrate", "export", "import", "key", "backup", "restore",
    "git-credential",
    "docker-credential", "pinentry", "gpg enable", "gpg disable", "gpg status", "doctor",
    "browser enable", "browser disable", "browser status", "browser list", "browser forget", "browser host",
    "age add", "age list", "age rm", "age public", "age identity", "age-plugin", "mcp",
    "reader list", "reader use", "admin list", "admin remove", "login status",
    "login enable", "login disable", "login open", "login repair",
    "login add", "login ls", "login rm", "ssh add", "ssh list", "ssh rm", "ssh public", "ssh certificate",
    "ssh enable", "ssh disable",
    "passkey enable", "passkey disable", "passkey list", "passkey show", "passkey rename", "passkey rm",
    "passkey export", "passkey import",
    "secret-service list", "secret-service gate", "secret-service ungate", "secret-service import",
    "secret-service enable", "secret-service disable", "secret-service status",
    "sync status", "sync init", "sync join", "sync approve", "sync confirm", "sync remove", "sync now", "sync add",
    "sync leave",
    "sync resolve", "sync remote", "sync recover", "sync identity", "sync watch",
  ]

  /// A command as ArgumentParser describes it.
  private struct CommandTree: Decodable {
    var commandName: String
    var subcommands: [CommandTree]?

    /// The commands below this one that have none below them, each with its groups' names.
    var commands: [String] {
      (subcommands ?? []).filter { $0.commandName != "help" }.flatMap { command -> [String] in
        let below = command.commands
        return below.isEmpty ? [command.commandName] : below.map { "\(command.commandName) \($0)" }
      }
    }
  }

  @Test("the commands whose help is tested are all commands of whorl")
  func everyCommand() async throws {
    struct Dump: Decodable { var command: CommandTree }
    let dump = try await Invocation(arguments: ["--experimental-dump-help"]).run()
    #expect(try dump.json(Dump.self).command.commands.sorted() == Self.commands.sorted())
  }

  @Test("every command of whorl has help with examples that fit on their lines", arguments: commands)
  func help(_ command: String) async throws {
    let words = command.split(separator: " ").map(String.init)
    let result = try await Invocation(arguments: words + ["--help"]).run()
    #expect(result.status == 0)
    #expect(result.diagnostics.isEmpty)
    #expect(result.text.contains("USAGE: whorl \(command)"))
    for option in ["--config", "--store", "--passcode-fd", "--reader", "--json"] {
      #expect(result.text.contains(option), "\(option)")
    }
    let lines = result.text.split(separator: "\n", omittingEmptySubsequences: false)
    let heading = try #require(lines.firstIndex { $0 == "Example:" || $0 == "Examples:" })
    let examples = lines[(heading + 1)...].prefix { !$0.isEmpty }
    #expect(examples.contains { $0.contains("whorl \(command)") }, "\(result.text)")
    // The rest of a line that was broken would not be indented.
    for example in examples { #expect(example.hasPrefix("  "), "\(example)") }
  }

  @Test("whorl and whorl reader without arguments list their commands, with examples")
  func groups() async throws {
    for words in [[], ["reader"]] {
      let result = try await Invocation(arguments: words).run()
      #expect(result.status == 0, "\(words): \(result.diagnostics)")
      #expect(!result.text.contains("\ninput"), "an example stays on its line")
      #expect(result.text.contains("  whorl reader list\n") || result.text.contains("  whorl get mail/alice "))
    }
  }

  @Test("options without a command are an error that says so", arguments: [["--store", "/tmp", "reader"], ["--json"]])
  func noCommand(_ words: [String]) async throws {
    let result = try await Invocation(arguments: words).run()
    #expect(result.status == 64)
    #expect(result.failure.contains("no command is named"), "\(result.failure)")
  }

  @Test(
    "a command that does not exist is reported by its name",
    arguments: [["frobnicate"], ["--store", "/tmp", "frobnicate"], ["reader", "frobnicate"]])
  func noSuchCommand(_ words: [String]) async throws {
    let result = try await Invocation(arguments: words).run()
    #expect(result.status == 64)
    #expect(result.failure.contains("no command 'frobnicate'"), "\(result.failure)")
  }

  @Test(
    "a mistyped command suggests the nearest one, and another program's word suggests the matching command",
    arguments: [
      (["gte", "a"], "get"), (["stauts"], "status"), (["pascode"], "passcode"), (["list"], "ls"),
      (["delete", "a"], "rm"),
      (["enrol"], "enroll"), (["Backup"], "backup"), (["reader", "lst"], "list"), (["help", "stauts"], "status"),
      (["--json", "lss"], "ls"), (["seret-service"], "secret-service"),
    ])
  func nearestCommand(_ words: [String], _ meant: String) async throws {
    let result = try await Invocation(arguments: words).run()
    #expect(result.status == 64)
    #expect(result.output.isEmpty)
    #expect(result.failure.contains("did you mean '\(meant)'? 'whorl"), "\(result.failure)")
  }

  @Test("a mistyped option suggests the nearest one")
  func nearestOption() async throws {
    let result = try await Invocation(arguments: ["set", "a", "--acess", "none"]).run()
    #expect(
      result.diagnostics
        == "whorl: set: Unknown option '--acess': did you mean '--access'? 'whorl set --help' explains\n")
  }

  @Test("help lists the commands in groups, the common ones first, and puts exit statuses on their own page")
  func groupedHelp() async throws {
    let help = try await Invocation(arguments: ["--help"]).run().text
    let headings = help.split(separator: "\n").filter { $0.hasSuffix(":") && $0.first?.isUppercase == true }
      .filter { $0 == $0.uppercased() }
    #expect(
      headings
        == ["OPTIONS:", "SECRETS:", "FINGERS:", "STORE:", "LOGIN:", "DESKTOP:", "MACHINES:", "MOVING:", "READERS:"],
      "\(headings)")
    #expect(help.contains("SECRETS:\n  get "))
    #expect(help.contains("'whorl help exit-statuses'"))
    #expect(!help.contains("69"))
    let page = try await Invocation(arguments: ["help", "exit-statuses"]).run()
    #expect(page.status == 0)
    for status in [0, 1, 64, 65, 66, 69, 70, 73, 74, 75, 77, 78, 79, 126, 127] {
      #expect(page.text.contains(" \(status)  "), "\(status)")
    }
    #expect(try await Invocation(arguments: ["help", "get"]).run().text.contains("USAGE: whorl get"))
  }

  @Test("the first line of a failure is plain text; --verbose adds its technical name, and --json gives an object")
  func furtherWords() async throws {
    try await TestStore.with { store in
      let plain = try await store.whorl("get", "gone")
      #expect(plain.diagnostics == "whorl: get: no item gone: 'whorl ls' lists what there is\n")
      let verbose = try await store.whorl("get", "gone", "--verbose")
      #expect(verbose.diagnostics == plain.diagnostics + "whorl: errSecItemNotFound, exit status 66\n")
      let json = try await store.whorl("get", "gone", "--json")
      #expect(json.status == 66 && json.output.isEmpty)
      #expect(
        json.diagnostics
          == #"{"advice":"'whorl ls' lists what there is","command":"get","error":"no item gone","#
          + #""name":"errSecItemNotFound","status":66}"# + "\n")
      let unparsed = try await Invocation(arguments: ["get", "--verbose"]).run()
      #expect(unparsed.diagnostics.hasSuffix("\nwhorl: errSecParam, exit status 64\n"), "\(unparsed.diagnostics)")
      let leading = try await Invocation(arguments: ["--verbose", "get", "gone", "--store", store.directory]).run()
      #expect(leading.diagnostics == verbose.diagnostics)
      let passed = try await store.whorl("run", "--env", "A=gone", "--", "/bin/echo", "--json")
      #expect(passed.diagnostics.hasPrefix("whorl: run: "), "an option of the command that is run")
    }
  }

  @Test("wrong usage of a command in a group is reported under its full name, with its help")
  func groupedMistake() async throws {
    let result = try await Invocation(arguments: ["reader", "use", "elsewhere"]).run()
    #expect(result.failure.hasPrefix("whorl: reader use: "), "\(result.failure)")
    #expect(result.failure.hasSuffix("'whorl reader use --help' explains"), "\(result.failure)")
  }

  @Test(
    "the reader kit reports wrong usage in one line under its own name",
    arguments: [
      ["test", "--steps", "enroll,dance"], ["test", "--suspend-during", "list"], ["tset"], ["record"],
      ["--json", "test", "--touches", "0"],
    ])
  func kitMistake(_ words: [String]) async throws {
    let result = try await Invocation(program: "whorl-reader-kit", arguments: words).run()
    #expect(result.status == 64 && result.output.isEmpty, "\(result.diagnostics)")
    #expect(result.diagnostics.split(separator: "\n").count == 1, "\(result.diagnostics)")
    #expect(result.diagnostics.contains("whorl-reader-kit"), "\(result.diagnostics)")
  }

  @Test(
    "a command that is in another program is named with it",
    arguments: [
      (
        "whorl", ["reader", "test", "--steps", "enroll"],
        "whorl: reader: no command 'test': 'whorl-reader-kit test' does that"
      ),
      ("whorl", ["reader", "record"], "whorl: reader: no command 'record': 'whorl-reader-kit record' does that"),
      ("whorl-reader-kit", ["list"], "whorl-reader-kit: no command 'list': 'whorl reader list' does that"),
    ])
  func elsewhere(_ program: String, _ words: [String], _ line: String) async throws {
    let result = try await Invocation(program: program, arguments: words).run()
    #expect(result.status == 64 && result.failure == line, "\(result.failure)")
  }

  @Test("an error about a wrong argument lists the possible values on one line")
  func values() async throws {
    let result = try await Invocation(arguments: ["enroll", "sixth-finger"]).run()
    #expect(result.failure.contains("left-thumb, left-index, "), "\(result.failure)")
    #expect(!result.failure.contains("  "), "\(result.failure)")
  }

  @Test("version and completion scripts are printed on standard output")
  func version() async throws {
    let version = try await Invocation(arguments: ["--version"]).run()
    #expect(version.status == 0)
    #expect(version.text.split(separator: ".").count == 3)
    for shell in ["bash", "zsh", "fish"] {
      let script = try await Invocation(arguments: ["--generate-completion-script", shell]).run()
      #expect(script.status == 0)
      #expect(script.text.contains("whorl"))
    }
  }

  @Test("item names are completed from the store on the command line, and there are none without a store")
  func itemNames() async throws {
    try await TestStore.enrolled { store in
      for command in ["get", "rm", "ls"] {
        let words = ["whorl", command, "--store", "\(store.folder)/store", ""]
        let completed = try await complete(words)
        #expect(completed.contains("any-finger") && completed.contains("open"), "\(completed)")
      }
      #expect(try await complete(["whorl", "get", "--store", "\(store.folder)/none", ""]) == [])
    }
  }

  @Test("completion of ssh rm and ssh public offers keys only, and ssh list shows ids of keys that share a name")
  func sshKeyNames() async throws {
    try await TestStore.with { store in
      try await store.set("mail/alice", "own")
      try await store.whorl("ssh", "add", "work", "--access", "passcode").mustSucceed()
      try await store.whorl("ssh", "add", "home").mustSucceed()
      for command in ["rm", "public"] {
        let words = ["whorl", "ssh", command, "--store", store.directory, ""]
        let request = ["---completion", "ssh", command, "--", "positional@0", "5", "0"]
        let completed = try await Invocation(arguments: request + words).run()
        #expect(completed.text == "home\nwork\n", "\(completed.text)\(completed.diagnostics)")
      }
      #expect(try await !store.whorl("ssh", "list").text.contains("id:"))
      // The first item dies, which frees its name.
      try await store.unlocked("passcode", "--remove", "--yes").mustSucceed()
      try await store.whorl("ssh", "add", "work", "--type", "ecdsa-256").mustSucceed()
      let refused = try await store.whorl("ssh", "rm", "work", "--yes")
      #expect(refused.failure.contains("work means several keys: name one by its id"), "\(refused.failure)")
      let listed = try await store.whorl("ssh", "list").text.split(separator: "\n")
      #expect(listed.count == 3)
      let ids = try listed.map { try #require($0.split(separator: "\t").last.map(String.init)) }
      let place = try #require(listed.firstIndex { $0.contains("ecdsa") })
      try await store.whorl("ssh", "rm", ids[place], "--yes").mustSucceed()
      #expect(try await !store.whorl("ssh", "list").text.contains("ecdsa"))
    }
  }

  /// Runs the program like the shells' completion scripts.
  private func complete(_ words: [String]) async throws -> [String] {
    let request = ["---completion", words[1], "--", "positional@0", "\(words.count - 1)", "0"]
    let result = try await Invocation(arguments: request + words).run()
    #expect(result.status == 0, "\(result.diagnostics)")
    return result.text.split(separator: "\n").map(String.init)
  }

  @Test(
    "an unusable configuration gives status 78 and the reason",
    arguments: [
      (#"{"store": "/tmp/x", "colour": "red"}"#, "unknown key colour"),
      (#"{"store": 5}"#, "store must be an absolute path"),
      (#"{"store": "relative"}"#, "store must be an absolute path"),
      (#"{"timeout": "long"}"#, "timeout must be a number of seconds above 0"),
      (#"{"timeout": -1}"#, "timeout must be"),
      (#"{"timeout": true}"#, "timeout must be"),
      (#"{"access": "sometimes"}"#, "access must be one of"),
      (#"{"reader": "guess"}"#, "reader must be auto"),
      (#"{"readerProgram": ["a"]}"#, "readerProgram must be an absolute path"),
      (#"{"vaultProgram": "whorld"}"#, "vaultProgram must be an absolute path"),
      (#"["store"]"#, "not a JSON object"),
      ("{", "not a JSON object"),
    ])
  func configuration(_ text: String, _ problem: String) async throws {
    try await withFolder { folder in
      try writeFile("\(folder)/config.json", Array(text.utf8))
      let result = try await Invocation(arguments: ["ls", "--config", "\(folder)/config.json"]).run()
      #expect(result.status == 78, "\(result.diagnostics)")
      #expect(result.failure.contains(problem), "\(result.failure)")
    }
  }

  @Test("a configuration given by name must exist; the default one need not")
  func missingConfiguration() async throws {
    try await withFolder { folder in
      let named = try await Invocation(arguments: ["ls", "--config", "\(folder)/none.json"]).run()
      #expect(named.status == 78)
      let environment = ["XDG_CONFIG_HOME": folder, "XDG_DATA_HOME": "\(folder)/data"]
      let standard = try await Invocation(arguments: ["ls"], environment: environment).run()
      #expect(standard.status == 66)
      #expect(standard.failure.contains("no store in \(folder)/data/whorl"))
    }
  }

  @Test("the configuration sets the store and the default access, and flags override it")
  func configurationCounts() async throws {
    try await TestStore.with { store in
      let environment = ["XDG_CONFIG_HOME": store.folder]
      try #require(mkdirPrivate("\(store.folder)/whorl"))
      try writeFile(
        "\(store.folder)/whorl/config.json", Array(#"{"store": "\#(store.directory)", "access": "none"}"#.utf8))
      let stored = try await Invocation(arguments: ["set", "a"], input: [0x78], environment: environment).run()
      #expect(stored.status == 0, "\(stored.diagnostics)")
      #expect(try await Invocation(arguments: ["get", "a"], environment: environment).run().text == "x")
      let elsewhere = try await Invocation(
        arguments: ["get", "a", "--store", "\(store.folder)/other"], environment: environment
      ).run()
      #expect(elsewhere.status == 66)
      let presence = try await Invocation(
        arguments: ["set", "b", "--access", "presence"], input: [0x78], environment: environment
      ).run()
      #expect(presence.status == 0)
      #expect(try await store.whorl("get", "b", "--no-prompt").status == 77)
    }
  }

  @Test("whorl init leaves no store if the recovery key cannot be written, and a second try works")
  func unwritableRecoveryKey() async throws {
    try await withFolder { folder in
      let whorl = try Programs.path("whorl")
      let line = "exec \(whorl) init --no-passcode --recovery-fd 4 --store \(folder)/store"
      let full = try await Invocation(program: "/bin/sh", arguments: ["-c", "\(line) 4>/dev/full"]).run()
      #expect(full.status == 74, "\(full.diagnostics)")
      #expect(full.failure.contains("recovery key"), "\(full.diagnostics)")
      #expect(try folderEntries(folder).isEmpty)
      let again = try await Invocation(program: "/bin/sh", arguments: ["-c", "\(line) 4>\(folder)/key"]).run()
      #expect(again.status == 0, "\(again.diagnostics)")
      #expect(try readFile("\(folder)/key").count > 20)
    }
  }

  @Test("a descriptor that was not passed is wrong usage, and no file of the program is used in its place")
  func descriptors() async throws {
    let closed = Int32(3)...12
    try await withFolder { folder in
      for number in closed {
        let made = try await Invocation(
          arguments: ["init", "--no-passcode", "--recovery-fd", "\(number)", "--store", "\(folder)/store"]
        ).run()
        #expect(made.status == 64, "\(number): \(made.diagnostics)")
        #expect(made.failure.contains("Descriptor \(number) is not open"))
      }
      let made = try folderEntries(folder)
      #expect(made.isEmpty)
    }
    try await TestStore.with { store in
      for number in closed {
        let refused = try await store.whorl("unlock", "--passcode-fd", "\(number)")
        #expect(refused.status == 64, "\(number): \(refused.diagnostics)")
      }
      let right = try await store.unlocked("unlock")
      #expect(right.status == 0)
    }
  }
}
