import Glibc
import ProgramDriver
import SDBus
import SecretModel
import Testing

@Suite("The portal's back end", .serialized)
struct PortalTests {
  private static let path = "/org/freedesktop/portal/desktop"
  private static let interface = "org.freedesktop.impl.portal.Secret"

  /// A client in the portal's place.
  private func portal(_ service: RunningSecretService) async throws -> ServiceClient {
    let portal = try await ServiceClient(service.bus)
    _ = try await portal.connection.call(
      MessageBus.target, "RequestName", [.string("org.freedesktop.portal.Desktop"), .uint32(4)])
    return portal
  }

  /// The secret that a program gets through the portal.
  private func secret(of application: String, _ portal: ServiceClient, request: String = "/request") async throws
    -> [UInt8]
  {
    let (response, secret) = try await retrieve(application, portal, request)
    #expect(response == 0)
    return secret
  }

  private func retrieve(_ application: String, _ portal: ServiceClient, _ request: String) async throws
    -> (response: UInt32?, secret: [UInt8])
  {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
    defer { close(ends[0]) }
    let answer = try await portal.call(
      Self.path, Self.interface, "RetrieveSecret",
      [
        .objectPath(request), .string(application), .descriptor(BusDescriptor(taking: ends[1])), .dictionary([:]),
      ])
    #expect(answer.last == .dictionary([:]))
    var bytes = [UInt8](repeating: 0, count: 100)
    let count = read(ends[0], &bytes, bytes.count)
    return (answer.first?.asUInt32, Array(bytes.prefix(max(count, 0))))
  }

  @Test("the Secret portal's back end gives each sandboxed program a secret of its own, the same every time")
  func secrets() async throws {
    try await RunningSecretService.with { service in
      let portal = try await portal(service)
      let one = try await secret(of: "org.example.One", portal)
      #expect(one.count == 64)
      #expect(try await secret(of: "org.example.One", portal) == one)
      #expect(try await secret(of: "org.example.Two", portal) != one)
      let atOnce = try await withThrowingTaskGroup { group in
        for number in 0..<8 {
          group.addTask { try await secret(of: "org.example.Three", portal, request: "/request/\(number)") }
        }
        return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
      }
      #expect(atOnce.count == 1)
      // A secret that another keyring has made is used unchanged.
      let session = try await portal.plainSession()
      try await portal.create(
        "from before", label: "l", ["app_id": "org.example.Old", "xdg:schema": "org.freedesktop.portal.Secret"],
        session: session)
      #expect(try await secret(of: "org.example.Old", portal) == Array("from before".utf8))
    }
  }

  @Test("the Secret portal's back end refuses every caller but the portal")
  func refused() async throws {
    try await RunningSecretService.with { service in
      let other = try await ServiceClient(service.bus)
      let arguments: [BusValue] = [
        .objectPath("/request"), .string("org.example.One"),
        .descriptor(BusDescriptor(taking: open("/dev/null", O_WRONLY))), .dictionary([:]),
      ]
      #expect(await other.error(Self.path, Self.interface, "RetrieveSecret", arguments) == "AccessDenied")
      _ = try await portal(service)
      #expect(await other.error(Self.path, Self.interface, "RetrieveSecret", arguments) == "AccessDenied")
    }
  }

