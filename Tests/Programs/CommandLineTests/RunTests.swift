import Glibc
import ProgramDriver
import Testing

@Suite("whorl run")
struct RunTests {
  @Test("a command of whorl run gets the secrets in its environment, and its exit status is returned")
  func runs() async throws {
    try await TestStore.with { store in
      try await store.set("a", "first secret", "--access", "none")
      try await store.set("b/c", "second=secret", "--access", "none")
      let result = try await store.whorl(
        "run", "--env", "ONE=a", "--env", "TWO=b/c", "--", "/bin/sh", "-c", #"echo "$ONE|$TWO|$KEPT"; exit 7"#,
        environment: ["KEPT": "kept", "ONE": "replaced"])
      #expect(result.text == "first secret|second=secret|kept\n")
      #expect(result.status == 7)
      #expect(result.diagnostics.isEmpty)
    }
  }

  @Test("whorl run ends with the status of a command that was killed")
  func killed() async throws {
    try await TestStore.with { store in
      try await store.set("a", "x", "--access", "none")
      let result = try await store.whorl("run", "--env", "A=a", "--", "/bin/sh", "-c", "kill -TERM $$")
      #expect(result.status == 128 + SIGTERM)
    }
  }

  @Test("whorl run of a missing command gives 127, of one that is not executable 126, before any prompt")
  func commands() async throws {
    try await TestStore.with { store in
      try await store.set("a", "x")
      let missing = try await store.whorl("run", "--env", "A=a", "--", "no-such-command")
      #expect(missing.status == 127)
      #expect(missing.diagnostics == "whorl: run: no-such-command: command not found: look at its name and at PATH\n")
      #expect(try await store.whorl("run", "--env", "A=a", "--", "").status == 127)
      #expect(try await store.whorl("run", "--env", "A=a", "--", "/etc/passwd").status == 126)
      #expect(try await store.whorl("run", "--env", "A=a", "--", "/etc").status == 126)
    }
  }

  @Test("whorl run refuses a secret that is too long for an environment variable, and names another way to read it")
  func long() async throws {
    try await TestStore.with { store in
      try await store.set("a", String(repeating: "x", count: 200_000), "--access", "none")
      let result = try await store.whorl("run", "--env", "A=a", "--", "/bin/echo", "ran")
      #expect(result.status == 126)
      #expect(result.output.isEmpty)
      #expect(result.failure.contains("whorl get"), "\(result.failure)")
    }
  }

  @Test("whorl run refuses a secret with a NUL before anything runs")
  func nul() async throws {
    try await TestStore.with { store in
      #expect(try await store.whorl("set", "a", "--access", "none", input: [1, 0, 2]).status == 0)
      let result = try await store.whorl("run", "--env", "A=a", "--", "/bin/echo", "ran")
      #expect(result.status == 65)
      #expect(result.output.isEmpty)
    }
  }

  @Test("whorl run replaces itself with the command, which has the original signals and limits")
  func becomes() async throws {
    try await TestStore.with { store in
      try await store.set("a", "x", "--access", "none")
      let probe = #"""
        grep -E '^(Sig(Blk|Ign)|Name)' /proc/self/status; ulimit -c; umask; ls /proc/self/fd | tr '\n' ' '
        """#
      let direct = try await Invocation(program: "/bin/sh", arguments: ["-c", probe]).run()
      let through = try await Invocation(
        arguments: store.arguments(["run", "--env", "A=a", "--", "/bin/sh", "-c", probe])
      ).run()
      // The C library uses signals 32 and 33 for its threads.
      func comparable(_ text: String) -> [String] {
        text.split(separator: "\n").map { line in
          guard line.hasPrefix("SigIgn"), let mask = UInt64(line.suffix(16), radix: 16) else { return String(line) }
          return "SigIgn \(mask & ~(3 << 31))"
        }
      }
      #expect(comparable(through.text) == comparable(direct.text))
    }
  }

  @Test("whorl run has the shell run a script without a #! line")
  func script() async throws {
    try await TestStore.with { store in
      try await store.set("a", "x", "--access", "none")
      try writeFile("\(store.folder)/script", Array("echo script $A $1\n".utf8))
      chmod("\(store.folder)/script", 0o700)
      #expect(
        try await store.whorl("run", "--env", "A=a", "--", "\(store.folder)/script", "word").text == "script x word\n")
    }
  }

  @Test("a command of whorl run does not get the passcode's descriptor")
  func descriptors() async throws {
    try await TestStore.with { store in
      try await store.set("a", "x")
      let result = try await store.unlocked("run", "--env", "A=a", "--", "/bin/sh", "-c", "echo $A; cat <&3")
      #expect(result.text == "x\n")
      #expect(result.status != 0)
    }
  }
}
