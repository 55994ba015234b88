import Foundation
import Glibc
import ProgramDriver
import Testing

@Suite("whorl setup")
struct SetupTests {
  /// A user without a desktop.
  private func home(_ folder: String) -> [String: String] { ["HOME": folder, "XDG_RUNTIME_DIR": folder] }

  private static let gitHelper = "!type whorl >/dev/null 2>&1 && whorl git-credential"
  private static let sshQuestion = "Make a key for ssh, which signs only after a touch? [y/N]"
  private static let agentQuestion = "Let ssh find the keys of the vault, beside those it has? [y/N]"
  private static let gitQuestion = "Have git get its passwords from Whorl, each after a touch? [y/N]"
  private static let copyQuestion = "They stay where they are, too. [y/N]"
  private static let enableQuestion = "keep their passwords in Whorl from the next login on? [y/N]"

  @Test("whorl setup without a terminal shows the state of each step, and changes nothing")
  func told() async throws {
    try await TestStore.with { store in
      let home = home(store.folder)
      let told = try await store.whorl("setup", environment: home)
      #expect(told.status == 0)
      #expect(told.text.contains("ok    store     made"))
      #expect(told.text.contains("todo  git       does not ask Whorl for passwords"))
      #expect(told.text.contains("\n                git config --global --add credential.helper '\(Self.gitHelper)'\n"))
      #expect(told.text.contains("Run 'whorl setup' at a terminal to choose."))
      let json = try await store.whorl("setup", "--json", environment: home)
      #expect(json.text.contains(#""state":"done","step":"passcode""#))
      #expect(json.text.contains(#""state":"open","step":"git""#))
      #expect(access("\(store.folder)/.gitconfig", F_OK) != 0)
    }
  }

