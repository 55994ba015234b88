import Glibc
import SDBus
import Synchronization
import Testing

@Suite("A D-Bus client that does not read")
struct BackPressureTests {
  /// Serves answers of `size` bytes to a client that has sent its greeting and reads nothing.
  private func serve(
    size: Int, limits: BusLimits = .init(), ends: Collected<Bool> = .init(),
    _ body: (RawPeer, BusConnection, _ calls: @Sendable () -> Int) async throws -> Void
  ) async throws {
    let (mine, theirs) = try socketPair()
    defer { close(mine) }
    let calls = Counter()
    let server = try BusConnection(
      socket: theirs, role: .server, limits: limits,
      handlers: .init(
        call: {
          calls.add()
          $0.answer([.bytes(Array(repeating: 1, count: size))])
        }, closed: { ends.append(true) }))
    defer { server.close() }
    let peer = RawPeer(socket: mine)
    #expect(peer.send(RawPeer.greeting))
    try await body(peer, server) { calls.value }
  }

  /// Sends calls until no more fit for half a second.
  private func flood(
    _ peer: RawPeer, most: Int = 100_000, interface: String = "org.whorl.Test1", _ member: String = "Take"
  ) -> Int {
    var sent = 0
    while sent < most {
      let message = RawPeer.call(UInt32(sent + 1), member, interface: interface)
      var rest = message[...]
      while !rest.isEmpty {
        var poller = pollfd(fd: peer.socket, events: Int16(POLLOUT), revents: 0)
        guard poll(&poller, 1, 500) == 1, poller.revents & Int16(POLLHUP) == 0 else { return sent }
        let count = peer.sendOnce(Array(rest))
        guard count > 0 else { return sent }
        rest = rest.dropFirst(count)
      }
      sent += 1
    }
    return sent
  }

  @Test(
    "a D-Bus client that does not read is not read from either, and gets every answer once it reads again",
    .timeLimit(.minutes(1)))
  func pause() async throws {
    for size in [100, 100_000] {
      try await serve(size: size) { peer, _, calls in
        let sent = flood(peer)
        // Only a part was handled: the rest waits in the socket.
        #expect(calls() < sent && sent < 5_000, "\(calls()) of \(sent) calls of \(size) bytes")
        var answers = 0
        var unread: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while answers < sent {
          var poller = pollfd(fd: peer.socket, events: Int16(POLLIN), revents: 0)
          try #require(poll(&poller, 1, 10_000) == 1, "\(answers) answers to \(sent) calls")
          let count = recv(peer.socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
          try #require(count > 0)
          unread += buffer[..<count]
          answers += Self.takeAnswers(from: &unread)
        }
        #expect(answers == sent && calls() == sent)
      }
    }
  }

  /// Removes the whole messages, and the lines of the handshake before them. Returns how many of them are answers.
  private static func takeAnswers(from bytes: inout [UInt8]) -> Int {
    var (start, answers) = (0, 0)
    while start < bytes.count {
      if bytes[start] != UInt8(ascii: "l") {
        guard let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) else { break }
        start = end + 1
        continue
      }
      guard bytes.count - start >= 16 else { break }
      let body = bytes[start + 4..<start + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
      let fields = bytes[start + 12..<start + 16].reversed().reduce(0) { $0 << 8 | Int($1) }
      let length = 16 + (fields + 7) / 8 * 8 + body
      guard bytes.count - start >= length else { break }
      if bytes[start + 1] == 2 { answers += 1 }
      start += length
    }
    bytes.removeFirst(start)
    return answers
  }

  @Test("a D-Bus client that floods Ping calls and reads nothing is not read from", .timeLimit(.minutes(1)))
  func pings() async throws {
    try await serve(size: 0) { peer, _, _ in
      let sent = flood(peer, interface: "org.freedesktop.DBus.Peer", "Ping")
      #expect(sent < 5_000)
    }
  }

  @Test("a D-Bus client that does not read is disconnected when its signals exceed the limits", .timeLimit(.minutes(1)))
  func signals() async throws {
    var few = BusLimits()
    few.unreadMessages = 500
    var small = BusLimits()
    small.unreadBytes = 4 << 20
    for limits in [few, small] {
      let ends = Collected<Bool>()
      try await serve(size: 0, limits: limits, ends: ends) { peer, server, calls in
        #expect(peer.send(RawPeer.call(1)))
        let isCalled = try await eventually { calls() == 1 }
        #expect(isCalled)
        for _ in 0..<5_000 { server.emit(target, "Step", [.bytes(Array(repeating: 1, count: 2_000))]) }
        let isEnded = try await eventually { ends.elements.count == 1 }
        #expect(isEnded)
        #expect(peer.isClosed())
      }
    }
  }

  @Test(
    "an object kept for a D-Bus answer is released once the client has read the answer or disconnected",
    .timeLimit(.minutes(1)), arguments: [true, false])
  func keptForAnswers(reads: Bool) async throws {
    final class Kept: Sendable {
      let released: Counter
      init(_ released: Counter) { self.released = released }
      deinit { released.add() }
    }
    let (mine, theirs) = try socketPair()
    let (released, answered) = (Counter(), Counter())
    let server = try BusConnection(
      socket: theirs, role: .server,
      handlers: .init(call: {
        $0.answer([.bytes([1, 2, 3])], keeping: Kept(released))
        answered.add()
      }))
    defer { server.close() }
    let peer = RawPeer(socket: mine)
    #expect(peer.send(RawPeer.greeting + RawPeer.call(1) + RawPeer.call(2)))
    #expect(try await eventually { answered.value == 2 })
    try await Task.sleep(for: .milliseconds(250))
    #expect(released.value == 0)
    if reads {
      var buffer = [UInt8](repeating: 0, count: 65_536)
      #expect(recv(mine, &buffer, buffer.count, 0) > 0)
      #expect(try await eventually { released.value == 2 })
      close(mine)
    } else {
      close(mine)
      #expect(try await eventually { released.value == 2 })
    }
  }

  @Test("a D-Bus client that does not read does not block another client", .timeLimit(.minutes(1)))
  func others() async throws {
    let bus = try Loopback(server: .init(call: { $0.answer($0.arguments) }))
    defer { bus.close() }
    try await serve(size: 100_000) { peer, _, _ in
      _ = flood(peer)
      for number in 0..<100 as Range<UInt32> {
        let answer = try await bus.client.call(target, "Echo", [.uint32(number)])
        #expect(answer.first?.asUInt32 == number)
      }
    }
  }

  @Test("a D-Bus client is disconnected when it closes either half of its socket", .timeLimit(.minutes(1)))
  func halfClosed() async throws {
    for half in [SHUT_RD, SHUT_WR] {
      let ends = Collected<Bool>()
      try await serve(size: 100, ends: ends) { peer, _, calls in
        #expect(peer.send(RawPeer.call(1)))
        let isCalled = try await eventually { calls() == 1 }
        #expect(isCalled)
        shutdown(peer.socket, Int32(half))
        // With the reading half closed, the server notices when it writes.
        peer.send(RawPeer.call(2))
        let isEnded = try await eventually { ends.elements.count == 1 }
        #expect(isEnded)
      }
    }
  }
}

/// Counts on the loop.
final class Counter: Sendable {
  private let count = Atomic(0)
  func add() { count.add(1, ordering: .relaxed) }
  var value: Int { count.load(ordering: .relaxed) }
}
