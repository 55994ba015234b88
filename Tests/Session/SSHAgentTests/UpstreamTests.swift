import Glibc
import ProgramDriver
import Synchronization
import Testing

/// An agent that accepts every connection and answers nothing.
private final class SilentAgent: Sendable {
  private let listener: Int32
  private let state = Mutex((requests: 0, ended: 0))

  /// How many messages have arrived.
  var requests: Int { state.withLock { $0.requests } }
  /// How many connections the other side has ended.
  var ended: Int { state.withLock { $0.ended } }

  init(_ path: String) throws {
    listener = try UnitLauncher.listen(at: path)
    let listener = listener
    startThread { [weak self] in
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        startThread { [weak self] in
          var bytes = [UInt8](repeating: 0, count: 4_096)
          while recv(connection, &bytes, bytes.count, 0) > 0 { self?.state.withLock { $0.requests += 1 } }
          close(connection)
          self?.state.withLock { $0.ended += 1 }
        }
      }
    }
  }

  deinit { shutdown(listener, Int32(SHUT_RDWR)) }
}

@Suite("whorl-agent in front of another agent", .serialized)
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

  @Test("whorl-agent forwards added keys to the agent behind it, lists both agents' keys, and lets each sign")
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

  @Test("a key of the agent behind whorl-agent that is restricted to a host signs in there and nowhere else")
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

  @Test("an agent behind whorl-agent that does not answer does not affect the vault's keys")
  func silent() async throws {
    try await TestStore.with { store in
      let own = try await store.addKey("work", "--access", "none")
      let socket = "\(store.folder)/other"
      let other = try SilentAgent(socket)
      try await RunningAgent.with(store, options: ["--upstream", socket]) { agent in
        #expect(try await agent.client("ssh-add", ["-L"]).text.hasSuffix(" work\n"))
        try await agent.sign(own).mustSucceed()
        #expect(other.requests > 0)
        try await agent.waits { $0.contains { $0.contains("the other agent does not answer /usr/bin/ssh-add") } }
      }
    }
  }

  @Test("a client that disconnects ends its request to the agent behind whorl-agent")
  func goesAway() async throws {
    try await TestStore.with { store in
      let theirs = "\(store.folder)/theirs"
      try await makeKey(theirs)
      let socket = "\(store.folder)/other"
      let other = try SilentAgent(socket)
      try await RunningAgent.with(store, options: ["--upstream", socket]) { agent in
        // The other agent may ask a person before it accepts a key, so allow it time.
        let adding = try Invocation(
          program: "/usr/bin/ssh-add", arguments: ["-q", theirs], environment: ["SSH_AUTH_SOCK": agent.socket]
        ).start()
        startThread { _ = adding.finish { _, _ in } }
        for _ in 0..<6_000 where other.requests == 0 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(other.requests > 0)
        #expect(other.ended == 0)
        adding.signal(SIGKILL)
        for _ in 0..<6_000 where other.ended == 0 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(other.ended == 1)
      }
    }
  }

  @Test("whorl-agent without another agent behind it refuses to add keys with ssh-add")
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
