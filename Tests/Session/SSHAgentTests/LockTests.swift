import Foundation
import Glibc
import Primitives
import ProgramDriver
import SSHAgent
import SessionPrompts
import Synchronization
import Testing

@Suite("The lock of the agent (ssh-add -x)", .serialized)
struct LockTests {
  private static let (failure, success, identities, signature): (UInt8, UInt8, UInt8, UInt8) = (5, 6, 12, 14)

  private func secret(_ text: String) -> SharedSecret {
    Array(text.utf8).withUnsafeBytes { SharedSecret(SecretBytes(copying: $0)) }
  }

  // MARK: The lock itself

  @Test("whorl-agent's lock opens only with its password, and cannot be locked twice")
  func password() async {
    let lock = AgentLock { _ in }
    #expect(!lock.isLocked)
    #expect(await !lock.unlock(with: secret("word"), by: 1), "an agent that is not locked")
    #expect(await !lock.lock(with: secret(""), by: 1))
    #expect(!lock.isLocked)
    #expect(await lock.lock(with: secret("word"), by: 1))
    #expect(lock.isLocked)
    #expect(await !lock.lock(with: secret("other"), by: 1))
    for wrong in ["", "wor", "words", "Word", "other"] { #expect(await !lock.unlock(with: secret(wrong), by: 1)) }
    #expect(lock.isLocked)
    #expect(await lock.unlock(with: secret("word"), by: 1))
    #expect(!lock.isLocked)
  }

  @Test("whorl-agent's lock delays each wrong password by another tenth of a second, up to ten seconds")
  func delays() async {
    let waits = Mutex<[Duration]>([])
    let lock = AgentLock { time in waits.withLock { $0.append(time) } }
    #expect(await lock.lock(with: secret("word"), by: 1))
    for _ in 1...102 { #expect(await !lock.unlock(with: secret("wrong"), by: 1)) }
    #expect(
      waits.withLock { $0 } == (1...100).map { .milliseconds(100 * $0) } + [.seconds(10), .seconds(10)])
    #expect(await lock.unlock(with: secret("word"), by: 1))
    #expect(await lock.lock(with: secret("word"), by: 1))
    #expect(await !lock.unlock(with: secret("wrong"), by: 1))
    #expect(waits.withLock { $0.last } == .milliseconds(100))
  }

  @Test("whorl-agent's lock serves processes in turn: many tries by one do not delay another's right password")
  func turns() async throws {
    let goesOn = DispatchSemaphore(value: 0)
    let waits = Mutex(0)
    let lock = AgentLock { _ in
      waits.withLock { $0 += 1 }
      goesOn.wait()
    }
    /// Tries a password on a thread of its own, like a separate client.
    func unlock(_ password: String, by process: pid_t) -> Task<Bool, Never> {
      let password = secret(password)
      return Task(executorPreference: BackgroundThread()) { await lock.unlock(with: password, by: process) }
    }
    func eventually(_ holds: () -> Bool) async throws {
      for _ in 0..<6_000 where !holds() { try await Task.sleep(for: .milliseconds(5)) }
      #expect(holds())
    }
    #expect(await lock.lock(with: secret("word"), by: 1))
    var wrong = [unlock("wrong", by: 1)]
    try await eventually { waits.withLock { $0 } == 1 }
    for count in 1...5 {
      wrong.append(unlock("wrong", by: 1))
      try await eventually { lock.tries.count == count }
    }
    let right = unlock("word", by: 2)
    try await eventually { lock.tries.count == 6 }
    for _ in wrong { goesOn.signal() }
    #expect(await right.value)
    for each in wrong { #expect(await !each.value) }
    // Only the running try came before it. The others find the agent unlocked.
    #expect(waits.withLock { $0 } == 1)
  }

  // MARK: The agent

  private func publicKey(_ file: String) throws -> [UInt8] {
    let line = String(decoding: try readFile(file), as: UTF8.self)
    return Array(try #require(Data(base64Encoded: String(line.split(separator: " ")[1]))))
  }

  @Test("a locked whorl-agent hides the keys from every client, and signs nothing until it is unlocked")
  func locked() async throws {
    try await TestStore.with { store in
      let file = try await store.addKey("work", "--access", "none")
      let key = try publicKey(file)
      try await RunningAgent.with(store) { agent in
        let (client, other) = (try RawClient(agent.socket), try RawClient(agent.socket))
        #expect(client.sign(key, [1]) == Self.signature)
        #expect(client.change(lock: true, "") == Self.failure)
        #expect(client.change(lock: true, "word") == Self.success)
        #expect(other.change(lock: true, "word") == Self.failure)
        #expect(client.sign(key, [1]) == Self.failure)
        #expect(other.sign(key, [1]) == Self.failure)
        #expect(try await agent.client("ssh-add", ["-L"]).status == 1, "no key")
        #expect(try await agent.sign(file).status != 0)
        #expect(other.change(lock: false, "other") == Self.failure)
        #expect(other.answer { $0.append(byte: 23) } == Self.failure, "no password")
        #expect(other.sign(key, [1]) == Self.failure)
        #expect(other.change(lock: false, "word") == Self.success)
        #expect(other.change(lock: false, "word") == Self.failure)
        #expect(client.sign(key, [1]) == Self.signature)
        #expect(try await agent.client("ssh-add", ["-L"]).text.hasSuffix(" work\n"))
      }
      // The lock ends with the agent.
      try await RunningAgent.with(store) { agent in
        let client = try RawClient(agent.socket)
        #expect(client.change(lock: true, "word") == Self.success)
      }
      try await RunningAgent.with(store) { agent in
        try await agent.client("ssh-add", ["-L"]).mustSucceed()
      }
    }
  }

  @Test("ssh-add locks and unlocks whorl-agent with a password that it asks for")
  func sshAdd() async throws {
    try await TestStore.with { store in
      _ = try await store.addKey("work", "--access", "none")
      let asker = "\(store.folder)/asker"
      try writeFile(asker, Array("#!/bin/sh\necho word\n".utf8))
      chmod(asker, 0o700)
      let asking = ["SSH_ASKPASS": asker, "SSH_ASKPASS_REQUIRE": "force"]
      try await RunningAgent.with(store) { agent in
        try await agent.client("ssh-add", ["-x"], environment: asking).mustSucceed()
        #expect(try await agent.client("ssh-add", ["-l"]).status == 1)
        try await agent.client("ssh-add", ["-X"], environment: asking).mustSucceed()
        #expect(try await agent.client("ssh-add", ["-l"]).status == 0)
      }
    }
  }

  @Test("locking whorl-agent ends a running prompt, and touches that are kept for minutes")
  func prompts() async throws {
    try await TestStore.enrolled { store in
      let key = try await store.addKey("work", "--minutes", "5")
      let server = try await SSHServer(
        "host.test", in: store.folder, authorized: String(decoding: try readFile(key), as: UTF8.self))
      try await RunningAgent.with(store, [.right, .right], knownHosts: server.knownHost) { agent in
        let client = try RawClient(agent.socket)
        #expect(try await agent.client("ssh", server.arguments("true")).status == 0)
        #expect(agent.prompts.count == 1)
        #expect(client.change(lock: true, "word") == Self.success)
        #expect(client.change(lock: false, "word") == Self.success)
        #expect(try await agent.client("ssh", server.arguments("true")).status == 0)
        #expect(agent.prompts.count == 2, "\(agent.lines)")
        let signing = Task { try await agent.sign(key) }
        try await agent.waits {
          $0.contains { $0.contains(" wants to sign a file ") && $0.contains("the reader (virtual reader)") }
        }
        #expect(client.change(lock: true, "word") == Self.success)
        #expect(try await signing.value.status != 0)
        try await agent.waits { $0.contains { $0.contains("refused to sign a file") } }
      }
    }
  }

  @Test("a locked whorl-agent accepts session bindings, so that the path of later requests is known")
  func sessions() async throws {
    try await TestStore.with { store in
      let file = try await store.addKey("work", "--access", "none", "--host", "host.test")
      let key = try publicKey(file)
      let (relay, host) = (try TestKey(), try TestKey())
      let (first, second) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
      let known = "host.test ssh-ed25519 \(Data(try host.publicKey).base64EncodedString())\n"
      try await RunningAgent.with(store, knownHosts: known) { agent in
        let (client, owner) = (try RawClient(agent.socket), try RawClient(agent.socket))
        #expect(owner.change(lock: true, "word") == Self.success)
        #expect(client.bind(try SessionBind(relay, session: first, isForwarding: true)) == Self.success)
        #expect(owner.change(lock: false, "word") == Self.success)
        #expect(client.bind(try SessionBind(host, session: second)) == Self.success)
        let request = signIn(session: second, key: key, hostKey: try host.publicKey)
        #expect(client.sign(key, request) == Self.failure)
        try await agent.waits { $0.contains { $0.contains("the key is restricted to hosts") } }
        let direct = try RawClient(agent.socket)
        #expect(direct.bind(try SessionBind(host, session: second)) == Self.success)
        #expect(direct.sign(key, request) == Self.signature)
      }
    }
  }

  @Test("whorl-agent cannot be locked or unlocked from a host to which it is, or may be, forwarded")
  func forwarded() async throws {
    try await TestStore.with { store in
      let (relay, session) = (try TestKey(), [UInt8](repeating: 1, count: 32))
      let known = try SessionBind(relay, session: session, isForwarding: true)
      var (unknown, wrong) = (known, known)
      unknown.hostKey = [0, 0, 0, 1, 1]
      wrong.signature = try relay.signature(of: [1])
      try await RunningAgent.with(store) { agent in
        let owner = try RawClient(agent.socket)
        for (bind, answer) in [(known, Self.success), (unknown, Self.failure), (wrong, Self.failure)] {
          let client = try RawClient(agent.socket)
          #expect(client.bind(bind) == answer)
          #expect(client.change(lock: true, "word") == Self.failure)
          #expect(owner.change(lock: true, "word") == Self.success)
          #expect(client.change(lock: false, "word") == Self.failure)
          #expect(owner.change(lock: false, "word") == Self.success)
        }
        try await agent.waits { $0.contains { $0.contains("unlock the agent: it was forwarded to another machine") } }
        // The session that the client signs in to does not forward the agent to its host.
        let direct = try RawClient(agent.socket)
        #expect(direct.bind(try SessionBind(relay, session: session)) == Self.success)
        #expect(direct.change(lock: true, "word") == Self.success)
        #expect(direct.change(lock: false, "word") == Self.success)
      }
    }
  }

  @Test("a locked whorl-agent also hides the agent behind it, which does not get the password")
  func upstream() async throws {
    try await TestStore.with { store in
      let own = try await store.addKey("work", "--access", "none")
      let (socket, theirs) = ("\(store.folder)/other", "\(store.folder)/theirs")
      let other = try Invocation(program: "/usr/bin/ssh-agent", arguments: ["-D", "-a", socket]).start()
      defer { other.signal(SIGTERM) }
      startThread { _ = other.finish { _, _ in } }
      for _ in 0..<2_000 where access(socket, F_OK) != 0 { try await Task.sleep(for: .milliseconds(5)) }
      try await Invocation(
        program: "/usr/bin/ssh-keygen", arguments: ["-q", "-t", "ed25519", "-N", "", "-C", "theirs", "-f", theirs]
      ).run().mustSucceed()
      try await RunningAgent.with(store, options: ["--upstream", socket]) { agent in
        try await agent.client("ssh-add", ["-q", theirs]).mustSucceed()
        let client = try RawClient(agent.socket)
        #expect(client.change(lock: true, "word") == Self.success)
        #expect(try await agent.client("ssh-add", ["-L"]).status == 1)
        #expect(try await agent.client("ssh-add", ["-q", "-D"]).status != 0)
        #expect(try await agent.client("ssh-add", ["-q", theirs]).status != 0)
        remove(theirs)
        #expect(try await agent.sign("\(theirs).pub").status != 0)
        #expect(
          try await agent.client("ssh-add", ["-L"], environment: ["SSH_AUTH_SOCK": socket]).text.hasSuffix(" theirs\n"))
        #expect(client.change(lock: false, "word") == Self.success)
        try await agent.sign(own).mustSucceed()
        try await agent.sign("\(theirs).pub").mustSucceed()
      }
    }
  }
}
