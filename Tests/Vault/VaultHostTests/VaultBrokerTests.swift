import Glibc
import Keys
import Primitives
import Processes
import ProgramDriver
import SDBus
import SecretModel
import Synchronization
import Testing
import VaultBus
import VaultDriver
import VaultHost
import VaultStore

@Suite(
  "A vault process for each user", .enabled(if: geteuid() == 0, "connecting as several users takes root"),
  .timeLimit(.minutes(5)))
struct VaultBrokerTests {
  @Test("while three users work and the vault of one is ended by a signal or a trap, the two others notice nothing")
  func crashes() async throws {
    try await BrokeredService.with { service in
      let (alice, bob) = (try await service.open(1), try await service.open(2))
      // Both read all the time.
      let isOver = Flag()
      let readers = [reading(alice, until: isOver), reading(bob, until: isOver)]
      let others = try [service.process(of: 1), service.process(of: 2)]
      for (number, signal) in [SIGKILL, SIGILL, SIGSEGV, SIGABRT].enumerated() {
        let carol = try await service.open(3)
        #expect(try await carol.read() == "gold")
        kill(try service.process(of: 3), signal)
        let error = await vaultError {
          _ = try await eventually {
            _ = try await carol.read()
            return false
          }
        }
        // What ran at that moment, or came just after it.
        #expect(error == .systemCancelled || error?.name == VaultError.serviceUnavailable("").name, "\(error as Any)")
        // A connection that comes before the broker has seen the end may be lost with the process.
        let isSeen = try await eventually { service.lines.count { $0.contains(" has ended: ") } == number + 1 }
        #expect(isSeen)
      }
      // She is served again, after a wait that is hers alone.
      let begin = ContinuousClock.now
      let isServed = Flag()
      let again = Task {
        let text = try await service.open(3).read()
        isServed.set()
        return text
      }
      #expect(try await service.open(2).read() == "gold")
      #expect(!isServed.isSet)
      #expect(try await again.value == "gold")
      #expect(ContinuousClock.now - begin >= .milliseconds(900))
      isOver.set()
      for reader in readers { #expect(try await reader.value > 0) }
      #expect(try [service.process(of: 1), service.process(of: 2)] == others)
      #expect(service.lines.contains { $0.hasPrefix("the vault of user 3 has ended: killed by signal 9") })
      #expect(!service.lines.contains { $0.contains("user 1 ") || $0.contains("user 2 ") })
    }
  }

  /// Reads the secret of a vault again and again. Returns how often.
  private func reading(_ vault: any VaultService, until isOver: Flag) -> Task<Int, any Error> {
    Task { () async throws -> Int in
      var count = 0
      while !isOver.isSet {
        #expect(try await vault.read() == "gold")
        count += 1
      }
      return count
    }
  }

  @Test("a restart of the service closes every store, and leaves no process and nothing that has failed")
  func restart() async throws {
    try await BrokeredService.with { service in
      for _ in 0..<2 {
        var vaults: [any VaultService] = []
        for user in BrokeredService.users { vaults.append(try await service.open(user)) }
        for vault in vaults { #expect(try await vault.read() == "gold") }
        await service.close()
        #expect(BrokeredService.users.allSatisfy { service.processes(of: $0).isEmpty })
        for vault in vaults { await #expect(throws: VaultError.self) { _ = try await vault.read() } }
        // A client that comes meanwhile waits.
        async let waiting = service.open(1).read()
        try await Task.sleep(for: .milliseconds(100))
        try service.begin()
        #expect(try await waiting == "gold")
      }
      #expect(service.lines.isEmpty)
    }
  }

  @Test("a connection that a vault process has not taken when it is killed is served by the next one")
  func untaken() async throws {
    try await BrokeredService.with { service in
      #expect(try await service.open(1).read() == "gold")
      for _ in 0..<3 {
        let process = try service.process(of: 1)
        kill(process, SIGSTOP)
        // It may take a moment to stop.
        let isStopped = try await eventually {
          String(decoding: try ScratchStore.contents(of: "/proc/\(process)/stat"), as: UTF8.self).contains(") T ")
        }
        #expect(isStopped)
        let clients = (0..<3).map { _ in Task { try await service.open(1).read() } }
        // The service has passed them, and they wait in the socket of the process.
        try await Task.sleep(for: .milliseconds(200))
        kill(process, SIGKILL)
        for client in clients { #expect(try await client.value == "gold") }
        #expect(try service.process(of: 1) != process)
      }
    }
  }

  @Test("an upgrade changes no running vault, and after its restart each user is served by the new version")
  func upgrade() async throws {
    try await BrokeredService.with(ownPrograms: true, closedAtStart: [3]) { service in
      let users = BrokeredService.users
      let isOver = Flag()
      let readers = [
        reading(try await service.open(1), until: isOver), reading(try await service.open(2), until: isOver),
      ]
      await #expect(throws: VaultError.self) { _ = try await service.open(3).read() }
      let before = try users.map { try service.process(of: $0) }
      // As dpkg does: the new file is put in the place of the old one.
      try service.replaceProgram()
      for process in before { #expect(try service.program(of: process).hasSuffix(" (deleted)")) }
      isOver.set()
      for reader in readers { #expect(try await reader.value > 0) }
      #expect(try users.map { try service.process(of: $0) } == before)
      // A vault that ends before the restart comes back in the version that runs.
      kill(before[1], SIGKILL)
      #expect(try await eventually { (try? await service.open(2).read()) == "gold" })
      #expect(try service.program(of: service.process(of: 2)).hasSuffix(" (deleted)"))
      // The package restarts the socket, and with it the service. Programs ask meanwhile.
      let connected = try await service.open(1)
      await service.close()
      await #expect(throws: VaultError.self) { _ = try await connected.read() }
      let waiting = users.map { user in Task { try await service.open(user).read() } }
      try service.begin()
      #expect(try await waiting[0].value == "gold")
      #expect(try await waiting[1].value == "gold")
      // Closed as after every start, until the passcode is given.
      await #expect(throws: VaultError.self) { _ = try await waiting[2].value }
      #expect(try await service.open(3).openClasses().contains(.afterFirstUnlock) == false)
      for user in users {
        let process = try service.process(of: user)
        #expect(!before.contains(process))
        #expect(try service.program(of: process).hasSuffix("/bin/whorld"))
      }
    }
  }

  @Test("a vault process opens no store but its user's, and users without an account share one that opens none")
  func walls() async throws {
    try await BrokeredService.with { service in
      for user: UInt32 in [4_000_000_001, 4_000_000_002] {
        let error = await vaultError { try await service.open(user) }
        guard case .serviceUnavailable(let why) = error else { throw RunningService.Failed(what: "\(error as Any)") }
        #expect(why.contains("has no account"))
      }
      #expect(service.processes(of: .max).count == 1)
      #expect(service.processes(of: 4_000_000_001).isEmpty)
      // A connection that the broker gives to the wrong process.
      let program = try HelperProgram(at: Programs.path("whorld"))
      let (passing, other) = try await onLoop { try SocketPassing.begin {} }
      let child = try ChildProcess(
        program, arguments: service.arguments(of: 2), environment: [], standardInput: other.rawValue)
      var pair: [Int32] = [-1, -1]
      try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0)
      let passed = pair[1]
      let connection = try VaultBusClient(socket: pair[0])
      try await onLoop {
        try passing.pass(passed)
      }
      let error = await vaultError { try await connection.open(.own) }
      guard case .serviceUnavailable(let why) = error else { throw RunningService.Failed(what: "\(error as Any)") }
      #expect(why.contains("user 0 has no account"))
      try await onLoop { passing.end() }
      _ = await child.end(grace: .zero).value
    }
  }

  @Test("root tells of a login at the vault of the user whom its connection names, and nobody else can")
  func logins() async throws {
    try await BrokeredService.with { service in
      let (failed, refused) = ("org.whorl.Login1.Error.Failed", "org.freedesktop.DBus.Error.AccessDenied")
      let told = try await service.firstFactor(of: 2, by: 0, named: "whorl-login/2/1234")
      #expect(told == "any")
      #expect(service.processes(of: 2).count == 1)
      // That process has no other store.
      #expect(try await service.firstFactor(of: 1, by: 0, named: "whorl-login/2/1234") == failed)
      // Another user's name leads nowhere else.
      #expect(try await service.firstFactor(of: 2, by: 1, named: "whorl-login/2/1234") == refused)
      #expect(service.processes(of: 1).count == 1)
      for name in ["whorl-login/", "whorl-login/-1/x", "whorl-login/99999999999/x", "whorl-login/x", "other"] {
        #expect(try await service.firstFactor(of: 2, by: 0, named: name) == failed)
      }
      #expect(service.processes(of: 0).count == 1)
    }
  }
}

@Suite("A vault process that is not needed")
struct UnusedVaultTests {
  @Test("a vault process ends as unused only where it has got every connection that was passed to it")
  func handshake() async throws {
    let (isUnused, hasEnded, count) = (Flag(), Flag(), Count())
    let (passing, other) = try await onLoop { try SocketPassing.begin { isUnused.set() } }
    let intake = try SocketIntake(.passed(other, .init(willTake: {}, ended: { hasEnded.set() })))
    var pair: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0)
    let passed = pair[0]
    defer { close(pair[1]) }
    try await onLoop {
      intake.begin { socket in
        count.add()
        close(socket)
      }
      try passing.pass(passed)
      // It has not taken it yet.
      intake.sayUnused()
    }
    #expect(try await eventually { count.value == 1 })
    #expect(!isUnused.isSet)
    try await onLoop { intake.sayUnused() }
    #expect(try await eventually { isUnused.isSet })
    try await onLoop { passing.end() }
    #expect(!hasEnded.isSet)
  }

  @Test("vaults count as unused when every store is closed and no key of one is kept")
  func keys() async throws {
    let folder = try RunningService.makeFolder()
    defer { try? ScratchStore.run("/bin/rm", ["-rf", folder]) }
    var configuration = SystemVaultsConfiguration(
      folder: folder, reader: .child(.virtualImage(socket: folder + "/sensor")), accountName: { "user\($0)" },
      authorizeOwner: { _, _ in }, authorizeFingers: { _ in }, authorizeTest: { _ in })
    configuration.floor = .weakForTests
    configuration.idleTime = .milliseconds(20)
    let vaults = SystemVaults(configuration)
    #expect(await vaults.areUnused())
    let connection = vaults.connection(for: Caller(user: geteuid()))
    let draft = try await connection.create(.own, passcode: SecretBytes(text: RunningService.passcode))
    #expect(!(await vaults.areUnused()))
    try await connection.keep(draft.id)
    let vault = try await connection.open(.own)
    try await Person(passcodes: [RunningService.passcode]).with(vault) { try await vault.unlock(Asking(in: $0)) }
    await connection.close()
    // Its key of after-first-unlock is kept while the store is closed.
    try await Task.sleep(for: .milliseconds(200))
    #expect(!(await vaults.areUnused()))
    let locking = vaults.connection(for: Caller(user: geteuid()))
    try await locking.open(.own).lock()
    #expect(!(await vaults.areUnused()))
    await locking.close()
    #expect(try await eventually { await vaults.areUnused() })
    await vaults.close()
  }
}

private final class Count: Sendable {
  private let state = Mutex(0)

  var value: Int { state.withLock { $0 } }
  func add() { state.withLock { $0 += 1 } }
}
