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

/// The service as systemd runs it, with the stores of three users in a folder of its own.
final class BrokeredService: Sendable {
  /// Accounts that every machine has: daemon, bin and sys.
  static let users: [UInt32] = [1, 2, 3]

  let folder: String
  private let program: String
  private let socket: Int32
  private let broker = Mutex<VaultBroker?>(nil)
  private let logged = Mutex<[String]>([])

  var lines: [String] { logged.withLock { $0 } }

  /// - Parameters:
  ///   - ownPrograms: whether it runs a copy of the program, with an intruder as its reader program.
  ///   - closedAtStart: the users whose stores need the passcode after each start.
  static func with(
    ownPrograms: Bool = false, closedAtStart: Set<UInt32> = [], _ body: (BrokeredService) async throws -> Void
  ) async throws {
    let service = try await BrokeredService(ownPrograms, closedAtStart)
    try await body(service)
    await service.close()
    try ScratchStore.run("/bin/rm", ["-rf", service.folder])
  }

  private init(_ ownPrograms: Bool, _ closedAtStart: Set<UInt32>) async throws {
    folder = try RunningService.makeFolder()
    program = ownPrograms ? folder + "/bin/whorld" : try Programs.path("whorld")
    if ownPrograms {
      mkdir(folder + "/bin", 0o700)
      try ScratchStore.run("/bin/cp", [try Programs.path("whorld"), program])
      try ScratchStore.run("/bin/cp", [try Programs.path("whorl-intruder"), folder + "/bin/whorl-reader"])
    }
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
    for user in Self.users {
      configuration.firstUnlock = closedAtStart.contains(user) ? .passcode : .none
      let vaults = SystemVaults(configuration)
      let connection = vaults.connection(for: Caller(user: user))
      let draft = try await connection.create(.own, passcode: SecretBytes(text: RunningService.passcode))
      try await connection.keep(draft.id)
      _ = try await connection.open(.own).add(
        NewItem(.genericPassword, [.service: .text("note")], access: .none, accessibility: .afterFirstUnlock),
        secret: SecretBytes(text: "gold"), replacing: false, .nobody)
      await connection.close()
      await vaults.close()
    }
    try begin()
  }

  /// Puts a new file in the place of the program, as an upgrade does.
  func replaceProgram() throws {
    try ScratchStore.run("/bin/cp", [program, program + ".new"])
    guard rename(program + ".new", program) == 0 else { throw SystemFailure("rename") }
  }

  /// The file that a process runs, in the kernel's words.
  func program(of process: pid_t) throws -> String {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/\(process)/exe", &buffer, buffer.count)
    guard count > 0 else { throw SystemFailure("readlink") }
    return String(decoding: buffer.prefix(count), as: UTF8.self)
  }

  func begin() throws {
    let new = try VaultBroker(
      socket: fcntl(socket, F_DUPFD_CLOEXEC, 3), program: HelperProgram(at: program),
      arguments: { [folder] in Self.arguments(of: $0, in: folder) }, environment: ["SWIFT_BACKTRACE=enable=no"],
      hasAccount: { Account.name(of: $0) != nil },
      afterEnd: { [folder] in StoreNames(in: folder + "/stores").removeEmpty(of: $0) },
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
  func read() async throws -> String? {
    try await secrets(.search(ItemSearch(.genericPassword)), .nobody).first?.text
  }
}

func vaultError<Value>(_ call: () async throws -> Value) async -> VaultError? {
  do {
    _ = try await call()
    return nil
  } catch {
    return error as? VaultError
  }
}

func onLoop<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    BusLoop.shared.post { continuation.resume(with: Result { try body() }) }
  }
}

/// Something that happens once.
final class Flag: Sendable {
  private let state = Mutex(false)

  var isSet: Bool { state.withLock { $0 } }
  func set() { state.withLock { $0 = true } }
}
