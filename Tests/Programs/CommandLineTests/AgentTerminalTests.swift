import Glibc
import ProgramDriver
import Testing

@Suite("whorl-agent in the foreground of a terminal")
struct AgentTerminalTests {
  @Test("asks there, takes the passcode at once or is cancelled with Esc, and leaves the terminal as it was")
  func prompts() async throws {
    try await TestStore.enrolled { store in
      let made = try await store.whorl("ssh", "add", "work")
      try made.mustSucceed()
      let key = "\(store.folder)/work.pub"
      try writeFile(key, made.output)
      let socket = "\(store.folder)/agent"
      let terminal = try PseudoTerminal(
        ["--socket", socket, "--store", store.directory, "--known-hosts", "/dev/null"] + store.reader,
        program: "whorl-agent")
      try await terminal.waits(for: "whorl-agent: listens")
      func sign() async throws -> Invocation.Result {
        try await Invocation(
          program: "/usr/bin/ssh-keygen", arguments: ["-Y", "sign", "-n", "file", "-f", key], input: [1],
          environment: ["SSH_AUTH_SOCK": socket]
        ).run()
      }

      async let signed = sign()
      try await terminal.waits(for: "sign a file with the SSH key work")
      try await terminal.waits(for: "Esc: cancel)")
      try await terminal.becomes(echoing: false)
      terminal.type("\n")
      try await terminal.waits(for: "Passcode to sign a file")
      terminal.type("\(TestStore.passcode)\n")
      try await signed.mustSucceed()
      try await terminal.becomes(echoing: true)
      #expect(!terminal.shown.contains(TestStore.passcode))

      async let refused = sign()
      try await terminal.waits(for: "Esc: cancel)", count: 2)
      try await terminal.becomes(echoing: false)
      terminal.type(CancelKey.escape.rawValue)
      #expect(try await refused.status != 0)
      try await terminal.becomes(echoing: true)

      terminal.signal(SIGTERM)
      #expect(try await terminal.status() == 0)
      #expect(terminal.isAsFound)
      #expect(access(socket, F_OK) != 0)
    }
  }
}
