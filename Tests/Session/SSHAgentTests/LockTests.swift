import Foundation
import Glibc
import KeySchemes
import ProgramDriver
import SSHAgent
import SecureMemory
import Synchronization
import Testing

@Suite("The lock of the agent (ssh-add -x)", .serialized)
struct LockTests {
  private static let (failure, success, identities, signature): (UInt8, UInt8, UInt8, UInt8) = (5, 6, 12, 14)

  private func secret(_ text: String) -> SharedSecret {
    Array(text.utf8).withUnsafeBytes { SharedSecret(SecretBytes(copying: $0)) }
  }

  // MARK: The lock itself

  @Test("opens with its password alone, and is locked once")
  func password() {
    let lock = AgentLock { _ in }
    #expect(!lock.isLocked)
    #expect(!lock.unlock(with: secret("word")), "an agent that is not locked")
    #expect(!lock.lock(with: secret("")))
    #expect(!lock.isLocked)
    #expect(lock.lock(with: secret("word")))
    #expect(lock.isLocked)
    #expect(!lock.lock(with: secret("other")))
    for wrong in ["", "wor", "words", "Word", "other"] { #expect(!lock.unlock(with: secret(wrong))) }
    #expect(lock.isLocked)
    #expect(lock.unlock(with: secret("word")))
    #expect(!lock.isLocked)
  }

  @Test("answers each wrong password a tenth of a second later than the one before, and after ten seconds at most")
  func delays() {
    let waits = Mutex<[Duration]>([])
    let lock = AgentLock { time in waits.withLock { $0.append(time) } }
    #expect(lock.lock(with: secret("word")))
    for _ in 1...102 { #expect(!lock.unlock(with: secret("wrong"))) }
    #expect(
      waits.withLock { $0 } == (1...100).map { .milliseconds(100 * $0) } + [.seconds(10), .seconds(10)])
    #expect(lock.unlock(with: secret("word")))
    #expect(lock.lock(with: secret("word")))
    #expect(!lock.unlock(with: secret("wrong")))
    #expect(waits.withLock { $0.last } == .milliseconds(100))
  }

  // MARK: The agent

  private func publicKey(_ file: String) throws -> [UInt8] {
    let line = String(decoding: try readFile(file), as: UTF8.self)
    return Array(try #require(Data(base64Encoded: String(line.split(separator: " ")[1]))))
  }

  @Test("hides the keys from every client and signs nothing, until the password comes")
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

  @Test("ssh-add locks and unlocks with a password that it asks for")
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

  @Test("ends a prompt that is shown, and a touch that holds for minutes")
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
        try await agent.waits { $0.contains { $0.contains(" to sign a file with the SSH key work ") } }
        #expect(client.change(lock: true, "word") == Self.success)
        #expect(try await signing.value.status != 0)
        try await agent.waits { $0.contains { $0.contains("refused to sign a file") } }
      }
    }
  }

  @Test("takes sessions while it is locked, so that it knows later over which hosts a request comes")
  func sessions() async throws {
    try await TestStore.with { store in
      let file = try await store.addKey("work", "--access", "none", "--host", "host.test")
      let key = try publicKey(file)
      let (relay, host) = (try TestKey(), try TestKey())
      let (first, second) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
      let known = "host.test ssh-ed25519 \(Data(try host.publicKey).base64EncodedString())\n"
      try await RunningAgent.with(store, knownHosts: known) { agent in
        let client = try RawClient(agent.socket)
        #expect(client.change(lock: true, "word") == Self.success)
        #expect(client.bind(try SessionBind(relay, session: first, isForwarding: true)) == Self.success)
        #expect(client.change(lock: false, "word") == Self.success)
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

  @Test("hides the other agent, too, and does not give it the password")
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
