import Glibc
import ProgramDriver
import Testing

@Suite("A signal at a prompt")
struct SignalEndTests {
  /// A command that asks a question, and the text that it shows.
  struct Asking: CustomTestStringConvertible {
    var words: [String]
    var prompt: String
    /// Standard input, for commands that read a request from it.
    var input: String?

    var testDescription: String { words.joined(separator: " ") }

    static let all = [
      Asking(words: ["unlock"], prompt: "Passcode: "), Asking(words: ["set", "new"], prompt: "New secret of new: "),
      Asking(words: ["get", "locked"], prompt: "Passcode: "), Asking(words: ["passcode"], prompt: "asscode: "),
      Asking(words: ["run", "--env", "A=locked", "--", "true"], prompt: "Passcode: "),
      Asking(words: ["passcode", "--remove"], prompt: "Enter keeps it: "),
      Asking(words: ["import", "--from", "csv", "@/passwords.csv"], prompt: "Go on? [y/N] "),
      Asking(words: ["export", "@/all.age"], prompt: "passphrase"),
      Asking(words: ["setup"], prompt: "[y/N] "),
      Asking(words: ["docker-credential", "get"], prompt: "Passcode: ", input: "c.test\n"),
      Asking(words: ["git-credential", "get"], prompt: "Passcode: ", input: "protocol=https\nhost=g.test\n\n"),
    ]
  }

  private func prepare(_ store: TestStore) async throws {
    try await store.set("locked", "x", "--access", "passcode")
    try writeFile("\(store.folder)/passwords.csv", Array("title,password\nForum,pw\n".utf8))
    let request = #"{"ServerURL":"c.test","Username":"ann","Secret":"x"}"#
    try await store.whorl("docker-credential", "--access", "passcode", "store", input: Array(request.utf8))
      .mustSucceed()
    let git = "protocol=https\nhost=g.test\nusername=ann\npassword=x\n\n"
    try await store.whorl("git-credential", "--access", "passcode", "store", input: Array(git.utf8)).mustSucceed()
  }

  @Test("a signal at a prompt ends the command by that signal, after the terminal was restored", arguments: Asking.all)
  func prompts(_ asking: Asking) async throws {
    try await TestStore.with { store in
      try await prepare(store)
      let words = store.arguments(asking.words.map { $0.replacing("@", with: store.folder) })
      var input: String?
      if let request = asking.input {
        input = "\(store.folder)/request"
        try writeFile("\(store.folder)/request", Array(request.utf8))
      }
      for signal in [SIGINT, SIGTERM] {
        let terminal = try PseudoTerminal(words, input: input, environment: ["HOME": store.folder])
        try await terminal.waits(for: asking.prompt)
        try await Task.sleep(for: .milliseconds(100))
        if signal == SIGINT { terminal.type("\u{3}") } else { terminal.signal(signal) }
        #expect(try await terminal.endingSignal() == signal, "\(terminal.shown)")
        #expect(terminal.isAsFound)
        #expect(terminal.shown.contains("cancelled: run it again"), "\(terminal.shown)")
      }
      #expect(access("\(store.folder)/all.age", F_OK) != 0)
    }
  }

  @Test(
    "Ctrl-C at a prompt ends a shell script's loop, and Esc does not", .enabled("bash is not installed") { hasBash })
  func script() async throws {
    try await TestStore.with { store in
      let whorl = try Programs.path("whorl")
      let script = """
        for turn in 1 2 3; do '\(whorl)' unlock --store '\(store.directory)'; echo "turn $turn ended with $?"; done
        """
      let terminal = try PseudoTerminal(["-c", script], program: "/bin/bash")
      try await terminal.waits(for: "Passcode: ")
      try await terminal.becomes(echoing: false)
      terminal.type("\u{1B}")
      try await terminal.waits(for: "turn 1 ended with 77")
      try await terminal.waits(for: "Passcode: ", count: 2)
      try await terminal.becomes(echoing: false)
      terminal.type("\u{3}")
      #expect(try await terminal.endingSignal() == SIGINT)
      #expect(!terminal.shown.contains("turn 2"), "\(terminal.shown)")
      #expect(terminal.isAsFound)
    }
  }

  private static var hasBash: Bool { access("/bin/bash", X_OK) == 0 }

  @Test("a signal to whorl-agent or to its command ends whorl-agent", arguments: [SIGINT, SIGHUP, SIGTERM])
  func agent(_ signal: Int32) async throws {
    try await TestStore.with { store in
      let words = ["--socket", "\(store.folder)/agent", "--store", store.directory, "--known-hosts", "/dev/null"]
      let alone = try PseudoTerminal(words, program: "whorl-agent")
      try await alone.waits(for: "whorl-agent: listens")
      if signal == SIGINT { alone.type("\u{3}") } else { alone.signal(signal) }
      // SIGTERM ends a service without failure.
      #expect(try await alone.endingSignal() == (signal == SIGTERM ? 0 : signal))
      #expect(access("\(store.folder)/agent", F_OK) != 0)
      let command = try PseudoTerminal(words + ["--", "sh", "-c", "kill -\(signal) $$"], program: "whorl-agent")
      #expect(try await command.status() == 128 + signal)
      #expect(try await command.endingSignal() == (signal == SIGTERM ? 0 : signal))
      #expect(access("\(store.folder)/agent", F_OK) != 0)
    }
  }
}