  @Test("a portal's prompt names the sandboxed program that asks, and the touch opens that program's secret only")
  func gated() async throws {
    try await RunningSecretService.with([.right, .right]) { service in
      let portal = try await portal(service)
      let names = ["org.example.One", "org.example.Two"]
      var secrets: [[UInt8]] = []
      for name in names {
        secrets.append(try await secret(of: name, portal))
        try await service.gate("Secret of \(name)", .anyFinger)
      }
      let read = try await withThrowingTaskGroup { group in
        for name in names {
          group.addTask { (name, try await secret(of: name, portal, request: "/request/\(name.suffix(3))")) }
        }
        return try await group.reduce(into: [String: [UInt8]]()) { $0[$1.0] = $1.1 }
      }
      #expect(names.map { read[$0] } == secrets)
      let prompts = service.agent.prompts
      #expect(prompts.count == 2)
      for name in names {
        #expect(
          prompts.count {
            $0.contains("(program: \(name), says /") && $0.contains("wants to read “Secret of \(name)”. ")
          } == 1,
          "\(prompts)")
      }
    }
  }

  @Test("the Secret portal's back end asks the person if a program has locked the collection")
  func lockedCollection() async throws {
    try await RunningSecretService.with([.right]) { service in
      let portal = try await portal(service)
      let first = try await secret(of: "org.example.One", portal)
      _ = try await portal.change("Lock", [ServiceClient.login])
      #expect(try await secret(of: "org.example.One", portal) == first)
      #expect(service.agent.prompts.count == 1)
      #expect(service.agent.prompts.first?.contains("(program: org.example.One, says /") == true)
    }
  }

  @Test("only the portal can close its request: the prompt ends without the secret, and the next program's begins")
  func closed() async throws {
    // No finger for the first prompt.
    try await RunningSecretService.with([.signal(0), .right]) { service in
      let portal = try await portal(service)
      var secrets: [[UInt8]] = []
      for name in ["org.example.One", "org.example.Two"] {
        secrets.append(try await secret(of: name, portal))
        try await service.gate("Secret of \(name)", .anyFinger)
      }
      async let retrieval = retrieve("org.example.One", portal, "/request/1")
      try await service.agent.waits { $0.contains { $0.contains(". Swipe the reader") } }
      async let next = retrieve("org.example.Two", portal, "/request/2")
      let other = try await ServiceClient(service.bus)
      let request = "org.freedesktop.impl.portal.Request"
      #expect(await other.error("/request/1", request, "Close", []) == "NoSuchObject")
      #expect(try await portal.call("/request/1", request, "Close", []) == [])
      let closed = try await retrieval
      #expect(closed.response == 1)
      #expect(closed.secret.isEmpty)
      #expect(await portal.error("/request/1", request, "Close", []) == "NoSuchObject")
      try await service.agent.waits { $0.contains { $0.contains("refused to read “Secret of org.example.One”") } }
      let given = try await next
      #expect(given.response == 0)
      #expect(given.secret == secrets[1])
      let prompts = service.agent.prompts
      #expect(prompts.count == 2, "\(prompts)")
      #expect(prompts.last?.contains("(program: org.example.Two, says /") == true, "\(prompts)")
    }
  }

  @Test("the Secret portal gives up a program that reads no secret, and counts its requests", .timeLimit(.minutes(2)))
  func unread() async throws {
    try await RunningSecretService.with { service in
      let portal = try await portal(service)
      var ends: [Int32] = [-1, -1]
      try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
      defer { for end in ends { close(end) } }
      // The pipe is full.
      _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
      let filling = [UInt8](repeating: 0, count: 4_096)
      while write(ends[1], filling, filling.count) > 0 {}
      _ = fcntl(ends[1], F_SETFL, 0)
      let target = ends[1]
      func retrieve(_ number: Int) async throws -> UInt32? {
        try await portal.call(
          Self.path, Self.interface, "RetrieveSecret",
          [
            .objectPath("/request/\(number)"), .string("org.example.One"),
            .descriptor(BusDescriptor(taking: dup(target))), .dictionary([:]),
          ]
        ).first?.asUInt32
      }
      try await withThrowingTaskGroup { group in
        for number in 1...8 { group.addTask { try await retrieve(number) } }
        try await Task.sleep(for: .seconds(1))
        await #expect(throws: (any Error).self) { try await retrieve(9) }
        #expect(try await secret(of: "org.example.Two", portal).count == 64)
        for try await response in group { #expect(response == 2) }
      }
    }
  }

  @Test("the Secret portal lets a sandboxed program have eight waiting requests, and serves others meanwhile")
  func flood() async throws {
    try await RunningSecretService.with { service in
      let portal = try await portal(service)
      _ = try await secret(of: "org.example.One", portal)
      try await service.gate("Secret of org.example.One", .anyFinger)
      try await withThrowingTaskGroup { group in
        for number in 0..<8 {
          group.addTask { _ = try await retrieve("org.example.One", portal, "/request/\(number)") }
        }
        for _ in 0..<200 where service.agent.prompts.isEmpty { try await Task.sleep(for: .milliseconds(50)) }
        try await Task.sleep(for: .milliseconds(500))
        await #expect(throws: (any Error).self) { try await retrieve("org.example.One", portal, "/request/more") }
        #expect(try await secret(of: "org.example.Two", portal).count == 64)
        for number in 0..<8 {
          _ = try await portal.call("/request/\(number)", "org.freedesktop.impl.portal.Request", "Close", [])
        }
        try await group.waitForAll()
      }
    }
  }

  @Test("the Secret portal's back end refuses a request without the id of a program")
  func noProgram() async throws {
    try await RunningSecretService.with { service in
      let portal = try await portal(service)
      let arguments: [BusValue] = [
        .objectPath("/request"), .string(""), .descriptor(BusDescriptor(taking: open("/dev/null", O_WRONLY))),
        .dictionary([:]),
      ]
      #expect(await portal.error(Self.path, Self.interface, "RetrieveSecret", arguments) == "InvalidArgs")
    }
  }

  @Test("the Secret portal's back end serves any number of sandboxed programs one after another")
  func many() async throws {
    try await RunningSecretService.with { service in
      let portal = try await portal(service)
      for number in 1...70 {
        #expect(try await secret(of: "org.example.N\(number)", portal).count == 64)
      }
    }
  }

  @Test("the Secret portal's back end reports a program that has closed its pipe, and continues")
  func closedPipe() async throws {
    try await RunningSecretService.with { service in
      let portal = try await portal(service)
      var ends: [Int32] = [-1, -1]
      try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
      close(ends[0])
      let answer = try await portal.call(
        Self.path, Self.interface, "RetrieveSecret",
        [
          .objectPath("/request"), .string("org.example.One"), .descriptor(BusDescriptor(taking: ends[1])),
          .dictionary([:]),
        ])
      #expect(answer.first?.asUInt32 == 2)
      #expect(try await secret(of: "org.example.One", portal).count == 64)
    }
  }

  @Test("a touch for a sandboxed program's secret is kept while another sandboxed program reads")
  func kept() async throws {
    try await RunningSecretService.with([.right]) { service in
      let portal = try await portal(service)
      let first = try await secret(of: "org.example.One", portal)
      try await service.gate("Secret of org.example.One", .anyFinger)
      for _ in 1...2 {
        #expect(try await secret(of: "org.example.One", portal) == first)
        _ = try await secret(of: "org.example.Two", portal)
      }
      #expect(service.agent.prompts.count == 1)
    }
  }

  @Test("a portal's waiting request has its own path, and can be closed after others have asked")
  func waiting() async throws {
    try await RunningSecretService.with { service in
      let portal = try await portal(service)
      _ = try await portal.change("Lock", [ServiceClient.login])
      async let one = retrieve("org.example.One", portal, "/request/1")
      try await service.agent.waits { $0.contains { $0.contains("to unlock “Login”") } }
      await #expect(throws: (any Error).self) { try await retrieve("org.example.One", portal, "/request/1") }
      async let two = retrieve("org.example.Two", portal, "/request/2")
      try await Task.sleep(for: .milliseconds(300))
      for number in 1...2 {
        let request = "org.freedesktop.impl.portal.Request"
        #expect(await portal.error("/request/\(number)", request, "Close", []) == nil)
      }
      #expect(try await one.response == 1)
      #expect(try await two.response == 1)
    }
  }

  @Test("a prompt for a sandboxed program ends when the portal leaves the bus")
  func leaves() async throws {
    try await RunningSecretService.with { service in
      let portal = try await portal(service)
      _ = try await portal.change("Lock", [ServiceClient.login])
      let retrieval = Task { _ = try? await retrieve("org.example.One", portal, "/request") }
      try await service.agent.waits { $0.contains { $0.contains("to unlock “Login”") } }
      portal.connection.close()
      try await service.agent.waits { $0.contains { $0.contains("refused to unlock “Login”") } }
      await retrieval.value
    }
  }

  @Test("the Secret portal, after a closed request, prompts for the program's waiting request and for new ones")
  func closedAndNext() async throws {
    // No finger for the first two prompts.
    try await RunningSecretService.with([.signal(0), .signal(0), .right]) { service in
      let portal = try await portal(service)
      let first = try await secret(of: "org.example.One", portal)
      try await service.gate("Secret of org.example.One", .anyFinger)
      func waits(forPrompts count: Int) async throws {
        try await service.agent.waits { lines in lines.count { $0.contains(". Swipe the reader") } == count }
      }
      func closeRequest(_ number: Int) async throws {
        try await portal.call("/request/\(number)", "org.freedesktop.impl.portal.Request", "Close", [])
      }
      async let one = retrieve("org.example.One", portal, "/request/1")
      try await waits(forPrompts: 1)
      async let two = retrieve("org.example.One", portal, "/request/2")
      try await Task.sleep(for: .milliseconds(300))
      try await closeRequest(1)
      #expect(try await one.response == 1)
      try await waits(forPrompts: 2)
      try await closeRequest(2)
      #expect(try await two.response == 1)
      try await service.agent.waits { lines in lines.count { $0.contains("refused to read") } == 2 }
      let three = try await retrieve("org.example.One", portal, "/request/3")
      #expect(three.response == 0)
      #expect(three.secret == first)
      #expect(service.agent.prompts.count == 3)
    }
  }

  @Test("a portal's request that is closed before its turn causes no prompt, and allows nothing")
  func closedBeforeItsTurn() async throws {
    try await RunningSecretService.with { service in
      let (portal, client) = (try await portal(service), try await ServiceClient(service.bus))
      _ = try await secret(of: "org.example.One", portal)
      try await service.gate("Secret of org.example.One", .anyFinger)
      let item = try #require(try await client.search(["app_id": "org.example.One"]).locked.first)
      let prompt = try await client.change("Unlock", [item]).prompt
      try await client.call(prompt, "Prompt", "Prompt", [.string("")])
      try await service.agent.waits { $0.contains { $0.contains(". Swipe the reader") } }
      async let one = retrieve("org.example.One", portal, "/request/1")
      try await Task.sleep(for: .milliseconds(300))
      try await portal.call("/request/1", "org.freedesktop.impl.portal.Request", "Close", [])
      #expect(try await one.response == 1)
      try await client.call(prompt, "Prompt", "Dismiss")
      _ = try await client.completed(prompt)
      try await Task.sleep(for: .milliseconds(500))
      #expect(service.agent.prompts.count == 1)
      #expect(!service.agent.lines.contains { $0.contains("Allowed") }, "\(service.agent.lines)")
    }
  }
}
