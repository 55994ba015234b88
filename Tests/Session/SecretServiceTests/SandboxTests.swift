import Foundation
import Glibc
import ProgramDriver
import SecretModel
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

  @Test(
    "a program that was opened where its file is mounted over an installed program is not that program",
    arguments: [true, false])
  func smuggled(removing: Bool) async throws {
    try await Sandboxed.smuggled(over: "/usr/bin/env", removing: removing) { process in
      let told = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/exe")
      #expect(told == (removing ? "/usr/bin/env (deleted)" : "/usr/bin/env"))
      let program = ClientProgram(process)
      #expect(program.path == nil)
      #expect(program.identity == nil)
      #expect(!program.program.contains("/usr/bin/env"))
      #expect(program.words.hasSuffix(", unverified"))
    }
  }

  @Test("a running program has no path once an upgrade replaces or removes its file, and says where it was")
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
      let before = ClientProgram(running.pid)
      #expect(before.path == path)
      for replace in [{ rename("\(path).new", path) }, { unlink(path) }] {
        #expect(replace() == 0)
        let program = ClientProgram(running.pid)
        #expect(program.path == nil)
        #expect(program.identity == nil)
        #expect(program.earlierPath == path)
        #expect(program.program != before.program)
        #expect(
          program.words
            == "process \(running.pid), which says that it was \(path) and has been updated or removed since it started, "
            + "unverified")
      }
    }
  }

  @Test("a program that replaces another one's file at its path does not use that one's touch for the session")
  func replacedFile() async throws {
    try await RunningSecretService.with([.right, .right]) { service in
      try await service.storeWithTool("behind a finger", label: "Bank", "service", "bank")
      try await service.gate("Bank", .presence, .session)
      let tool = try await service.run("/usr/bin/readlink", "-f", "/usr/bin/secret-tool").text.filter { $0 != "\n" }
      let path = "\(service.store.folder)/tool"
      for name in [path, "\(path).new"] {
        try writeFile(name, readFile(tool))
        chmod(name, 0o755)
      }
      for _ in 1...2 { #expect(try await service.run(path, "lookup", "service", "bank").text == "behind a finger") }
      #expect(service.agent.prompts.count == 1)
      #expect(rename("\(path).new", path) == 0)
      #expect(try await service.run(path, "lookup", "service", "bank").text == "behind a finger")
      #expect(service.agent.prompts.count == 2)
    }
  }

  @Test("a program that is updated while it runs keeps its rule, loses its touch for the session, and says what it was")
  func updatedWithRule() async throws {
    try await RunningSecretService.with([.right, .right]) { service in
      try await service.storeWithTool("password", label: "Mail", "service", "mail")
      let python = try await service.run("/usr/bin/readlink", "-f", "/usr/bin/python3").text.filter { $0 != "\n" }
      let path = "\(service.store.folder)/py"
      try writeFile(path, readFile(python))
      chmod(path, 0o755)
      try await service.gate(program: path, .presence, .session)
      let mark = "\(service.store.folder)/go-on"
      let script = """
        import os, secretstorage, time
        def read():
            found = next(secretstorage.search_items(secretstorage.dbus_init(), {'service': 'mail'}))
            found.unlock()
            return found.get_secret().decode()
        print(read(), read())
        while not os.path.exists('\(mark)'): time.sleep(0.02)
        print(read())
        """
      async let reading = service.run(path, "-c", script)
      try await service.agent.waits { $0.contains { $0.contains("Allowed, to read “Mail”") } }
      // The second read needs no touch.
      try await Task.sleep(for: .milliseconds(500))
      #expect(service.agent.prompts.count == 1)
      #expect(unlink(path) == 0)
      try writeFile(mark, [])
      let read = try await reading
      #expect(read.text == "password password\npassword\n", "\(read.diagnostics)")
      #expect(service.agent.prompts.count == 2)
      let last = service.agent.prompts.last ?? ""
      #expect(
        last.hasPrefix("whorl-agent: A program that says it was py before an update wants to read “Mail”. "), "\(last)")
      #expect(last.contains("which says that it was "), "\(last)")
    }
  }
}
