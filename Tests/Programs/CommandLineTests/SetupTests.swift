import FoundationEssentials
import Glibc
import ProgramDriver
import Testing

@Suite("whorl setup")
struct SetupTests {
  /// A user without a desktop.
  private func home(_ folder: String) -> [String: String] { ["HOME": folder, "XDG_RUNTIME_DIR": folder] }

  private static let sshQuestion = "Run 'whorl ssh add ssh --store "
  private static let gitQuestion = "Run 'git config --global --add credential.helper \(gitHelper)' now? [y/N]"
  private static let gitHelper = "!type whorl >/dev/null 2>&1 && whorl git-credential"

  @Test("without a terminal tells how each step stands, and changes nothing")
  func told() async throws {
    try await TestStore.with { store in
      let home = home(store.folder)
      let told = try await store.whorl("setup", environment: home)
      #expect(told.status == 0)
      #expect(told.text.contains("ok    store     made"))
      #expect(told.text.contains("todo  git       does not ask Whorl for passwords"))
      #expect(told.text.contains("'git config --global --unset-all credential.helper '^(whorl"))
      #expect(told.text.contains("Run 'whorl setup' at a terminal to choose."))
      let json = try await store.whorl("setup", "--json", environment: home)
      #expect(json.text.contains(#""state":"done","step":"passcode""#))
      #expect(json.text.contains(#""state":"open","step":"git""#))
      #expect(access("\(store.folder)/.gitconfig", F_OK) != 0)
    }
  }

