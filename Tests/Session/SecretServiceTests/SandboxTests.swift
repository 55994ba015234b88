import Glibc
import ProgramDriver
import SecretModel
import SecretServiceItems
import SessionPrompts
import Testing
import Whorl

@Suite("A program with its own file mounted over an installed program's", .serialized)
struct SandboxTests {
  @Test("a program mounted over an installed program has no path, and is shown as being in a sandbox")
  func path() async throws {
    try await Sandboxed.with(over: "/usr/bin/env") { process in
      let program = ClientProgram(process)
      #expect(program.path == nil)
      #expect(program.words == "process \(process) in a sandbox, unverified")
      #expect(!program.program.contains("/usr/bin/env"))
    }
  }

  @Test("a program mounted over an installed program does not use that program's touch for the session")
  func grant() async throws {
    // The bus checks a program's user id, which in such a namespace is root's.
    guard geteuid() == 0 else { return print("skipped: the bus takes no program of a user namespace of another user") }
    guard try await Sandboxed.isPossible() else { return }
    try await RunningSecretService.with([.right, .right]) { service in
      try await service.storeWithTool("behind a finger", label: "Bank", "service", "bank")
      try await service.gate("Bank", .presence, .session)
      let tool = try await service.run("/usr/bin/readlink", "-f", "/usr/bin/secret-tool").text.split(separator: "\n")[0]
      for _ in 1...2 {
        let found = try await service.run(String(tool), "lookup", "service", "bank")
        #expect(found.text == "behind a finger")
      }
      #expect(service.agent.prompts.count == 1)
      let copy = "\(service.store.folder)/copy"
      try writeFile(copy, readFile(String(tool)))
      chmod(copy, 0o755)
      let words = Sandboxed.command(copy, over: String(tool), ["lookup", "service", "bank"])
      let found = try await Invocation(
        program: "/usr/bin/unshare", arguments: words,
        environment: ["DBUS_SESSION_BUS_ADDRESS": service.bus.address, "HOME": service.store.folder]
      ).run()
      #expect(found.text == "behind a finger", "\(found.diagnostics)")
      #expect(service.agent.prompts.count == 2)
      #expect(
        service.agent.prompts.last?.contains("A program that cannot be identified wants to read “Bank”. ") == true)
      #expect(service.agent.prompts.last?.hasSuffix(" in a sandbox, unverified)") == true)
    }
  }

  @Test("a running program keeps its path when an upgrade replaces or removes its file")
  func upgraded() async throws {
    try await withFolder { folder in
      let path = "\(folder)/program"
      for name in [path, "\(path).new"] {
        try writeFile(name, readFile("/bin/sleep"))
        chmod(name, 0o755)
      }
      let running = try Invocation(program: path, arguments: ["600"]).start()
      startThread { _ = running.finish { _, _ in } }
      defer { running.signal(SIGKILL) }
      for _ in 0..<2_000 where ClientProgram(running.pid).path != path { try await Task.sleep(for: .milliseconds(5)) }
      #expect(ClientProgram(running.pid).path == path)
      #expect(rename("\(path).new", path) == 0)
      #expect(ClientProgram(running.pid).path == path)
      #expect(unlink(path) == 0)
      #expect(ClientProgram(running.pid).path == path)
    }
  }
}
