import Glibc
import ProgramDriver
import Testing

@Suite("The remote of whorl sync")
struct SyncRemoteTests {
  @Test("whorl sync init and join take a folder with a space in its path, and a repository of git's newer format")
  func spaceAndFormat() async throws {
    try await SyncMachines.with(remoteAt: "my stick/secrets.git", format: "sha256") { machines in
      let (one, two) = try await machines.pair()
      #expect(try await one.whorl("sync", "remote").text == machines.remote + "\n")
      try await one.set("shared", "s", "--access", "none", "--sync")
      try await one.whorl("sync", "now").mustSucceed()
      try await two.whorl("sync", "now").mustSucceed()
      #expect(try await two.whorl("get", "shared").text == "s")
    }
  }

  @Test("whorl sync init refuses a folder whose configuration names a program, says which setting, and makes no circle")
  func configuredFolder() async throws {
    try await SyncMachines.with { machines in
      let one = try await machines.machine("one")
      try await Invocation(
        program: "/usr/bin/git",
        arguments: ["-C", machines.remote, "config", "core.alternateRefsCommand", "touch \(machines.folder)/ran"]
      ).run().mustSucceed()
      let refused = try await one.unlocked("sync", "init", machines.remote)
      #expect(refused.status == 77)
      #expect(refused.failure.contains("core.alternateRefsCommand"), "\(refused.failure)")
      #expect(access("\(machines.folder)/ran", F_OK) != 0)
      #expect(try await one.whorl("sync", "remote").status == 66)
    }
  }

  @Test("whorl sync now, from a timer, says that the remote needs a passphrase and what to do, with status 69")
  func passphrase() async throws {
    try await SyncMachines.with { machines in
      let one = try await machines.machine("one")
      try await one.unlocked("sync", "init", machines.remote).mustSucceed()
      try await one.whorl("sync", "remote", "host:/secrets.git").mustSucceed()
      let program = "\(machines.folder)/pretended-ssh"
      try writeFile(program, Array("#!/bin/sh\necho 'me@host: Permission denied (publickey).' >&2\nexit 255\n".utf8))
      chmod(program, 0o755)
      let failed = try await one.whorl("sync", "now", "--quiet", environment: ["GIT_SSH_COMMAND": program])
      #expect(failed.status == 69)
      for words in ["without a passphrase", "~/.ssh/config", "'whorl sync now' at a terminal"] {
        #expect(failed.failure.contains(words), "\(failed.failure)")
      }
    }
  }

  @Test("git ends when whorl sync is killed, also while it waits for the remote")
  func killed() async throws {
    try await SyncMachines.with { machines in
      let one = try await machines.machine("one")
      try await one.unlocked("sync", "init", machines.remote).mustSucceed()
      try await one.whorl("sync", "remote", "host:/secrets.git").mustSucceed()
      let program = "\(machines.folder)/pretended-ssh"
      try writeFile(program, Array("#!/bin/sh\nexec sleep 1000\n".utf8))
      chmod(program, 0o755)
      let running = try Invocation(
        arguments: one.arguments(["sync", "now"]), environment: ["GIT_SSH_COMMAND": program]
      ).start()
      func gits() -> [pid_t] { processes(with: "\(one.directory)/sync/repository\0") }
      for _ in 1...1_000 where gits().isEmpty { try await Task.sleep(for: .milliseconds(20)) }
      let git = try #require(gits().first)
      let helpers = descendants(of: git)
      defer { for each in helpers + [git] { kill(each, SIGKILL) } }
      running.signal(SIGKILL)
      _ = running.finish { _, _ in }
      for _ in 1...500 where !gits().isEmpty { try await Task.sleep(for: .milliseconds(20)) }
      #expect(gits().isEmpty)
    }
  }
}
