import Executors
import Fingerprint
import Glibc
import Keys
import Processes
import ProgramDriver
import SDBus
import SecretModel
import SecureMemory
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
        close(passed)
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
    let intake = try SocketIntake(.passed(other, ended: { hasEnded.set() }))
    var pair: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0)
    let passed = pair[0]
    defer { for end in pair { close(end) } }
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

private final class Flag: Sendable {
  private let state = Mutex(false)

  var isSet: Bool { state.withLock { $0 } }
  func set() { state.withLock { $0 = true } }
}

private final class Count: Sendable {
  private let state = Mutex(0)

  var value: Int { state.withLock { $0 } }
  func add() { state.withLock { $0 += 1 } }
}

/// The service as systemd runs it, with the stores of three users in a folder of its own.
private final class BrokeredService: Sendable {
  /// Accounts that every machine has: daemon, bin and sys.
  static let users: [UInt32] = [1, 2, 3]

  private let folder: String
  private let socket: Int32
  private let broker = Mutex<VaultBroker?>(nil)
  private let logged = Mutex<[String]>([])

  var lines: [String] { logged.withLock { $0 } }

  static func with(_ body: (BrokeredService) async throws -> Void) async throws {
    let service = try await BrokeredService()
    try await body(service)
    await service.close()
    try ScratchStore.run("/bin/rm", ["-rf", service.folder])
  }

  private init() async throws {
    folder = try RunningService.makeFolder()
    // Other users reach the socket, and nothing else.
    chmod(folder, 0o711)
    for name in ["stores", "run"] { mkdir("\(folder)/\(name)", 0o700) }
    try RunningService.write(
      "require-passcode-after-boot = no\ntpm = no\nreader = virtual-image:\(folder)/sensor\n", to: folder + "/conf")
    socket = try RunningService.listen(at: folder + "/bus")
    chmod(folder + "/bus", 0o666)
    var configuration = SystemVaultsConfiguration(
      folder: folder + "/stores", reader: .child(.virtualImage(socket: folder + "/sensor")),
      accountName: { Account.name(of: $0) }, authorizeOwner: { _, _ in }, authorizeFingers: { _ in },
      authorizeTest: { _ in })
    configuration.floor = .weakForTests
    configuration.firstUnlock = .none
    let vaults = SystemVaults(configuration)
    for user in Self.users {
      let connection = vaults.connection(for: Caller(user: user))
      let draft = try await connection.create(.own, passcode: SecretBytes(text: RunningService.passcode))
      try await connection.keep(draft.id)
      _ = try await connection.open(.own).add(
        NewItem(.genericPassword, [.service: .text("note")], access: .none, accessibility: .afterFirstUnlock),
        secret: SecretBytes(text: "gold"), replacing: false, .nobody)
      await connection.close()
    }
    await vaults.close()
    try begin()
  }

  func begin() throws {
    let new = try VaultBroker(
      socket: fcntl(socket, F_DUPFD_CLOEXEC, 3), program: HelperProgram(at: Programs.path("whorld")),
      arguments: { [folder] in Self.arguments(of: $0, in: folder) }, environment: ["SWIFT_BACKTRACE=enable=no"],
      hasAccount: { Account.name(of: $0) != nil },
      log: { [weak self] line in self?.logged.withLock { $0.append(line) } })
    broker.withLock { $0 = new }
  }

  func close() async {
    await broker.withLock { broker in
      defer { broker = nil }
      return broker
    }?.close()
  }

  func arguments(of user: UInt32) -> [String] { Self.arguments(of: user, in: folder) }

  private static func arguments(of user: UInt32, in folder: String) -> [String] {
    ["whorld", "--of", "\(user)", folder + "/stores", folder + "/conf", folder + "/run"]
  }

  /// The vault processes of a user.
  func processes(of user: UInt32) -> [pid_t] {
    ProgramDriver.processes(with: arguments(of: user).map { $0 + "\0" }.joined())
  }

  func process(of user: UInt32) throws -> pid_t { try #require(processes(of: user).first) }

  func open(_ user: UInt32) async throws -> any VaultService {
    try await VaultBusClient(socket: connected(user)).open(.own)
  }

  /// The answer to the question of a PAM module, or the name of the error.
  func firstFactor(of user: UInt32, by caller: UInt32, named name: String) async throws -> String? {
    let connection = try BusConnection(socket: connected(caller, named: name), role: .client, handlers: .init())
    defer { connection.close() }
    do {
      return try await connection.call(LoginInterface.target, "FirstFactor", [.uint32(user)]).first?.asString
    } catch BusError.remote(let name, _, _) {
      return name
    }
  }

  /// A socket whose other end sees this user. Only the calling thread becomes that user, while it connects.
  private func connected(_ user: UInt32, named name: String? = nil) throws -> Int32 {
    let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    if let name {
      // A name is free when its last holder has closed, which takes a moment.
      let name = "\(name)-\(UInt64.random(in: 0...UInt64.max))"
      let (address, length) = Self.address([0] + Array(name.utf8))
      try Self.checked(Self.with(address) { bind(descriptor, $0, length) })
    }
    let (address, length) = Self.address(Array((folder + "/bus").utf8) + [0])
    try Self.become(user)
    let result = Self.with(address) { Glibc.connect(descriptor, $0, length) }
    let why = errno
    try Self.become(0)
    guard result == 0 else { throw SystemFailure("connect", why) }
    return descriptor
  }

  private static func checked(_ result: Int32) throws { if result != 0 { throw SystemFailure("socket") } }

  private static func address(_ name: [UInt8]) -> (sockaddr_un, socklen_t) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    return (address, socklen_t(MemoryLayout<sa_family_t>.size + name.count))
  }

  private static func with(_ address: sockaddr_un, _ body: (UnsafePointer<sockaddr>) -> Int32) -> Int32 {
    withUnsafePointer(to: address) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body) }
  }

  /// seteuid(2) would change every thread of the process, and the vaults that it starts meanwhile.
  private static func become(_ user: UInt32) throws {
    typealias Call = @convention(c) (Int, Int, Int, Int) -> Int
    #if arch(x86_64)
      let setresuid = 117
    #else
      let setresuid = 147
    #endif
    // `syscall` is variadic and is not imported.
    let call = unsafeBitCast(try #require(dlsym(nil, "syscall")), to: Call.self)
    guard call(setresuid, -1, Int(user), -1) == 0 else { throw SystemFailure("setresuid") }
  }
}

extension VaultService {
  /// The secret of the one item.
  fileprivate func read() async throws -> String? {
    try await secrets(.search(ItemSearch(.genericPassword)), .nobody).first?.text
  }
}

private func vaultError<Value>(_ call: () async throws -> Value) async -> VaultError? {
  do {
    _ = try await call()
    return nil
  } catch {
    return error as? VaultError
  }
}

private func onLoop<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    BusLoop.shared.post { continuation.resume(with: Result { try body() }) }
  }
}
