import Foundation
import Glibc
import SDBus
import Synchronization
import Testing

@Suite("A listening socket")
struct ListenerTests {
  @Test("a D-Bus listener serves each client on its own connection, and reports the client")
  func serves() async throws {
    let place = try ListeningPlace()
    let peers = Collected<BusPeer>()
    let listener = try BusListener(socket: place.socket) { peer in
      peers.append(peer)
      return .init(call: { $0.answer($0.arguments) })
    }
    defer { listener.close() }
    let clients = try (0..<3).map { _ in
      try BusConnection(socket: try place.connect(), role: .client, handlers: .init())
    }
    defer { for client in clients { client.close() } }
    for (number, client) in clients.enumerated() {
      let answer = try await client.call(target, "Echo", [.uint32(UInt32(number))])
      #expect(answer.first?.asUInt32 == UInt32(number))
    }
    #expect(peers.elements.count == 3)
    let peer = try #require(peers.elements.first)
    #expect(peer.userID == getuid())
    #expect(peer.processID == getpid())
    // Linux 6.5 and later have it.
    if let process = peer.process { #expect(fcntl(process.rawValue, F_GETFD) == FD_CLOEXEC) }
  }

  @Test("a D-Bus listener closes the connections over its limits, and takes new ones when others have gone")
  func limit() async throws {
    let place = try ListeningPlace()
    for ofOneUser in [false, true] {
      var limits = BusListener.Limits()
      if ofOneUser { limits.connectionsOfOneUser = 2 } else { limits.connections = 2 }
      let listener = try BusListener(socket: place.socket, limits: limits) { _ in .init(call: { $0.answer() }) }
      let first = try BusConnection(socket: try place.connect(), role: .client, handlers: .init())
      let second = try BusConnection(socket: try place.connect(), role: .client, handlers: .init())
      defer { second.close() }
      _ = try await first.call(target, "Ask")
      _ = try await second.call(target, "Ask")
      let third = RawPeer(socket: try place.connect())
      defer { close(third.socket) }
      #expect(third.isClosed())
      first.close()
      #expect(
        try await eventually {
          let fourth = RawPeer(socket: try place.connect())
          defer { close(fourth.socket) }
          return fourth.send(RawPeer.greeting + RawPeer.call(1)) && fourth.hasAnswer()
        })
      listener.close()
      do throws(BusError) {
        while true { _ = try await second.call(target, "Ask") }
      } catch {
        // A call that begins after the end of the connection was noticed is not sent.
        #expect([.disconnected, .notSent].contains(error))
      }
    }
  }

  @Test("a D-Bus listener closes a connection that no handler accepts")
  func refused() throws {
    let place = try ListeningPlace()
    let listener = try BusListener(socket: place.socket) { _ in nil }
    defer { listener.close() }
    let client = RawPeer(socket: try place.connect())
    defer { close(client.socket) }
    #expect(client.isClosed())
  }

  @Test("a D-Bus listener ends its connections when it closes")
  func ends() async throws {
    let place = try ListeningPlace()
    let held = Collected<BusCall>()
    let listener = try BusListener(socket: place.socket) { _ in .init(call: { held.append($0) }) }
    let client = try BusConnection(socket: try place.connect(), role: .client, handlers: .init())
    defer { client.close() }
    let waiting = Task { try await client.call(target, "Wait") }
    #expect(try await eventually { held.elements.count == 1 })
    listener.close()
    await #expect(throws: BusError.disconnected) { _ = try await waiting.value }
  }

