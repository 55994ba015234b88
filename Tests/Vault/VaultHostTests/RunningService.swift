import Glibc
import Keys
import Presence
import Primitives
import Processes
import SecretModel
import Vault
import VaultBus
import VaultDriver
import VaultHost
import VaultStore
import Whorl

/// The service in this process, listening in a folder of its own. Its stores use a cheap scrypt.
final class RunningService: Sendable {
  static let passcode = "correct horse"

  let folder: String
  let stores: String
  /// The service as clients find it.
  let installed: InstalledService
  /// The calls of root's PAM module, with the session "c1" of this process's user.
  let logins: Logins
  private let vaults: SystemVaults
  private let listener: VaultBusListener

  /// - Parameters:
  ///   - idleTime: how long an unused store stays open.
  ///   - connections: the most connections of one user.
  ///   - connectionsOfProcess: the most connections of one process.
  ///   - waitingTime: how long a connection over the limit of its user waits for a place.
  ///   - callBytes: the memory of one user's open calls.
  ///   - answerBytes: the memory of the answers that one user's programs have not read.
  ///   - quota: the most bytes of a store.
  ///   - shortestPasscode: the fewest bytes of a new passcode.
  ///   - firstUnlock: the least that opens a store after a start.
  ///   - storage: where the keys of the stores' device slots are kept.
  ///   - reader: the readers; by default a virtual one.
  ///   - locks: the folder of the locks that several services share; nil: this one is alone.
  ///   - programPaths: adds the path of the program to a caller's label.
  ///   - sessions: the machine's login sessions; by default sessions forbid nothing.
  ///   - authorizeFingers: stands in for polkit.
  ///   - authorizeEnrolment: stands in for polkit.
  ///   - authorizeTest: stands in for polkit.
  ///   - authorizeOwner: stands in for polkit.
  ///   - callers: replaces the caller that connected, to simulate several users.
  ///   - journal: replaces the system's journal.
  ///   - clock: replaces the machine's clock.
  init(
    idleTime: Duration = .seconds(60), connections: Int = 64, connectionsOfProcess: Int = 64,
    waitingTime: Duration = .milliseconds(100), callBytes: Int = 128 << 20, answerBytes: Int = 512 << 20,
    quota: Int = 256 << 20,
    shortestPasscode: Int = 4, firstUnlock: FirstUnlock = .login, storage: RootStorage = .keyFile,
    reader: ServiceReader? = nil, locks: String? = nil,
    accountName: @escaping @Sendable (UInt32) -> String? = { "user\($0)" },
    callers: @escaping @Sendable (Caller) -> Caller = { $0 },
    programPaths: ProgramPaths? = nil, sessions: LoginSessions? = nil,
    authorizeFingers: @escaping @Sendable (Caller) async throws(VaultError) -> Void = { _ throws(VaultError) in },
    authorizeEnrolment: @escaping @Sendable (Caller) async throws(VaultError) -> Void = { _ throws(VaultError) in },
    authorizeTest: @escaping @Sendable (Caller) async throws(VaultError) -> Void = { _ throws(VaultError) in },
    journal: @escaping @Sendable (AuditEntry, UInt32) -> Void = { _, _ in }, clock: BootClock = .system,
    authorizeOwner: @escaping @Sendable (Caller, OwnersChange) async throws(VaultError) -> Void = {
      _, _ throws(VaultError) in
    }
  ) throws {
    folder = try Self.makeFolder()
    stores = folder + "/stores"
    guard mkdir(stores, 0o700) == 0 else { throw Failed(what: "mkdir") }
    try Self.write("", to: folder + "/system")
    let trust = PathWalk.Trust.rootAndEffectiveUser
    installed = InstalledService(marker: folder + "/system", folder: folder, trust: trust)
    var configuration = SystemVaultsConfiguration(
      folder: stores, locks: locks, reader: reader ?? .child(.virtualImage(socket: folder + "/sensor")),
      accountName: accountName,
      authorizeOwner: authorizeOwner, authorizeFingers: authorizeFingers, authorizeTest: authorizeTest)
    configuration.authorizeEnrolment = authorizeEnrolment
    configuration.programPaths = programPaths
    configuration.sessions = sessions
    configuration.idleTime = idleTime
    configuration.floor = .weakForTests
    configuration.quota = quota
    configuration.shortestPasscode = shortestPasscode
    configuration.firstUnlock = firstUnlock
    configuration.storage = storage
    configuration.journal = journal
    configuration.clock = clock
    let vaults = SystemVaults(configuration)
    self.vaults = vaults
    logins = Logins(vaults, isLocalLogin: { $0 == "c1" && $1 == geteuid() }, log: { _ in })
    var limits = ServingLimits()
    limits.connectionsOfOneUser = connections
    limits.connectionsOfOneProcess = connectionsOfProcess
    limits.waitingTime = waitingTime
    limits.callBytesOfOneUser = callBytes
    limits.answerBytesOfOneUser = answerBytes
    listener = try VaultBusListener(socket: try Self.listen(at: folder + "/bus"), limits: limits) {
      vaults.connection(for: callers($0))
    }
  }

  func connect() throws -> any VaultConnection { try installed.connect() }

  /// Makes the caller's store.
  func makeStore() async throws {
    let connection = try connect()
    let draft = try await connection.create(.own, passcode: SecretBytes(text: Self.passcode))
    try await connection.keep(draft.id)
    await connection.close()
  }

  func storeNames() throws -> [String] {
    guard let stream = opendir(stores) else { throw Failed(what: stores) }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  func end() async throws {
    await listener.close()
    await vaults.close()
    try ScratchStore.run("/bin/rm", ["-rf", folder])
  }

  static func makeFolder() throws -> String {
    var template = Array("/tmp/whorl-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failed(what: "mkdtemp") }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  static func write(_ text: String, to path: String) throws {
    guard let file = fopen(path, "w") else { throw Failed(what: path) }
    fputs(text, file)
    fclose(file)
  }

  /// A socket that listens. The caller owns it.
  static func listen(at path: String) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard descriptor >= 0, result == 0, Glibc.listen(descriptor, 4_096) == 0 else { throw Failed(what: path) }
    return descriptor
  }

  struct Failed: Error {
    var what: String
  }
}

extension VaultConnection {
  /// Opens the caller's own store and returns its status.
  func status() async throws -> VaultStatus { try await open(.own).status() }
}

/// An item that asks for nothing.
let note = NewItem(.genericPassword, [.service: .text("note")])

/// Waits until the condition holds, for at most ten seconds.
func eventually(_ condition: () async throws -> Bool) async throws -> Bool {
  for _ in 0..<1_000 {
    if try await condition() { return true }
    try await Task.sleep(for: .milliseconds(10))
  }
  return false
}
