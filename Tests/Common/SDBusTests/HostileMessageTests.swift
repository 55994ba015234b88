import Glibc
import SDBus
import Testing

@Suite("Malformed messages")
struct HostileMessageTests {
  /// A server at the other end of a raw socket. Answers every call.
  private func serve(
    limits: BusLimits = .init(), _ body: (RawPeer) async throws -> Void
  ) async throws {
    let (mine, theirs) = try socketPair()
    defer { close(mine) }
    let server = try BusConnection(
      socket: theirs, role: .server, limits: limits, handlers: .init(call: { $0.answer($0.arguments) }))
    defer { server.close() }
    try await body(RawPeer(socket: mine))
  }

  struct Malformed: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]
  }

  static let malformed: [Malformed] = [
    .init(testDescription: "a body shorter than its signature", bytes: RawPeer.call(1, signature: "t", body: [1, 2])),
    .init(
      testDescription: "a string longer than the body",
      bytes: RawPeer.call(1, signature: "s", body: [9, 0, 0, 0, 65, 0])),
    .init(
      testDescription: "a string without its end", bytes: RawPeer.call(1, signature: "s", body: [1, 0, 0, 0, 65, 65])),
    .init(
      testDescription: "text that is no UTF-8", bytes: RawPeer.call(1, signature: "s", body: [1, 0, 0, 0, 0xFF, 0])),
    .init(
      testDescription: "an object path that is none", bytes: RawPeer.call(1, signature: "o", body: [1, 0, 0, 0, 65, 0])),
    .init(
      testDescription: "an array longer than the body",
      bytes: RawPeer.call(1, signature: "ay", body: [255, 255, 255, 3])),
    .init(
      testDescription: "a signature of an unknown type", bytes: RawPeer.call(1, signature: "z", body: [1, 2, 3, 4])),
    .init(
      testDescription: "a signature that is not closed", bytes: RawPeer.call(1, signature: "(u", body: [1, 2, 3, 4])),
    .init(
      testDescription: "a signature nested too deeply",
      bytes: RawPeer.call(1, signature: String(repeating: "a", count: 200) + "y", body: [0, 0, 0, 0])),
    .init(
      testDescription: "variants nested too deeply",
      bytes: RawPeer.call(
        1, signature: "v", body: Array(repeating: [1, UInt8(ascii: "v"), 0], count: 500).flatMap { $0 })),
    .init(
      testDescription: "a type that no interface here has",
      bytes: RawPeer.call(1, signature: "n", body: [0, 0])),
    .init(
      testDescription: "a dictionary with numbers for keys",
      bytes: RawPeer.call(1, signature: "a{us}", body: [0, 0, 0, 0, 0, 0, 0, 0])),
    .init(
      testDescription: "a descriptor that did not come with it",
      bytes: RawPeer.call(1, signature: "h", body: [0, 0, 0, 0], descriptors: 0)),
    .init(
      testDescription: "more descriptors in its header than came",
      bytes: RawPeer.call(1, signature: "h", body: [0, 0, 0, 0], descriptors: 253)),
    .init(testDescription: "an invalid interface", bytes: RawPeer.call(1, interface: "no-dots")),
    .init(testDescription: "an invalid member", bytes: RawPeer.call(1, "a.b")),
    .init(testDescription: "the number 0", bytes: RawPeer.call(0)),
  ]

  // sd-bus drops some of them and disconnects after others.
  @Test("a malformed D-Bus message reaches no handler, and is dropped or ends the connection", arguments: malformed)
  func reachesNobody(_ message: Malformed) async throws {
    let (mine, theirs) = try socketPair()
    defer { close(mine) }
    let seen = Collected<String>()
    let server = try BusConnection(
      socket: theirs, role: .server,
      handlers: .init(
        call: {
          seen.append($0.member)
          $0.answer()
        }, closed: { seen.append("closed") }))
    defer { server.close() }
    #expect(RawPeer(socket: mine).send(RawPeer.greeting + message.bytes + RawPeer.call(2, "Next")))
    #expect(try await eventually { !seen.elements.isEmpty })
    #expect(["Next", "closed"].contains(seen.elements.first))
  }

  @Test("a D-Bus connection with randomly changed messages ends when the client stops sending")
  func mutated() async throws {
    var body = Bytes()
    body.string("name")
    body.number(3)
    body.bytes += [1, 2, 3]
    let good = RawPeer.call(1, signature: "say", body: body.bytes)
    try await serve { peer in
      #expect(peer.send(RawPeer.greeting + good))
      #expect(peer.hasAnswer())
    }
    var random = SplitMix(state: 21)
    for round in 0..<500 {
      var bytes = good
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      // With a larger length the server waits for more bytes. Send some, and then end the connection.
      try await serve { peer in
        peer.send(RawPeer.greeting + bytes + good)
        shutdown(peer.socket, Int32(SHUT_WR))
        #expect(peer.isClosed(), "round \(round), seed 21: \(bytes)")
      }
    }
  }

  @Test("an unfinished D-Bus message or handshake ends the connection after the time limit")
  func unfinished() async throws {
    var limits = BusLimits()
    limits.messageMicroseconds = 200_000
    let message = RawPeer.call(1, signature: "s", body: [1, 0, 0, 0, 65, 0])
    let beginnings: [[UInt8]] = [
      [], [0], Array(RawPeer.greeting.dropLast(3)), RawPeer.greeting + message.prefix(1),
      RawPeer.greeting + message.dropLast(), RawPeer.greeting + message + message.dropLast(),
    ]
    for beginning in beginnings {
      try await serve(limits: limits) { peer in
        if !beginning.isEmpty { peer.send(beginning) }
        #expect(peer.isClosed(), "\(beginning.count) bytes")
      }
    }
    // Sent before the server starts: sd-bus reads it at the start.
    let (mine, theirs) = try socketPair()
    defer { close(mine) }
    let early = RawPeer(socket: mine)
    early.send(RawPeer.greeting + message.dropLast())
    let server = try BusConnection(socket: theirs, role: .server, limits: limits, handlers: .init())
    defer { server.close() }
    #expect(early.isClosed())
    // A complete message has no time limit.
    try await serve(limits: limits) { peer in
      peer.send(RawPeer.greeting + message)
      #expect(peer.hasAnswer())
      try await Task.sleep(for: .milliseconds(500))
      peer.send(message)
      #expect(peer.hasAnswer())
    }
  }

  @Test("a D-Bus message that arrived while the receiver could not run is read, also after its time limit")
  func lateLook() async throws {
    var limits = BusLimits()
    limits.messageMicroseconds = 1_000_000
    let message = RawPeer.call(1, signature: "s", body: [1, 0, 0, 0, 65, 0])
    for begun in [[], Array(RawPeer.greeting.dropLast(3)), RawPeer.greeting + message.dropLast()] {
      try await serve(limits: limits) { peer in
        peer.send(begun)
        try await Task.sleep(for: .milliseconds(50))
        BusLoop.shared.post { usleep(1_200_000) }
        peer.send(Array((RawPeer.greeting + message).dropFirst(begun.count)))
        #expect(peer.hasAnswer(), "\(begun.count) bytes before")
      }
    }
  }

  @Test("a D-Bus message with 253 descriptors in every part leaves none open after the connection")
  func descriptors() async {
    await #expect(processExitsWith: .success) {
      let (before, file) = (try openDescriptors() + 1, open("/dev/null", O_RDONLY))
      let files = Array(repeating: file, count: 253)
      for announced in [nil, 0, 253] as [UInt32?] {
        let (mine, theirs) = try socketPair()
        let server = try BusConnection(
          socket: theirs, role: .server, handlers: .init(call: { $0.answer() }))
        let peer = RawPeer(socket: mine)
        #expect(peer.send(RawPeer.greeting))
        let message = RawPeer.call(1, descriptors: announced)
        for byte in message {
          if peer.sendOnce([byte], descriptors: files) <= 0 { break }
        }
        peer.send(message)
        #expect(announced == 253 || peer.isClosed())
        close(mine)
        server.close()
        // The loop and the runtime's timers keep some descriptors open.
        #expect(try await eventually { try openDescriptors() <= before + 8 })
      }
    }
  }

  @Test("a D-Bus message holds only the descriptors that its body refers to, and at most 16")
  func openCallDescriptors() async {
    await #expect(processExitsWith: .success) {
      let file = open("/dev/null", O_RDONLY)
      let (mine, theirs) = try socketPair()
      let held = Collected<BusCall>()
      let server = try BusConnection(socket: theirs, role: .server, handlers: .init(call: { held.append($0) }))
      let peer = RawPeer(socket: mine)
      #expect(peer.send(RawPeer.greeting + RawPeer.call(100)))
      // From here on the loop has its own descriptors open.
      #expect(try await eventually { held.elements.count == 1 })
      let before = try openDescriptors()
      for number in 1...8 as ClosedRange<UInt32> {
        // The header must have the number of descriptors that were sent.
        peer.send(RawPeer.call(number, descriptors: 253), descriptors: Array(repeating: file, count: 253))
      }
      #expect(try await eventually { held.elements.count == 9 })
      #expect(try openDescriptors() <= before + 8)
      for call in held.elements { call.answer() }
      #expect(peer.hasAnswer())
      for count in [16, 17] {
        var body = Bytes()
        body.number(UInt32(4 * count))
        for index in 0..<count { body.number(UInt32(index)) }
        peer.send(
          RawPeer.call(UInt32(count), signature: "ah", body: body.bytes, descriptors: UInt32(count)),
          descriptors: Array(repeating: file, count: count))
        if count == 16 {
          #expect(try await eventually { held.elements.count == 10 })
        } else {
          #expect(peer.isClosed())
        }
      }
      #expect(held.elements.last?.arguments.descriptors.count == 16)
      close(mine)
      server.close()
    }
  }
}
