import Foundation
import Glibc
import Primitives
import ProgramDriver
import Synchronization
import Testing

/// An agent that holds its answers back until they are released, like one that asks a person first.
private final class HeldAgent: Sendable {
  private struct State {
    var requests = 0
    var connections: [Int32] = []
  }

  private let listener: Int32
  private let state = Mutex(State())

  /// How many parts of messages have arrived.
  var requests: Int { state.withLock { $0.requests } }

  init(_ path: String) throws {
    listener = try UnitLauncher.listen(at: path)
    let listener = listener
    startThread { [weak self] in
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        self?.state.withLock { $0.connections.append(connection) }
        startThread { [weak self] in
          var bytes = [UInt8](repeating: 0, count: 4_096)
          while recv(connection, &bytes, bytes.count, 0) > 0 { self?.state.withLock { $0.requests += 1 } }
        }
      }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    for connection in state.withLock({ $0.connections }) { close(connection) }
  }

  /// Answers on every connection.
  func answer(_ message: [UInt8]) {
    var framed = SSHWriter()
    framed.append(string: message)
    for connection in state.withLock({ $0.connections }) {
      _ = framed.bytes.withUnsafeBytes { Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }
  }
}

@Suite("Locking the agent while the other agent answers", .serialized)
struct LockedUpstreamTests {
  private static let (failure, success, identities, signature): (UInt8, UInt8, UInt8, UInt8) = (5, 6, 12, 14)

  /// Sends a message, and locks the agent while the other agent handles it. Returns the client's answer, after the
  /// other agent has answered.
  private func answer(to message: [UInt8], with late: [UInt8]) async throws -> [UInt8]? {
    try await TestStore.with { store in
      _ = try await store.addKey("work", "--access", "none")
      let socket = "\(store.folder)/other"
      let other = try HeldAgent(socket)
      return try await RunningAgent.with(store, options: ["--upstream", socket]) { agent in
        let (client, owner) = (try RawClient(agent.socket), try RawClient(agent.socket))
        var framed = SSHWriter()
        framed.append(string: message)
        let answer = Task(executorPreference: BackgroundThread()) { [framed] in client.send(framed.bytes) }
        for _ in 0..<6_000 where other.requests == 0 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(other.requests > 0)
        #expect(owner.change(lock: true, "word") == Self.success)
        other.answer(late)
        return await answer.value
      }
    }
  }

  @Test("locking whorl-agent withholds a signature that the agent behind it has yet to send")
  func signature() async throws {
    var request = SSHWriter()
    request.append(byte: 13)
    for field: [UInt8] in [try TestKey().publicKey, [1]] { request.append(string: field) }
    request.append(number: 0)
    #expect(try await answer(to: request.bytes, with: [Self.signature, 0, 0, 0, 1, 7]) == [Self.failure])
  }

  @Test("locking whorl-agent withholds an answer to an unknown request that the agent behind it has yet to send")
  func other() async throws {
    #expect(try await answer(to: [200], with: [Self.success]) == [Self.failure])
  }

  @Test("locking whorl-agent withholds its keys and those that the agent behind it has yet to send")
  func list() async throws {
    var keys = SSHWriter()
    keys.append(byte: Self.identities)
    keys.append(number: 1)
    for field: [UInt8] in [try TestKey().publicKey, [1]] { keys.append(string: field) }
    #expect(try await answer(to: [11], with: keys.bytes) == [Self.identities, 0, 0, 0, 0])
  }

  @Test("a locked whorl-agent does not forward an earlier request that still waits for the vault")
  func waitingForVault() async throws {
    try await TestStore.with { store in
      let line = String(decoding: try readFile(try await store.addKey("work", "--access", "none")), as: UTF8.self)
      let key = Array(try #require(Data(base64Encoded: String(line.split(separator: " ")[1]))))
      let stranger = try TestKey().publicKey
      let socket = "\(store.folder)/other"
      let other = try HeldAgent(socket)
      try await RunningAgent.with(store, options: ["--upstream", socket]) { agent in
        let (client, owner) = (try RawClient(agent.socket), try RawClient(agent.socket))
        #expect(client.sign(key, [1]) == Self.signature)
        let running = vaults(of: agent.pid)
        #expect(!running.isEmpty)
        for vault in running { try stop(vault) }
        let isOver = Mutex(false)
        let answer = Task(executorPreference: BackgroundThread()) {
          defer { isOver.withLock { $0 = true } }
          return client.sign(stranger, [1])
        }
        // Give the request time to reach the stopped vault.
        try await Task.sleep(for: .milliseconds(200))
        #expect(owner.change(lock: true, "word") == Self.success)
        for vault in running { kill(vault, SIGCONT) }
        for _ in 0..<6_000 where other.requests == 0 && !isOver.withLock({ $0 }) {
          try await Task.sleep(for: .milliseconds(5))
        }
        #expect(other.requests == 0)
        // Otherwise there would be no answer.
        if other.requests == 0 { #expect(await answer.value == Self.failure) }
      }
    }
  }
}
