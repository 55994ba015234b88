import ProgramDriver
import Testing

@Suite("Signals that a program ignores from its start")
struct IgnoredSignalsTests {
  @Test("a signal ignored from the start ends neither whorl-agent nor its command", arguments: ["HUP", "INT", "CHLD"])
  func agent(_ signal: String) async throws {
    try await TestStore.with { store in
      let agent = try Programs.path("whorl-agent")
      let script = """
        trap '' \(signal)
        exec \(agent) --socket "\(store.folder)/agent" --store "\(store.directory)" --known-hosts /dev/null -- \
          sh -c 'kill -\(signal) $PPID; kill -\(signal) $$; sleep 0.3; exit 3'
        """
      let result = try await Invocation(program: "/bin/sh", arguments: ["-c", script]).run()
      #expect(result.status == 3, "\(result.diagnostics)")
    }
  }

  @Test("a signal that whorl ignores from its start does not end a waiting command")
  func command() async throws {
    try await TestStore.with { store in
      try await store.set("a", "of a", "--access", "passcode")
      let script = """
        trap '' HUP
        mkfifo "\(store.folder)/passcode"
        (exec 5>"\(store.folder)/passcode"; sleep 1; kill -HUP $$; sleep 0.3; echo "\(TestStore.passcode)" >&5) &
        exec \(try Programs.path("whorl")) get a --store "\(store.directory)" --passcode-fd 3 3<"\(store.folder)/passcode"
        """
      let result = try await Invocation(program: "/bin/sh", arguments: ["-c", script]).run()
      #expect(result.status == 0 && result.text == "of a", "\(result.diagnostics)")
    }
  }
}
