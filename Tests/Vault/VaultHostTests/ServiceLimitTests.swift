import Primitives
import ProgramDriver
import SecretModel
import Testing
import VaultBus
import VaultDriver
import VirtualFinger

@Suite("One user's limits in the system service")
struct ServiceLimitTests {
  /// Opens the store over a new connection. Tries again while the service still counts an earlier connection of the test.
  private func connection(to service: RunningService) async throws -> any VaultConnection {
    var opened: (any VaultConnection)?
    let isOpen = try await eventually {
      let connection = try service.connect()
      if (try? await connection.open(.own)) != nil { opened = connection } else { await connection.close() }
      return opened != nil
    }
    try #require(isOpen, "the service refuses a connection under the limit")
    return try #require(opened)
  }

  @Test("a connection to the service over its user's limit is refused until another is closed")
  func connections() async throws {
    let service = try RunningService(connections: 3)
    try await service.makeStore()
    var standing: [any VaultConnection] = []
    for _ in 1...3 { standing.append(try await connection(to: service)) }
    let refused = try service.connect()
    let error = await #expect(throws: VaultError.self) { _ = try await refused.open(.own) }
    guard case .busy(let why)? = error else { return #expect(Bool(false), "\(String(describing: error))") }
    #expect(why.hasPrefix("3 connections of this user are open; ") && why.hasSuffix(" has 3 of them"), "\(why)")
    await refused.close()
    await standing.removeLast().close()
    standing.append(try await connection(to: service))
    for connection in standing { await connection.close() }
    try await service.end()
  }

  @Test("400 programs that open the store at once, as a script may start them, are all served")
  func manyPrograms() async throws {
    let service = try RunningService(waitingTime: .seconds(30))
    try await service.makeStore()
    let problems = await withTaskGroup { group in
      for _ in 0..<400 {
        group.addTask { () -> String? in
          do {
            let connection = try service.connect()
            let found = try await connection.open(.own).items(ItemSearch(), .nobody).items.count
            // Longer than others take to connect.
            try await Task.sleep(for: .milliseconds(20))
            await connection.close()
            return found == 0 ? nil : "found \(found)"
          } catch {
            return "\(error)"
          }
        }
      }
      var problems: [String] = []
      for await problem in group { if let problem { problems.append(problem) } }
      return problems
    }
    #expect(problems.isEmpty, "\(problems.count): \(Set(problems))")
    try await service.end()
  }

  /// What 50 programs at once get from the service, each over a connection of its own: the errors.
  private func burst(
    on service: RunningService, _ program: @escaping @Sendable (any VaultService) async throws -> Void
  ) async -> [String] {
    await withTaskGroup { group in
      for _ in 0..<50 {
        group.addTask { () -> String? in
          do {
            let connection = try service.connect()
            try await program(try await connection.open(.own))
            await connection.close()
            return nil
          } catch {
            return "\(error)"
          }
        }
      }
      var problems: [String] = []
      for await problem in group { if let problem { problems.append(problem) } }
      return problems
    }
  }

  @Test(
    "50 programs that ask for a finger at once, as a script may start them, get their turns, however long all take",
    .timeLimit(.minutes(5)))
  func manyTouches() async throws {
    let service = try RunningService()
    try await service.makeStore()
    let connection = try service.connect()
    let vault = try await connection.open(.own)
    @Sendable func press(_ number: UInt64) async throws {
      let image = SyntheticFinger(person: 1, finger: .rightIndex).impression(number)
      try await onThread {
        try VirtualImageReader(socket: service.folder + "/sensor", patience: .seconds(15)).press(image)
      }
    }
    let owner = Person(
      passcodes: [RunningService.passcode], touches: (1...6).map { number in { try await press(number) } })
    _ = try await owner.with(vault) { try await vault.enroll(.rightIndex, Asking(in: $0)) }
    let item = try await vault.add(
      NewItem(.genericPassword, [.service: .text("bank")], access: AccessControl(.currentSet)),
      secret: SecretBytes(text: "gold"), replacing: false, .nobody)
    // All of them together take longer than one of them waits for a person who does nothing.
    let patience = ContextOptions(timeout: .seconds(12))
    let problems = await burst(on: service) { vault in
      let person = Person(touches: [{ try await press(1) }])
      let released = try await person.with(vault, patience) {
        try await vault.secrets(.ids([item.id]), Asking(in: $0))
      }
      guard released.first?.text == "gold" else { throw RunningService.Failed(what: "another secret") }
    }
    #expect(problems.isEmpty, "\(problems.count): \(Set(problems))")
    #expect(try await vault.status().failures == 0)
    await connection.close()
    try await service.end()
  }

  @Test("50 programs that bring the passcode at once, as a script may start them, have it checked one after the other")
  func manyPasscodes() async throws {
    let service = try RunningService()
    try await service.makeStore()
    let problems = await burst(on: service) { vault in
      try await Person(passcodes: [RunningService.passcode]).with(vault) { try await vault.unlock(Asking(in: $0)) }
    }
    #expect(problems.isEmpty, "\(problems.count): \(Set(problems))")
    try await service.end()
  }

  @Test("a program keeps 1,000 contexts on a connection, and one user's programs 4,096 together")
  func contexts() async throws {
    let service = try RunningService()
    try await service.makeStore()
    var connections: [any VaultConnection] = []
    var contexts: [(ContextHandle, ContextEvents)] = []
    var vaults: [any VaultService] = []
    for _ in 1...5 {
      let connection = try service.connect()
      connections.append(connection)
      vaults.append(try await connection.open(.own))
    }
    for vault in vaults[..<4] {
      for _ in 1...1_000 {
        let (handle, events) = try await vault.openContext(ContextOptions())
        contexts.append((handle, events))
      }
    }
    for _ in 1...96 {
      let (handle, events) = try await vaults[4].openContext(ContextOptions())
      contexts.append((handle, events))
    }
    await #expect(throws: VaultError.busy("programs of this user have too many open contexts")) {
      _ = try await vaults[4].openContext(ContextOptions())
    }
    await vaults[0].closeContext(contexts[0].0, reason: .program)
    _ = try await vaults[4].openContext(ContextOptions())
    for connection in connections { await connection.close() }
    try await service.end()
  }