  @Test("steps that are done keep the command that takes them back, which undoes them")
  func waysBack() async throws {
    try await TestStore.with { store in
      let services = try UserServicesStandIn(in: store.folder)
      try services.install("whorl-agent.socket", [])
      try services.install("whorl-agent.service", ["[Service]", "ExecStart=/usr/bin/whorl-agent"])
      let home = services.environment()
      try await store.whorl("ssh", "add", "work").mustSucceed()
      try await store.whorl("ssh", "enable", environment: home).mustSucceed()
      let helper = ["git", "config", "--global", "--add", "credential.helper"]
      for value in ["whorl --access none", "whorl", Self.gitHelper, "\(Self.gitHelper) --access none", "whorled"] {
        try await Invocation(program: "/usr/bin/env", arguments: helper + [value], environment: home).run()
          .mustSucceed()
      }
      func ways() async throws -> [String: String] {
        struct Steps: Decodable {
          struct Step: Decodable {
            var step: String
            var state: String
            var wayBack: String?
          }
          var steps: [Step]
        }
        let told = try await store.whorl("setup", "--json", environment: home)
        let steps = try JSONDecoder().decode(Steps.self, from: Data(told.output)).steps
        return Dictionary(uniqueKeysWithValues: steps.filter { $0.state == "done" }.map { ($0.step, $0.wayBack ?? "") })
      }
      let back = try await ways()
      #expect(back["store"] == "rm -r \(store.directory)" && back["passcode"] == "whorl passcode --remove", "\(back)")
      #expect(back["ssh"] == "whorl ssh disable")
      let git = try #require(back["git"])
      try await Invocation(program: "/bin/sh", arguments: ["-c", git], environment: home).run().mustSucceed()
      let left = String(decoding: try readFile("\(store.folder)/.gitconfig"), as: UTF8.self)
      #expect(
        left.contains("helper = whorled\n") && !left.contains("whorl\n") && !left.contains("none")
          && !left.contains("type"), "\(left)")
      #expect(try await ways()["git"] == nil)
      // For a person, only what is left to do is told with its way back.
      #expect(!(try await store.whorl("setup", environment: home)).text.contains("passcode --remove"))
    }
  }

  @Test("runs the commands that are chosen, one after another, and then finds them done")
  func chosen() async throws {
    try await withFolder { folder in
      let words = ["setup", "--store", "\(folder)/store"]
      let services = try UserServicesStandIn(in: folder)
      try services.install("whorl-agent.socket", [])
      try services.install("whorl-agent.service", ["[Service]", "ExecStart=/usr/bin/whorl-agent"])
      let terminal = try PseudoTerminal(words, environment: services.environment())
      try await terminal.waits(for: "Run 'whorl init --store \(folder)/store' now? [y/N]")
      #expect(terminal.shown.contains("passcode  after the store is made"))
      terminal.type("y\n")
      try await terminal.waits(for: "New passcode: ")
      // By this name prompts and the log know it.
      let names = try children(of: terminal.pid).map {
        String(decoding: try readFile("/proc/\($0)/comm"), as: UTF8.self)
      }
      #expect(names == ["whorl\n"])
      terminal.type("one passcode\n")
      try await terminal.waits(for: "New passcode, again: ")
      terminal.type("one passcode\n")
      try await terminal.waits(for: Self.sshQuestion)
      terminal.type("y\n")
      // The step has a second command.
      try await terminal.waits(for: "Run 'whorl ssh enable --store \(folder)/store' now? [y/N]")
      terminal.type("y\n")
      try await terminal.waits(for: Self.gitQuestion)
      terminal.type("y\n")
      #expect(try await terminal.status() == 0)
      #expect(
        String(decoding: try readFile("\(folder)/.gitconfig"), as: UTF8.self).contains("helper = \(Self.gitHelper)\n"))
      let again = try await Invocation(arguments: words, environment: services.environment()).run()
      #expect(again.text.contains("ok    store"))
      #expect(again.text.contains("ok    ssh       1 key in the vault"))
      #expect(again.text.contains("ok    git       asks Whorl for passwords"))
      #expect(!again.text.contains("todo"))
    }
  }

  @Test(
    "waits for a command that a signal ends, says how to go on, and ends by the signal, too",
    arguments: [SIGINT, SIGTERM])
  func signalled(_ signal: Int32) async throws {
    try await withFolder { folder in
      let terminal = try PseudoTerminal(
        ["setup", "--store", "\(folder)/store"], environment: UserServicesStandIn(in: folder).environment())
      try await terminal.waits(for: "Run 'whorl init --store \(folder)/store' now? [y/N]")
      terminal.type("y\n")
      try await terminal.waits(for: "New passcode: ")
      try await terminal.becomes(echoing: false)
      let command = try #require(children(of: terminal.pid).first)
      if signal == SIGINT { terminal.type("\u{3}") } else { terminal.signal(signal) }
      #expect(try await terminal.endingSignal() == signal)
      try await terminal.waits(for: "store' ended with status \(128 + signal)")
      #expect(terminal.shown.contains("'whorl setup' goes on from here"))
      #expect(parent(of: command) == nil)
      #expect(terminal.isAsFound)
    }
  }

  @Test("offers no command twice, also where it has changed nothing")
  func once() async throws {
    try await TestStore.with { store in
      let services = try UserServicesStandIn(in: store.folder)
      try services.install("whorl-agent.socket", [])
      try services.install("whorl-agent.service", ["[Service]", "ExecStart=/usr/bin/whorl-agent"])
      // What is enabled is forgotten.
      rmdir("\(store.folder)/enabled")
      try await store.whorl("ssh", "add", "work").mustSucceed()
      let terminal = try PseudoTerminal(store.arguments(["setup"]), environment: services.environment())
      try await terminal.waits(for: "Run 'whorl ssh enable --store \(store.directory)")
      terminal.type("y\n")
      try await terminal.waits(for: Self.gitQuestion)
      terminal.type("n\n")
      #expect(try await terminal.status() == 0)
    }
  }

  @Test("copies what the Secret Service holds before Whorl takes its part over", arguments: ["", "y", "n"])
  func copiedFirst(_ answer: String) async throws {
    try await TestStore.with { store in
      try await PrivateBus.with { bus in
        let items = [SecretServiceStandIn.Item(label: "Mail", attributes: ["a": "b"], secret: Array("one".utf8))]
        // A locked collection does not say what is in it, and is not opened to look.
        let service = try await SecretServiceStandIn(
          on: bus, prompt: answer.isEmpty ? .dismissed : .none, aliases: ["default": "/collection"], items)
        defer { service.close() }
        var places = home(store.folder)
        places["DBUS_SESSION_BUS_ADDRESS"] = bus.address
        let (copy, enable) = ("secret-service import --store ", "secret-service enable --store ")
        guard !answer.isEmpty else {
          let told = try await store.whorl("setup", environment: places)
          #expect(
            told.text.contains("'whorl \(copy)\(store.directory)', then 'whorl \(enable)\(store.directory)' does it"),
            "\(told.text)")
          return
        }
        let terminal = try PseudoTerminal(store.arguments(["setup"]), environment: places)
        try await terminal.waits(for: "Run 'whorl \(copy)\(store.directory)' now? [y/N]")
        terminal.type("\(answer)\n")
        if answer == "y" {
          try await terminal.waits(for: "Run 'whorl \(enable)\(store.directory)' now? [y/N]")
          terminal.type("y\n")
        }
        try await terminal.waits(for: Self.sshQuestion)
        terminal.type("n\n")
        try await terminal.waits(for: Self.gitQuestion)
        terminal.type("n\n")
        #expect(try await terminal.status() == 0)
        // Who does not want the copy is not offered to lose sight of it.
        #expect(terminal.shown.contains("Run 'whorl \(enable)") == (answer == "y"))
        let listed = try await store.whorl("secret-service", "list").text
        #expect(listed.contains("\tMail\t") == (answer == "y"), "\(listed)")
      }
    }
  }

  @Test("leaves what is declined, and ends where a command fails, with its status")
  func declined() async throws {
    try await TestStore.with { store in
      let declined = try PseudoTerminal(store.arguments(["setup"]), environment: home(store.folder))
      try await declined.waits(for: Self.sshQuestion)
      declined.type("n\n")
      try await declined.waits(for: Self.gitQuestion)
      declined.type("n\n")
      #expect(try await declined.status() == 0)
      #expect(access("\(store.folder)/.gitconfig", F_OK) != 0)
      // git cannot write its configuration there.
      let failed = try PseudoTerminal(
        store.arguments(["setup"]), environment: ["HOME": "/proc", "XDG_RUNTIME_DIR": "/proc"])
      try await failed.waits(for: Self.sshQuestion)
      failed.type("n\n")
      try await failed.waits(for: Self.gitQuestion)
      failed.type("y\n")
      #expect(try await failed.status() == 69)
      #expect(failed.shown.contains("git-credential' ended with status "))
    }
  }

  @Test("offers the programs of a desktop their secrets, and tells when Whorl has that part")
  func secrets() async throws {
    try await TestStore.with { store in
      try await PrivateBus.with { bus in
        let service = try await SecretServiceStandIn(on: bus, [])
        var places = home(store.folder)
        places["DBUS_SESSION_BUS_ADDRESS"] = bus.address
        let open = try await store.whorl("setup", environment: places)
        #expect(open.text.contains("todo  secrets   programs of the desktop keep theirs in "), "\(open.text)")
        #expect(open.text.contains("'whorl secret-service enable --store \(store.directory)' does it"))
        #expect(open.text.contains("'whorl secret-service disable' takes it back"))
        try await store.whorl("secret-service", "enable", environment: places).mustSucceed()
        let enabled = try await store.whorl("setup", environment: places)
        #expect(enabled.text.contains("ok    secrets   Whorl has them from the next login on"), "\(enabled.text)")
        service.close()
      }
      let away = try await store.whorl("setup", environment: home("/nonexistent"))
      #expect(away.text.contains("      secrets   no desktop here"), "\(away.text)")
    }
  }
}
