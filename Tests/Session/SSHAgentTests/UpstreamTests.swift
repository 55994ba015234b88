import Glibc
import ProgramDriver
import Testing

@Suite("whorl-agent before another agent", .serialized)
struct UpstreamTests {
  /// Runs OpenSSH's own agent behind whorl-agent.
  private func with<Value>(
    _ store: TestStore, knownHosts: String = "", _ body: (RunningAgent, String) async throws -> Value
  ) async throws -> Value {
    let socket = "\(store.folder)/other"
    let other = try Invocation(program: "/usr/bin/ssh-agent", arguments: ["-D", "-a", socket]).start()
    defer { other.signal(SIGTERM) }
    startThread { _ = other.finish { _, _ in } }
    var tries = 0
    while access(socket, F_OK) != 0, tries < 1_000 {
      tries += 1
      try await Task.sleep(for: .milliseconds(5))
    }
    return try await RunningAgent.with(store, knownHosts: knownHosts, options: ["--upstream", socket]) {
      try await body($0, socket)
    }
  }

  private func makeKey(_ path: String) async throws {
    try await Invocation(
      program: "/usr/bin/ssh-keygen", arguments: ["-q", "-t", "ed25519", "-N", "", "-C", "theirs", "-f", path]
    )
    .run().mustSucceed()
  }

  @Test("hands on what ssh-add adds, lists both agents' keys, and lets each sign with its own")
  func handsOn() async throws {
    try await TestStore.with { store in
      let own = try await store.addKey("work", "--access", "none")
      let theirs = "\(store.folder)/theirs"
      try await makeKey(theirs)
      try await with(store) { agent, socket in
        try await agent.client("ssh-add", ["-q", "-t", "600", theirs]).mustSucceed()
        remove(theirs)
        let listed = try await agent.client("ssh-add", ["-L"]).text
        #expect(listed.split(separator: "\n").map { $0.split(separator: " ").last } == ["work", "theirs"])
        try await agent.sign(own).mustSucceed()
        try await agent.sign("\(theirs).pub").mustSucceed()
        // It is the other agent that has it.
        let there = try await agent.client("ssh-add", ["-L"], environment: ["SSH_AUTH_SOCK": socket])
        #expect(there.text.hasSuffix(" theirs\n"))
        try await agent.client("ssh-add", ["-q", "-D"]).mustSucceed()
        #expect(try await agent.client("ssh-add", ["-L"]).text.hasSuffix(" work\n"))
      }
    }
  }

  @Test("a key that is restricted to a host signs in there and nowhere else")
  func restricted() async throws {
    try await TestStore.with { store in
      let theirs = "\(store.folder)/theirs"
      try await makeKey(theirs)
      let authorized = String(decoding: try readFile("\(theirs).pub"), as: UTF8.self)
      let host = try await SSHServer("host.test", in: store.folder, authorized: authorized)
      let other = try await SSHServer("other.test", in: store.folder, authorized: authorized)
      let known = "\(store.folder)/all"
      try writeFile(known, Array((host.knownHost + other.knownHost).utf8))
      try await with(store) { agent, _ in
        try await agent.client("ssh-add", ["-q", "-H", known, "-h", "host.test", theirs]).mustSucceed()
        remove(theirs)
        let there = try await agent.client("ssh", host.arguments("echo there"))
        #expect(there.text == "there\n", "\(there.diagnostics)")
        #expect(try await agent.client("ssh", other.arguments("echo there")).status != 0)
      }
    }
  }

  @Test("without another agent, what ssh-add adds is refused")
  func alone() async throws {
    try await TestStore.with { store in
      let theirs = "\(store.folder)/theirs"
      try await makeKey(theirs)
      try await RunningAgent.with(store) { agent in
        let added = try await agent.client("ssh-add", ["-q", theirs])
        #expect(added.status != 0)
        #expect(try await agent.client("ssh-add", ["-L"]).status == 1)
      }
    }
  }
}
