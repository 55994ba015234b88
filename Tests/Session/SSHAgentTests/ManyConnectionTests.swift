import Foundation
import Glibc
import ProgramDriver
import Synchronization
import Testing

@testable import SSHAgent

/// What ansible, parallel, git and editors do with an SSH agent, ten times over.
@Suite("Programs that use whorl-agent over many connections", .serialized)
struct ManyConnectionTests {
  private static let (success, list, signature): (UInt8, UInt8, UInt8) = (6, 12, 14)

  private func publicKey(_ file: String) throws -> [UInt8] {
    let line = String(decoding: try readFile(file), as: UTF8.self)
    return Array(try #require(Data(base64Encoded: String(line.split(separator: " ")[1]))))
  }

  @Test("each of 300 connections of one process lists the keys, and later gets a signature")
  func process() async throws {
    try await TestStore.with { store in
      let key = try publicKey(try await store.addKey("work", "--access", "none"))
      let host = try TestKey()
      try await RunningAgent.with(store) { agent in
        let clients = try (0..<300).map { _ in try RawClient(agent.socket) }
        #expect(clients.count { $0.send([0, 0, 0, 1, 11])?.first == Self.list } == 300)
        var signed = 0
        for (number, client) in clients.enumerated() {
          let session = [UInt8](repeating: UInt8(number % 251), count: 32)
          guard client.bind(try SessionBind(host, session: session)) == Self.success else { continue }
          let request = signIn(session: session, key: key, hostKey: try host.publicKey)
          if client.sign(key, request) == Self.signature { signed += 1 }
        }
        #expect(signed == 300)
        #expect(vaults(of: agent.pid).count == 1)
      }
    }
  }

  @Test("50 processes of one program keep 500 connections to whorl-agent, and all are answered")
  func program() async throws {
    try await TestStore.with { store in
      _ = try await store.addKey("work", "--access", "none")
      try await RunningAgent.with(store) { agent in
        // Each prints a line once all its connections are answered, and asks again over each when the file appears.
        let script = """
          import os, socket, sys, time
          def ask(agent):
              agent.sendall(bytes([0, 0, 0, 1, 11]))
              size = agent.recv(4, socket.MSG_WAITALL)
              return len(size) == 4 and agent.recv(int.from_bytes(size, 'big'), socket.MSG_WAITALL)[0] == 12
          agents = []
          for _ in range(10):
              agents.append(socket.socket(socket.AF_UNIX))
              agents[-1].connect(sys.argv[1])
          first = sum(ask(agent) for agent in agents)
          print('first', first, file=sys.stderr, flush=True)
          while not os.path.exists(sys.argv[2]): time.sleep(0.05)
          print('second', sum(ask(agent) for agent in agents), file=sys.stderr, flush=True)
          """
        let mark = "\(store.folder)/go-on"
        let lines = Mutex<[String]>([])
        let programs = try (0..<50).map { _ in
          try Invocation(program: "/usr/bin/python3", arguments: ["-c", script, agent.socket, mark]).start()
        }
        for program in programs {
          startThread { _ = program.finish { line, _ in lines.withLock { $0.append(line) } } }
        }
        defer { for program in programs { program.signal(SIGKILL) } }
        func counts(_ word: String) async throws -> [String] {
          for _ in 0..<6_000 where lines.withLock({ $0.count { $0.hasPrefix(word) } }) < 50 {
            try await Task.sleep(for: .milliseconds(10))
          }
          return lines.withLock { $0.filter { $0.hasPrefix(word) } }
        }
        #expect(try await counts("first") == Array(repeating: "first 10", count: 50))
        try writeFile(mark, [])
        #expect(try await counts("second") == Array(repeating: "second 10", count: 50))
      }
    }
  }

  @Test("300 connections that send half a message, or read no answer, do not keep whorl-agent from other clients")
  func stalled() async throws {
    try await TestStore.with { store in
      let key = try publicKey(try await store.addKey("work", "--access", "none"))
      try await RunningAgent.with(store) { agent in
        let clients = try (0..<300).map { _ in try RawClient(agent.socket) }
        for client in clients { client.begin([0, 0, 0, 9, 11]) }
        let other = try RawClient(agent.socket)
        #expect(other.send([0, 0, 0, 1, 11])?.first == Self.list)
        #expect(other.sign(key, [1]) == Self.signature)
      }
    }
  }

  @Test("touches that are kept for 70 hosts all count, over one connection to the vault")
  func keptTouches() async throws {
    let count = 70
    try await TestStore.enrolled { store in
      let key = try publicKey(try await store.addKey("work", "--minutes", "60"))
      let hosts = try (0..<count).map { _ in try TestKey() }
      let session = [UInt8](repeating: 1, count: 32)
      try await RunningAgent.with(store, Array(repeating: .right, count: count)) { agent in
        for _ in 1...2 {
          for host in hosts {
            let client = try RawClient(agent.socket)
            #expect(client.bind(try SessionBind(host, session: session)) == Self.success)
            let request = signIn(session: session, key: key, hostKey: try host.publicKey)
            #expect(client.sign(key, request) == Self.signature)
          }
          #expect(agent.prompts.count == count)
        }
        #expect(vaults(of: agent.pid).count == 1)
      }
    }
  }
}