  @Test("finished steps of whorl setup show the command that undoes them, which works")
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
      #expect(back["store"] == "whorl setup --undo --store \(store.directory)", "\(back)")
      #expect(back["passcode"] == "whorl passcode --remove --store \(store.directory)", "\(back)")
      #expect(back["ssh"] == "whorl ssh disable --store \(store.directory)")
      let git = try #require(back["git"])
      try await Invocation(program: "/bin/sh", arguments: ["-c", git], environment: home).run().mustSucceed()
      let left = String(decoding: try readFile("\(store.folder)/.gitconfig"), as: UTF8.self)
      #expect(
        left.contains("helper = whorled\n") && !left.contains("whorl\n") && !left.contains("none")
          && !left.contains("type"), "\(left)")
      #expect(try await ways()["git"] == nil)
      // In text output, only the remaining steps say how to undo them.
      #expect(!(try await store.whorl("setup", environment: home)).text.contains("passcode --remove"))
    }
  }

  @Test("whorl setup runs the chosen commands one after another, and then shows them as done")
  func chosen() async throws {
    try await TestStore.with { store in
      let services = try UserServicesStandIn(in: store.folder)
      try services.install("whorl-agent.socket", [])
      try services.install("whorl-agent.service", ["[Service]", "ExecStart=/usr/bin/whorl-agent"])
      let terminal = try PseudoTerminal(store.arguments(["setup"]), environment: services.environment())
      try await terminal.waits(for: Self.sshQuestion)
      terminal.type("y\n")
      // The step has a second command.
      try await terminal.waits(for: Self.agentQuestion)
      #expect(terminal.shown.contains("> whorl ssh add ssh --store \(store.directory)"))
      terminal.type("yes\n")
      try await terminal.waits(for: Self.gitQuestion)
      // The question is repeated after an answer other than yes or no.
      terminal.type("maybe\n")
      try await terminal.waits(for: "Please answer y or n.")
      try await terminal.waits(for: Self.gitQuestion, count: 2)
      terminal.type("Y\n")
      #expect(try await terminal.status() == 0)
      #expect(
        String(decoding: try readFile("\(store.folder)/.gitconfig"), as: UTF8.self).contains(
          "helper = \(Self.gitHelper)\n"))
      // What is on, and how it is undone.
      let page = terminal.shown.components(separatedBy: "On:").last ?? ""
      #expect(page.contains("ssh       1 key in the vault, which ssh uses on a desktop"), "\(page)")
      #expect(
        page.contains(
          "undo: git config --global --unset-all credential.helper '^(whorl( |$)|!type whorl .*whorl git-credential)'\r\n"
        ), "\(page)")
      #expect(page.contains("'whorl setup --undo' takes all of it back."))
      let again = try await store.whorl("setup", environment: services.environment())
      #expect(again.text.contains("ok    store"))
      #expect(again.text.contains("ok    ssh       1 key in the vault"))
      #expect(again.text.contains("ok    git       asks Whorl for passwords"))
      #expect(!again.text.contains("todo"))
    }
  }

  @Test("whorl setup offers to give GnuPG its keys' passphrases where it has a key, and --undo takes that back")
  func gnupg() async throws {
    try await TestStore.with { store in
      let folder = store.folder
      for name in ["bin", ".gnupg", ".gnupg/private-keys-v1.d", ".config", ".config/whorl"] {
        try #require(mkdirPrivate("\(folder)/\(name)"))
      }
      // An installation that has the program for GnuPG's agent, and a store that is the only one.
      let whorl = "\(folder)/bin/whorl"
      try writeFile(whorl, try readFile(try Programs.path("whorl")))
      try writeFile("\(folder)/bin/pinentry-whorl", Array("#!/bin/sh\n".utf8))
      for name in ["whorl", "pinentry-whorl"] { try #require(chmod("\(folder)/bin/\(name)", 0o755) == 0) }
      let settings = #"{"store":"\#(store.directory)","vaultProgram":"\#(try Programs.path("whorld"))"}"#
      try writeFile("\(folder)/.config/whorl/config.json", Array(settings.utf8))
      let home = home(folder)
      func told(_ words: String...) async throws -> String {
        try await Invocation(program: whorl, arguments: ["setup"] + words, environment: home).run().text
      }
      #expect(try await told().contains("      gpg       has no secret key here\n"))
      try writeFile("\(folder)/.gnupg/private-keys-v1.d/\(PinentryDesk.grip).key", [])
      let offered = "todo  gpg       does not ask Whorl for its keys' passphrases\n                whorl gpg enable\n"
      #expect(try await told().contains(offered))
      // GnuPG's agent would run no command with the options of another store.
      let other = try await told("--store", store.directory)
      #expect(other.contains("      gpg       does not ask Whorl for its keys' passphrases; 'whorl gpg enable --help'"))
      let file = "\(folder)/.gnupg/gpg-agent.conf"
      try writeFile(file, Array("default-cache-ttl 60\n".utf8))
      let terminal = try PseudoTerminal(["setup"], program: whorl, environment: home)
      for question in [Self.sshQuestion, Self.gitQuestion] {
        try await terminal.waits(for: question)
        terminal.type("\n")
      }
      try await terminal.waits(for: "Have GnuPG get the passphrases of its keys from Whorl, each after a touch? [y/N]")
      terminal.type("y\n")
      #expect(try await terminal.status() == 0)
      #expect(terminal.shown.contains("> whorl gpg enable\r\n"))
      let written = String(decoding: try readFile(file), as: UTF8.self)
      #expect(written.contains("\npinentry-program \(folder)/bin/pinentry-whorl\n"))
      #expect(try await told().contains("ok    gpg       gets its keys' passphrases from Whorl"))
      let undone = try await Invocation(program: whorl, arguments: ["setup", "--undo", "--yes"], environment: home)
        .run()
      #expect(undone.status == 0 && undone.diagnostics.contains("> whorl gpg disable\n"), "\(undone.diagnostics)")
      #expect(String(decoding: try readFile(file), as: UTF8.self) == "default-cache-ttl 60\n")
    }
  }

  @Test(
    "whorl setup waits for a command that a signal ends, says how to continue, and ends by the same signal",
    arguments: [SIGINT, SIGTERM])
  func signalled(_ signal: Int32) async throws {
    try await TestStore.withoutPasscode { store in
      let terminal = try PseudoTerminal(store.arguments(["setup"]), environment: home(store.folder))
      try await terminal.waits(for: "stands in for a finger from then on. [y/N]")
      terminal.type("y\n")
      try await terminal.waits(for: "Recovery key: ")
      try await terminal.becomes(echoing: false)
      let command = try #require(children(of: terminal.pid).first { vaults(of: terminal.pid).contains($0) == false })
      // Prompts and the log show this name.
      #expect(String(decoding: try readFile("/proc/\(command)/comm"), as: UTF8.self) == "whorl\n")
      if signal == SIGINT { terminal.type("\u{3}") } else { terminal.signal(signal) }
      #expect(try await terminal.endingSignal() == signal)
      try await terminal.waits(for: "this ended with status \(128 + signal): whorl passcode")
      // The first time is at the start.
      try await terminal.waits(for: "'whorl setup' goes on from here", count: 2)
      #expect(parent(of: command) == nil)
      #expect(terminal.isAsFound)
    }
  }

  @Test("whorl setup offers no command twice, even if the command has changed nothing")
  func once() async throws {
    try await TestStore.with { store in
      let services = try UserServicesStandIn(in: store.folder)
      try services.install("whorl-agent.socket", [])
      try services.install("whorl-agent.service", ["[Service]", "ExecStart=/usr/bin/whorl-agent"])
      // What is enabled is forgotten.
      rmdir("\(store.folder)/enabled")
      try await store.whorl("ssh", "add", "work").mustSucceed()
      let terminal = try PseudoTerminal(store.arguments(["setup"]), environment: services.environment())
      try await terminal.waits(for: Self.agentQuestion)
      terminal.type("y\n")
      try await terminal.waits(for: Self.gitQuestion)
      terminal.type("n\n")
      #expect(try await terminal.status() == 0)
    }
  }

  @Test("whorl setup copies the Secret Service's items before Whorl takes over", arguments: ["", "y", "n"])
  func copiedFirst(_ answer: String) async throws {
    try await TestStore.with { store in
      try await PrivateBus.with { bus in
        let items = [SecretServiceStandIn.Item(label: "Mail", attributes: ["a": "b"], secret: Array("one".utf8))]
        // The items of a locked collection are unknown, and setup does not unlock it.
        let service = try await SecretServiceStandIn(
          on: bus, prompt: answer.isEmpty ? .dismissed : .none, aliases: ["default": "/collection"], items)
        defer { service.close() }
        var places = home(store.folder)
        places["DBUS_SESSION_BUS_ADDRESS"] = bus.address
        let (copy, enable) = ("secret-service import --store ", "secret-service enable --store ")
        guard !answer.isEmpty else {
          let told = try await store.whorl("setup", environment: places)
          let column = "\n" + String(repeating: " ", count: 16) + "whorl "
          #expect(
            told.text.contains("\(column)\(copy)\(store.directory)\(column)\(enable)\(store.directory)\n"),
            "\(told.text)")
          return
        }
        let terminal = try PseudoTerminal(store.arguments(["setup"]), environment: places)
        try await terminal.waits(for: Self.copyQuestion)
        terminal.type("\(answer)\n")
        if answer == "y" {
          try await terminal.waits(for: Self.enableQuestion)
          terminal.type("y\n")
        }
        try await terminal.waits(for: Self.sshQuestion)
        terminal.type("n\n")
        try await terminal.waits(for: Self.gitQuestion)
        terminal.type("n\n")
        #expect(try await terminal.status() == 0)
        // Without the copy, setup does not offer to enable Whorl's service, which would hide the items.
        #expect(terminal.shown.contains(Self.enableQuestion) == (answer == "y"))
        let listed = try await store.whorl("secret-service", "list").text
        #expect(listed.contains("\tMail\t") == (answer == "y"), "\(listed)")
      }
    }
  }

  @Test("whorl setup skips declined steps, and treats the end of input as a no")
  func declined() async throws {
    try await TestStore.with { store in
      let declined = try PseudoTerminal(store.arguments(["setup"]), environment: home(store.folder))
      try await declined.waits(for: Self.sshQuestion)
      declined.type("n\n")
      try await declined.waits(for: Self.gitQuestion)
      // Ctrl-D
      declined.type("\u{4}")
      #expect(try await declined.status() == 0)
      #expect(access("\(store.folder)/.gitconfig", F_OK) != 0)
      #expect(declined.shown.contains("Not done yet; 'whorl setup' continues with:"))
    }
  }

  @Test("whorl setup offers to repeat a failed command, continues, and names the command at the end")
  func failed() async throws {
    try await TestStore.with { store in
      // git cannot write its configuration there.
      let failed = try PseudoTerminal(
        store.arguments(["setup"]), environment: ["HOME": "/proc", "XDG_RUNTIME_DIR": "/proc"])
      try await failed.waits(for: Self.sshQuestion)
      failed.type("n\n")
      try await failed.waits(for: Self.gitQuestion)
      failed.type("y\n")
      let again = "That did not work, for the reason above. Try it again? [y/N]"
      try await failed.waits(for: again)
      failed.type("y\n")
      try await failed.waits(for: again, count: 2)
      failed.type("\n")
      #expect(try await failed.status() == 69)
      #expect(failed.shown.contains("On:"))
      let last = failed.shown.split(separator: "\r\n").last ?? ""
      #expect(
        last.contains(
          "this command failed: git config --global --add credential.helper '\(Self.gitHelper)'"), "\(last)")
      #expect(last.contains("'whorl setup' tries it again"))
    }
  }

  @Test("whorl setup offers to make Whorl the Secret Service, and shows when that is done")
  func secrets() async throws {
    try await TestStore.with { store in
      try await PrivateBus.with { bus in
        let service = try await SecretServiceStandIn(on: bus, [])
        var places = home(store.folder)
        places["DBUS_SESSION_BUS_ADDRESS"] = bus.address
        let open = try await store.whorl("setup", environment: places)
        #expect(open.text.contains("todo  secrets   programs of the desktop keep theirs in "), "\(open.text)")
        #expect(open.text.contains("                whorl secret-service enable --store \(store.directory)\n"))
        try await store.whorl("secret-service", "enable", environment: places).mustSucceed()
        let enabled = try await store.whorl("setup", environment: places)
        #expect(enabled.text.contains("ok    secrets   Whorl keeps them from the next login on"), "\(enabled.text)")
        service.close()
      }
      let away = try await store.whorl("setup", environment: home("/nonexistent"))
      #expect(away.text.contains("      secrets   no desktop session found"), "\(away.text)")
    }
  }
}
