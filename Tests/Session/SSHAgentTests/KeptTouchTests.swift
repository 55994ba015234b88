import Foundation
import ProgramDriver
import SecretModel
import Testing
import Whorl

@testable import SSHAgent

@Suite("A touch that is kept for an SSH key", .serialized)
struct KeptTouchTests {
  private static let (success, signature): (UInt8, UInt8) = (6, 14)

  @Test("a kept touch for an SSH key counts for sign-ins to the same host as the same user only")
  func purposes() async throws {
    try await TestStore.enrolled { store in
      let line = String(decoding: try readFile(try await store.addKey("work", "--minutes", "5")), as: UTF8.self)
      let key = Array(try #require(Data(base64Encoded: String(line.split(separator: " ")[1]))))
      let (host, other) = (try TestKey(), try TestKey())
      let session = [UInt8](repeating: 1, count: 32)
      try await RunningAgent.with(store, [.right, .right, .right]) { agent in
        func prompts(_ user: String, _ host: TestKey) throws -> Int {
          let client = try RawClient(agent.socket)
          #expect(client.bind(try SessionBind(host, session: session)) == Self.success)
          let request = signIn(session: session, user: user, key: key, hostKey: try host.publicKey)
          #expect(client.sign(key, request) == Self.signature)
          return agent.prompts.count
        }
        let counts = [
          try prompts("alice", host), try prompts("alice", host), try prompts("bob", host), try prompts("alice", other),
          try prompts("alice", host), try prompts("bob", host),
        ]
        #expect(counts == [1, 1, 2, 3, 3, 3])
      }
    }
  }

  @Test("a kept touch for an SSH key ends after the minutes that the key allows")
  func minutes() async throws {
    try await TestStore.with { store in
      let library = try SecretStore.open(at: store.directory)
      let grants = KeptTouches<Grant>()
      let purpose = Grant(
        key: ItemID(bytes: [UInt8](repeating: 1, count: 16)), program: "/usr/bin/ssh", host: [1], user: "alice")
      func isKept(minutes: Int) -> Bool {
        grants.keep(library.makeContext(), for: purpose, lasting: .seconds(60 * minutes))
        return grants.context(for: purpose) != nil
      }
      #expect(isKept(minutes: 1))
      #expect(!isKept(minutes: 0))
    }
  }
}
