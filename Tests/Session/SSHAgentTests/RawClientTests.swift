import Foundation
import Glibc
import Primitives
import ProgramDriver
import SSHAgent
import SecretModel
import Synchronization
import Testing
import Whorl

/// An agent that answers one message on each connection, with a failure, and ends it.
private final class OneAnswerAgent: Sendable {
  private let listener: Int32
  private let count = Mutex(0)

  /// The connections so far.
  var connections: Int { count.withLock { $0 } }

  init(_ path: String) throws {
    listener = try UnitLauncher.listen(at: path)
    let listener = listener
    startThread { [weak self] in
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        self?.count.withLock { $0 += 1 }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        _ = recv(connection, &bytes, bytes.count, 0)
        _ = [0, 0, 0, 1, 5].withUnsafeBytes { Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        close(connection)
      }
    }
  }

  deinit { shutdown(listener, Int32(SHUT_RDWR)) }
}

private struct WeakStore: Sendable {
  private(set) weak var store: SecretStore?

  init(_ store: SecretStore) { self.store = store }
}

/// For keys that are only listed.
private struct NoPrompt: AuthenticationPrompt {
  func handle(_ event: AuthenticationEvent, in session: PromptSession) async {}
}

@Suite("whorl-agent and clients that break the protocol")
struct RawClientTests {
  private static let failure: UInt8 = 5
  private static let success: UInt8 = 6
  private static let signature: UInt8 = 14