  @Test("one process cannot use up all connections that the service allows its user")
  func connectionsOfProcess() async throws {
    let service = try RunningService(connections: 3, connectionsOfProcess: 2)
    try await service.makeStore()
    var standing: [any VaultConnection] = []
    for _ in 1...2 { standing.append(try await connection(to: service)) }
    let refused = try service.connect()
    await #expect(throws: VaultError.busy("2 connections of this process are open")) {
      _ = try await refused.open(.own)
    }
    await refused.close()
    for connection in standing { await connection.close() }
    try await service.end()
  }

  @Test("a user can fill a store in the service up to the quota, and stored items stay usable after the error")
  func quota() async throws {
    let quota = 2 << 20
    let service = try RunningService(quota: quota)
    try await service.makeStore()
    let connection = try service.connect()
    let vault = try await connection.open(.own)
    let large = String(repeating: "x", count: 500_000)
    var stored: [ItemID] = []
    await #expect(throws: VaultError.storeFull(limit: quota)) {
      for number in 0..<10 {
        let item = NewItem(.genericPassword, [.service: .text("note"), .account: .text("\(number)")])
        stored.append(try await vault.add(item, secret: SecretBytes(text: large), replacing: false, .nobody).id)
      }
    }
    #expect((2...4).contains(stored.count))
    #expect(try await vault.secrets(.ids(stored), .nobody).count == stored.count)
    #expect(try await vault.delete(.ids([stored[0]])) == 1)
    _ = try await vault.add(note, secret: SecretBytes(text: large), replacing: false, .nobody)
    await connection.close()
    try await service.end()
  }

  @Test("the service limits the memory of one user's open calls, over all connections")
  func memory() async throws {
    let service = try RunningService(callBytes: 3 << 20)
    try await service.makeStore()
    // The longest that there may be; 48 of them take more than 3 MiB.
    let passcode = Proof.access(AccessControl(.passcode))
    let reason = String(repeating: "x", count: 65_536)
    var connections: [any VaultConnection] = []
    var waiting: [Task<Void, any Error>] = []
    for count in [23, 24] {
      let connection = try service.connect()
      let vault = try await connection.open(.own)
      for _ in 1...count {
        let (context, events) = try await vault.openContext(ContextOptions())
        waiting.append(
          Task { _ = try await vault.evaluate(passcode, Asking(in: context, reason: reason)) })
        // The call is running when it asks for the passcode.
        for await event in events {
          if case .secretWanted = event.event { break }
        }
      }
      connections.append(connection)
    }
    let third = try service.connect()
    let vault = try await third.open(.own)
    await #expect(throws: VaultError.busy("the open calls of this user take more than 3 MiB")) {
      _ = try await vault.evaluate(.policy(.deviceOwner), Asking(in: nil, reason: reason))
    }
    for connection in connections { await connection.close() }
    for task in waiting { await #expect(throws: (any Error).self) { try await task.value } }
    #expect(
      try await eventually {
        do {
          _ = try await vault.evaluate(.policy(.deviceOwner), Asking(in: nil, reason: reason))
          return false
        } catch {
          return error as? VaultError == .interactionNotAllowed
        }
      })
    await third.close()
    try await service.end()
  }

  @Test("secrets that a call carries in files count in the service's limit for the memory of a user's calls")
  func memoryOfFiles() async throws {
    let service = try RunningService(callBytes: 3 << 20)
    try await service.makeStore()
    let connection = try service.connect()
    let vault = try await connection.open(.own)
    func items(_ count: Int) -> [ItemToAdd] {
      (0..<count).map { number in
        let item = NewItem(.genericPassword, [.service: .text("large"), .account: .text("\(number)")])
        return ItemToAdd(item, secret: SharedSecret(SecretBytes(count: 1 << 20)))
      }
    }
    let busy = VaultError.busy("the open calls of this user take more than 3 MiB")
    await withTaskGroup { group in
      for _ in 1...10 {
        group.addTask { await #expect(throws: busy) { try await vault.add(items(8)) } }
      }
    }
    #expect(try await vault.add(items(2)).isEmpty)
    // Passwords kept by contexts count until the contexts are closed.
    let contexts = [try await vault.openContext(ContextOptions()), try await vault.openContext(ContextOptions())]
    for context in contexts { await vault.setApplicationPassword(SecretBytes(count: 1 << 20), of: context.handle) }
    await #expect(throws: busy) { try await vault.add(items(1)) }
    await vault.setApplicationPassword(nil, of: contexts[0].handle)
    await vault.closeContext(contexts[1].handle, reason: .program)
    // Not stored twice, but read.
    #expect(try await eventually { (try? await vault.add(items(1)))?.count == 1 })
    #expect(try await vault.items(ItemSearch(), .nobody).items.count == 2)
    await connection.close()
    try await service.end()
  }

  @Test("the service limits the memory of answers that one user's programs have not read")
  func unreadAnswers() async throws {
    let service = try RunningService(answerBytes: 3 << 20)
    try await service.makeStore()
    let relay = try StallingRelay(to: service.folder + "/bus")
    let relaying = Task { await relay.run() }
    let idle = try VaultBusClient(socket: relay.client)
    let stalled = try await idle.open(.own)
    let connection = try service.connect()
    let vault = try await connection.open(.own)
    let secret = SecretBytes(text: String(repeating: "x", count: 1 << 20))
    let large = try await vault.add(note, secret: secret, replacing: false, .nobody)
    // Answers that were read no longer count.
    for _ in 1...5 {
      #expect(try await eventually { (try? await vault.secrets(.ids([large.id]), .nobody).count) == 1 })
    }
    // An item that is named several times is sent once.
    #expect(try await vault.secrets(.ids(Array(repeating: large.id, count: 10)), .nobody).count == 10)
    relay.stall()
    let unread = (1...3).map { _ in Task { try await stalled.secrets(.ids([large.id]), .nobody) } }
    let busy = VaultError.busy("programs of this user leave more than 3 MiB of answers unread")
    #expect(
      try await eventually {
        do {
          _ = try await vault.secrets(.ids([large.id]), .nobody)
          return false
        } catch {
          return error as? VaultError == busy
        }
      })
    relaying.cancel()
    for call in unread { await #expect(throws: (any Error).self) { try await call.value } }
    #expect(try await eventually { (try? await vault.secrets(.ids([large.id]), .nobody).count) == 1 })
    await idle.close()
    await connection.close()
    try await service.end()
  }

  @Test("the service limits the memory of unread answers without secrets, over all connections of a user")
  func unreadPages() async throws {
    let service = try RunningService(answerBytes: 3 << 20)
    try await service.makeStore()
    let relays = try (1...6).map { _ in try StallingRelay(to: service.folder + "/bus") }
    let relaying = relays.map { relay in Task { await relay.run() } }
    var idle: [VaultBusClient] = []
    var stalled: [any VaultService] = []
    for relay in relays {
      let client = try VaultBusClient(socket: relay.client)
      idle.append(client)
      stalled.append(try await client.open(.own))
    }
    let connection = try service.connect()
    let vault = try await connection.open(.own)
    for number in 1...16 {
      let label = String(repeating: "x", count: 60_000)
      let item = NewItem(.genericPassword, [.service: .text("\(number)"), .label: .text(label)])
      _ = try await vault.add(item, secret: SecretBytes(text: "x"), replacing: false, .nobody)
    }
    #expect(try await vault.items(ItemSearch(), .nobody).items.count == 16)
    for relay in relays { relay.stall() }
    // Each of these connections may leave a mebibyte unread before it waits.
    let unread = stalled.map { stalled in Task { try await stalled.items(ItemSearch(), .nobody) } }
    let busy = VaultError.busy("programs of this user leave more than 3 MiB of answers unread")
    #expect(
      try await eventually {
        do {
          _ = try await vault.items(ItemSearch(), .nobody)
          return false
        } catch {
          return error as? VaultError == busy
        }
      })
    // Small answers are given.
    _ = try await vault.status()
    for task in relaying { task.cancel() }
    for call in unread { _ = await call.result }
    #expect(try await eventually { (try? await vault.items(ItemSearch(), .nobody).items.count) == 16 })
    for client in idle { await client.close() }
    await connection.close()
    try await service.end()
  }
}
