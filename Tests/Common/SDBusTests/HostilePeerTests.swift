import Glibc
import SDBus
import Testing

@Suite("A peer that breaks the protocol")
struct HostilePeerTests {
  /// Sends the bytes to a server and returns whether the server closed the connection.
  private func isRefused(_ bytes: [UInt8]) async throws -> Bool {
    let (mine, theirs) = try socketPair()
    defer { close(mine) }
    let ends = Collected<Bool>()
    let server = try BusConnection(
      socket: theirs, role: .server, handlers: .init(call: { $0.answer() }, closed: { ends.append(true) }))
    defer { server.close() }
    _ = send(mine, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    return try await eventually { ends.elements.count == 1 }
  }

  @Test("a D-Bus peer is disconnected after an invalid handshake")
  func noGreeting() async throws {
    #expect(try await isRefused(Array("GET / HTTP/1.1\r\n\r\n".utf8)))
  }

  @Test("a D-Bus peer cannot authenticate as another user")
  func otherUser() async throws {
    let (mine, theirs) = try socketPair()
    defer { close(mine) }
    let server = try BusConnection(socket: theirs, role: .server, handlers: .init(call: { $0.answer() }))
    defer { server.close() }
    let bytes = [0] + Array("AUTH EXTERNAL 3939393939\r\nBEGIN\r\n".utf8)
    _ = send(mine, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    var answer = [UInt8](repeating: 0, count: 64)
    let count = recv(mine, &answer, answer.count, 0)
    #expect(String(decoding: answer.prefix(max(count, 0)), as: UTF8.self).hasPrefix("REJECTED"))
  }

  @Test("a D-Bus peer is disconnected after random bytes that follow the handshake")
  func rubbish() async throws {
    var random = SplitMix(state: 20)
    for _ in 0..<20 {
      let noise = (0..<256).map { _ in UInt8.random(in: 0...255, using: &random) }
      #expect(try await isRefused(RawPeer.greeting + noise))
    }
  }

  @Test("a D-Bus peer is disconnected after a message header that announces four gigabytes")
  func claimedLength() async throws {
    let header: [UInt8] = [0x6C, 1, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF, 1, 0, 0, 0, 0, 0, 0, 0]
    #expect(try await isRefused(RawPeer.greeting + header))
  }

  @Test("a D-Bus peer is disconnected after a message over the size limit, but not after one within it")
  func tooLarge() async throws {
    var limits = BusLimits()
    limits.messageBytes = 100_000
    let bus = try Loopback(limits: limits, server: .init(call: { $0.answer() }))
    defer { bus.close() }
    _ = try await bus.client.call(target, "Take", [.bytes(Array(repeating: 1, count: 99_000))])
    await #expect(throws: BusError.disconnected) {
      _ = try await bus.client.call(target, "Take", [.bytes(Array(repeating: 1, count: 100_001))])
    }
  }

  @Test("a D-Bus peer is disconnected after a message with too many empty values")
  func countless() async throws {
    var limits = BusLimits()
    limits.messageBytes = 100_000
    let bus = try Loopback(limits: limits, server: .init(call: { $0.answer() }))
    defer { bus.close() }
    await #expect(throws: BusError.disconnected) {
      _ = try await bus.client.call(target, "Take", [.array(of: "ay", Array(repeating: .bytes([]), count: 2_000))])
    }
  }

  @Test(
    "a D-Bus peer that does not read is disconnected, and calls to it fail", .timeLimit(.minutes(1)))
  func readsNothing() async throws {
    let (mine, theirs) = try socketPair()
    defer { close(theirs) }
    var limits = BusLimits()
    limits.unreadMessages = 8
    let client = try BusConnection(socket: mine, role: .client, limits: limits, handlers: .init())
    defer { client.close() }
    await withTaskGroup { group in
      for _ in 0..<12 {
        group.addTask {
          await #expect {
            _ = try await client.call(target, "Ask")
          } throws: { error in
            // Some calls come before the connection is ended, the others after it.
            [.disconnected, .notSent].contains(error as? BusError)
          }
        }
      }
    }
  }

  @Test("a D-Bus peer is disconnected after too many unanswered calls")
  func tooManyCalls() async throws {
    var limits = BusLimits()
    limits.openCalls = 8
    let held = Collected<BusCall>()
    let bus = try Loopback(limits: limits, server: .init(call: { held.append($0) }))
    defer { bus.close() }
    let calls = (0..<9).map { _ in Task { try await bus.client.call(target, "Wait") } }
    for call in calls {
      await #expect(throws: BusError.disconnected) { _ = try await call.value }
    }
    #expect(held.elements.count == 8)
  }
}

/// A random number generator with a seed, so that a failure can be reproduced.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