  @Test("a D-Bus listener leaks no descriptor after 10,000 clients in turn and 1,000 at once", .timeLimit(.minutes(2)))
  func many() async {
    // In a new process, because other tests open files at the same time.
    await #expect(processExitsWith: .success) {
      var files = rlimit(rlim_cur: 4_096, rlim_max: 4_096)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
      let place = try ListeningPlace()
      var limits = BusListener.Limits()
      limits.connections = 1_000
      limits.connectionsOfOneUser = 1_000
      let ended = Atomic(0)
      let listener = try BusListener(socket: place.socket, limits: limits) { _ in
        .init(call: { $0.answer($0.arguments) }, closed: { ended.add(1, ordering: .relaxed) })
      }
      try await Task.sleep(for: .milliseconds(50))
      let before = try openDescriptors()
      for number in 0..<10_000 {
        let client = RawPeer(socket: try place.connect())
        // Some send nothing at all.
        if number % 10 == 0 {
          #expect(client.send(RawPeer.greeting + RawPeer.call(1)))
          #expect(client.hasAnswer())
        }
        close(client.socket)
      }
      #expect(try await eventually { ended.load(ordering: .relaxed) == 10_000 })
      #expect(try await eventually { try openDescriptors() <= before })
      let clients = try (0..<1_000).map { _ in RawPeer(socket: try place.connect()) }
      for client in clients { #expect(client.send(RawPeer.greeting + RawPeer.call(1))) }
      for client in clients { #expect(client.hasAnswer()) }
      for client in clients { close(client.socket) }
      #expect(try await eventually { try openDescriptors() <= before })
      listener.close()
    }
  }

  @Test("a D-Bus listener recovers after the process ran out of descriptors, without spinning meanwhile")
  func exhausted() async {
    await #expect(processExitsWith: .success) {
      let place = try ListeningPlace()
      let listener = try BusListener(socket: place.socket) { _ in .init(call: { $0.answer() }) }
      let client = RawPeer(socket: try place.connect())
      let late = RawPeer(socket: socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
      #expect(client.send(RawPeer.greeting + RawPeer.call(1)))
      #expect(client.hasAnswer())
      var files: [Int32] = []
      var limit = rlimit(rlim_cur: 128, rlim_max: 4_096)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      while true {
        let file = open("/dev/null", O_RDONLY)
        if file < 0 { break }
        files.append(file)
      }
      try place.connect(late.socket)
      let start = clock()
      // Not Task.sleep, for which the runtime may open a descriptor.
      usleep(500_000)
      // Processor time, not duration: a loop without a pause would take all of the half second.
      #expect(clock() - start < 250_000)
      for file in files { close(file) }
      #expect(late.send(RawPeer.greeting + RawPeer.call(1)))
      #expect(late.hasAnswer())
      close(client.socket)
      listener.close()
    }
  }
}

@Suite("The peer of a socket")
struct PeerTests {
  @Test("the peer of a Unix socket is the process that connected, and its pidfd reports when that process ends")
  func ended() throws {
    let place = try ListeningPlace()
    var input: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &input) == 0)
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO)
    let program =
      "import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(chr(0) + sys.argv[1]); sys.stdin.read()"
    let arguments = ["python3", "-c", program, place.name]
    let words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var child: pid_t = 0
    try #require(posix_spawnp(&child, "python3", &actions, nil, words, environ) == 0)
    close(input[0])
    let accepted = accept(place.socket.rawValue, nil, nil)
    defer { close(accepted) }
    let peer = try BusPeer(of: accepted)
    #expect(peer.processID == child)
    let process = try #require(peer.process, "needs Linux 6.5")
    var poller = pollfd(fd: process.rawValue, events: Int16(POLLIN), revents: 0)
    #expect(poll(&poller, 1, 0) == 0)
    close(input[1])
    waitpid(child, nil, 0)
    #expect(poll(&poller, 1, 10_000) == 1)
  }

  @Test("asking for the peer of a descriptor that is not a socket throws ENOTSOCK")
  func noSocket() {
    #expect(throws: BusError.system(ENOTSOCK)) { try BusPeer(of: STDIN_FILENO) }
  }
}

/// A listening socket with its own abstract address (`unix(7)`), which disappears with the socket.
struct ListeningPlace: Sendable {
  let name = "whorl-test-\(UUID().uuidString)"
  let socket: BusDescriptor

  init() throws {
    socket = BusDescriptor(taking: Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
    let descriptor = socket.rawValue
    try withAddress { address, size in
      try #require(bind(descriptor, address, size) == 0)
    }
    try #require(listen(descriptor, 4_096) == 0)
  }

  /// A new connection to the socket. The caller owns it.
  func connect() throws -> Int32 {
    let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    try connect(descriptor)
    return descriptor
  }

  func connect(_ descriptor: Int32) throws {
    try withAddress { address, size in try #require(Glibc.connect(descriptor, address, size) == 0) }
  }

  private func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Void) throws {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let path = [0] + Array(name.utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
    let size = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
    try withUnsafePointer(to: &address) { address in
      try address.withMemoryRebound(to: sockaddr.self, capacity: 1) { try body($0, size) }
    }
  }
}

extension RawPeer {
  /// Whether a call is answered within ten seconds. A little-endian message begins with `l`, and an answer has the type
  /// 2. The text of the handshake, which ends with a newline, may precede it.
  func hasAnswer() -> Bool {
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    var poller = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    while poll(&poller, 1, 10_000) == 1 {
      let count = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      guard count > 0 else { return false }
      received += buffer.prefix(count)
      let start = received.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
      if received.dropFirst(start).starts(with: [UInt8(ascii: "l"), 2]) { return true }
    }
    return false
  }
}