  private func publicKey(_ file: String) throws -> [UInt8] {
    let line = String(decoding: try readFile(file), as: UTF8.self)
    return Array(try #require(Data(base64Encoded: String(line.split(separator: " ")[1]))))
  }

  @Test("whorl-agent refuses requests after a forged session binding; a valid one allows its own session only")
  func binds() async throws {
    try await TestStore.with { store in
      // The key requires nothing, so that no other rule refuses.
      let key = try publicKey(try await store.addKey("work", "--access", "none"))
      let host = try TestKey()
      let (session, other) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
      let request = signIn(session: session, key: key, hostKey: try host.publicKey)
      try await RunningAgent.with(store) { agent in
        var bind = try SessionBind(host, session: session)
        let honest = try RawClient(agent.socket)
        #expect(honest.bind(bind) == Self.success)
        #expect(honest.sign(key, request) == Self.signature)
        #expect(honest.sign(key, signIn(session: other, key: key, hostKey: try host.publicKey)) == Self.failure)
        #expect(honest.sign(key, signIn(session: session, key: key, hostKey: key)) == Self.failure)
        let liar = try RawClient(agent.socket)
        bind.signature = try host.signature(of: other)
        #expect(liar.bind(bind) == Self.failure)
        #expect(liar.sign(key, request) == Self.failure)
        try await agent.waits { $0.contains { $0.contains("sent a session binding that was refused: the signature") } }
      }
    }
  }

  @Test("a lost connection to the agent behind whorl-agent is not replaced, since a new one knows no sessions")
  func lostUpstream() async throws {
    try await TestStore.with { store in
      let socket = "\(store.folder)/other"
      let upstream = try OneAnswerAgent(socket)
      try await RunningAgent.with(store, options: ["--upstream", socket]) { agent in
        let client = try RawClient(agent.socket)
        for _ in 1...3 { #expect(client.answer { $0.append(byte: 200) } == Self.failure) }
        #expect(upstream.connections == 1)
        // Other clients have their own.
        #expect(try RawClient(agent.socket).answer { $0.append(byte: 200) } == Self.failure)
        #expect(upstream.connections == 2)
      }
    }
  }

  @Test("a locked whorl-agent forwards no unknown request")
  func lockedExtension() async throws {
    try await TestStore.with { store in
      let socket = "\(store.folder)/other"
      let upstream = try OneAnswerAgent(socket)
      try await RunningAgent.with(store, options: ["--upstream", socket]) { agent in
        let client = try RawClient(agent.socket)
        #expect(client.change(lock: true, "word") == Self.success)
        let answer = client.answer {
          $0.append(byte: 27)
          $0.append(text: "other@host.test")
        }
        #expect(answer == Self.failure)
        #expect(client.answer { $0.append(byte: 200) } == Self.failure)
        #expect(upstream.connections == 0)
      }
    }
  }

  @Test("a process has at most 512 connections to whorl-agent; another one closes the least recently used")
  func connections() async throws {
    try await TestStore.with { store in
      try await RunningAgent.with(store) { agent in
        let list: [UInt8] = [0, 0, 0, 1, 11]
        let clients = try (1...512).map { _ in try RawClient(agent.socket) }
        #expect(clients.allSatisfy { $0.send(list)?.first == 12 })
        #expect(clients[0].send(list)?.first == 12)
        #expect(try RawClient(agent.socket).send(list)?.first == 12)
        #expect(clients[1].send(list) == nil)
        #expect(([clients[0]] + clients[2...]).allSatisfy { $0.send(list)?.first == 12 })
        #expect(try await agent.client("ssh-add", ["-L"]).status == 1)
      }
    }
  }

  @Test("processes that use all connections of whorl-agent lock nobody out")
  func hoarding() async throws {
    try await TestStore.with { store in
      try await RunningAgent.with(store) { agent in
        // Each client prints a line once it has all its connections, and keeps running.
        let script = """
          import socket, sys, time
          agents = []
          for _ in range(512):
              agents.append(socket.socket(socket.AF_UNIX))
              agents[-1].connect(sys.argv[1])
              agents[-1].sendall(bytes([0, 0, 0, 1, 11]))
              agents[-1].recv(9, socket.MSG_WAITALL)
          print('full', file=sys.stderr, flush=True)
          time.sleep(600)
          """
        let hoarders = try (1...3).map { _ in
          try Invocation(program: "/usr/bin/python3", arguments: ["-c", script, agent.socket]).start()
        }
        let full = Mutex(0)
        for hoarder in hoarders {
          startThread { _ = hoarder.finish { line, _ in if line.contains("full") { full.withLock { $0 += 1 } } } }
        }
        defer { for hoarder in hoarders { hoarder.signal(SIGKILL) } }
        for _ in 0..<3_000 where full.withLock({ $0 }) < 3 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(full.withLock { $0 } == 3)
        #expect(try await agent.client("ssh-add", ["-L"]).status == 1)
      }
    }
  }

  @Test("an idle client of whorl-agent holds no connection to the vault")
  func unusedStore() async throws {
    try await TestStore.with { store in
      let folder = store.folder
      let opened = Mutex<[WeakStore]>([])
      let (directory, configuration) = (store.directory, "\(folder)/in-process.json")
      try writeFile(configuration, Array(#"{"vaultProgram":"\#(try Programs.path("whorld"))"}"#.utf8))
      var agent = AgentConfiguration(
        bus: "unix:path=/nonexistent",
        openStore: { () throws(VaultError) in
          let store = try SecretStore.open(at: directory, reader: "auto", configuration: configuration)
          opened.withLock { $0.append(WeakStore(store)) }
          return store
        }, prompt: { _ in NoPrompt() }, log: { _ in }, knownHosts: KnownHosts(files: []), upstream: nil)
      agent.unusedStoreTime = .milliseconds(50)
      let server = AgentServer(agent)
      server.begin(try UnitLauncher.listen(at: folder + "/in-process"))
      // A process of its own: the agent refuses its own process.
      let client = Task {
        try await Invocation(
          program: "/usr/bin/python3",
          arguments: [
            "-c",
            """
            import os, socket, sys, time
            agent = socket.socket(socket.AF_UNIX)
            agent.connect(sys.argv[1] + '/in-process')
            for request in range(3):
                agent.sendall(bytes([0, 0, 0, 1, 11]))
                print(agent.recv(9, socket.MSG_WAITALL)[4], flush=True)
                while not os.path.exists(f'{sys.argv[1]}/go-on-{request}'): time.sleep(0.01)
            """, folder,
          ]
        ).run()
      }
      for request in 0..<3 {
        for _ in 0..<6_000
        where opened.withLock({ $0.count <= request || $0.contains { $0.store != nil } }) {
          try await Task.sleep(for: .milliseconds(10))
        }
        #expect(opened.withLock { $0.map { $0.store == nil } } == Array(repeating: true, count: request + 1))
        try writeFile("\(folder)/go-on-\(request)", [])
      }
      #expect(try await client.value.text == "12\n12\n12\n")
    }
  }

  @Test("a file in the place of whorl-agent's socket is not changed")
  func fileAtSocket() async throws {
    try await TestStore.with { store in
      let path = "\(store.folder)/id_ed25519"
      try writeFile(path, Array("a key".utf8))
      let result = try await Invocation(
        program: "whorl-agent", arguments: ["--socket", path, "--store", store.directory] + store.reader
      ).run()
      #expect(result.status != 0)
      #expect(result.diagnostics.contains("no socket"))
      #expect(try readFile(path) == Array("a key".utf8))
    }
  }

  @Test("whorl-agent refuses signatures with SHA-1, and messages that are empty or too long")
  func refused() async throws {
    try await TestStore.with { store in
      let key = try publicKey(try await store.addKey("work", "--access", "none", "--type", "rsa-2048"))
      try await RunningAgent.with(store) { agent in
        let client = try RawClient(agent.socket)
        #expect(client.sign(key, [1], flags: 0) == Self.failure)
        #expect(client.sign(key, [1], flags: 2) == Self.signature)
        #expect(client.sign(key, [1], flags: 4) == Self.signature)
        #expect(client.send([0, 4, 0, 1, 11]) == nil)
        #expect(try RawClient(agent.socket).send([0, 0, 0, 0]) == nil)
        #expect(try RawClient(agent.socket).send([0, 0, 0, 1, 11])?.first == 12)
      }
    }
  }
}
