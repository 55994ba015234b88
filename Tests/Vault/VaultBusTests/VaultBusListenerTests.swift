import Glibc
import Primitives
import SDBus
import SecretModel
import Testing
import VaultBus
import VaultDriver

@Suite("The vault's listener", .timeLimit(.minutes(1)))
struct VaultBusListenerTests {
  /// A socket that listens in a folder of its own.
  private final class Place {
    let socket: Int32
    var path: String { folder + "/bus" }
    private let folder: String

    init() throws {
      var template = Array("/tmp/whorl-test-XXXXXX".utf8CString)
      try #require(mkdtemp(&template) != nil)
      folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      socket = try listening(at: folder + "/bus")
    }

    deinit { try? ScratchStore.run("/bin/rm", ["-rf", folder]) }

    /// A connection that has made its handshake, and makes no call.
    func connect() throws -> (connection: BusConnection, isClosed: Flag) {
      let socket = try BusDescriptor.connected(toBus: "unix:path=\(path)")
      let isClosed = Flag()
      let connection = try BusConnection(
        socket: dup(socket.rawValue), role: .client, handlers: .init(closed: { isClosed.set() }))
      return (connection, isClosed)
    }
  }

  /// The name of the error of a first hello; nil where it is answered.
  private func errorOfHello(_ connection: BusConnection) async -> String? {
    do throws(BusError) {
      _ = try await connection.call(VaultInterface.target, "Hello", [.uint64(1), .uint32(0), .array(of: "s", [])])
      return nil
    } catch {
      guard case .remote(let name, _, _) = error else { return "\(error)" }
      return name
    }
  }

  @Test("the vault's listener closes silent connections after a while, which frees places", arguments: [false, true])
  func silence(_ ofOneUser: Bool) async throws {
    let place = try Place()
    var limits = ServingLimits()
    limits.greeting = .seconds(1)
    limits.waitingTime = .milliseconds(10)
    if ofOneUser { limits.connectionsOfOneUser = 2 } else { limits.connections = 2 }
    let listener = try VaultBusListener(socket: place.socket, limits: limits) { _ in StubVault() }
    // At a user's limit, two more connections are accepted, to answer that the service is busy.
    let silent = try (1...(ofOneUser ? 4 : 2)).map { _ in try place.connect() }
    #expect(try await eventually { silent.allSatisfy(\.isClosed.isSet) })
    let next = try place.connect()
    #expect(await errorOfHello(next.connection) == nil)
    try await Task.sleep(for: .milliseconds(2_500))
    #expect(!next.isClosed.isSet, "one that has said hello may wait")
    next.connection.close()
    await listener.close()
  }

  @Test("the vault's listener does not close root's PAM module, which sends no hello")
  func module() async throws {
    let place = try Place()
    var limits = ServingLimits()
    limits.greeting = .seconds(1)
    let listener = try VaultBusListener(
      socket: place.socket, limits: limits,
      logins: { LoginObject(serving: NoLogins(), to: $0, log: { _ in }) }
    ) { _ in StubVault() }
    let module = try place.connect()
    _ = try? await module.connection.call(LoginInterface.target, "FirstFactor", [.uint32(7)])
    try await Task.sleep(for: .milliseconds(2_500))
    #expect(module.isClosed.isSet == (geteuid() != 0))
    module.connection.close()
    await listener.close()
  }

  @Test("the vault's listener has closed only when the calls of every connection have ended")
  func close() async throws {
    let place = try Place()
    let gate = Gate()
    let endless = StubVault(
      .init(unlock: { _ throws(VaultError) in
        // Ignores its cancellation.
        await Task.detached { _ = try? await gate.wait() }.value
      }))
    let listener = try VaultBusListener(socket: place.socket) { _ in endless }
    let idle = try place.connect()
    #expect(await errorOfHello(idle.connection) == nil)
    let busy = try place.connect()
    #expect(await errorOfHello(busy.connection) == nil)
    _ = try await busy.connection.call(
      VaultInterface.target, "Open",
      [.uint64(2), .dictionary(["directory": .bytes([47]), "reader": .bytes(Array("auto".utf8))])])
    let call = Task { try await busy.connection.call(VaultInterface.target, "Unlock", [.uint64(3), .dictionary([:])]) }
    #expect(try await eventually { gate.count == 1 })
    let hasClosed = Flag()
    let closing = Task {
      await listener.close()
      hasClosed.set()
    }
    #expect(try await eventually { idle.isClosed.isSet && busy.isClosed.isSet })
    try await Task.sleep(for: .milliseconds(200))
    #expect(!hasClosed.isSet)
    gate.open()
    await closing.value
    await #expect(throws: BusError.self) { try await call.value }
  }

  @Test("a program that has ended by the time its connection is accepted is not served")
  func endedProgram() throws {
    let place = try Place()
    defer { Glibc.close(place.socket) }
    let here = try place.connect()
    let own = accept(place.socket, nil, nil)
    defer { Glibc.close(own) }
    #expect(Caller(try BusPeer(of: own))?.process?.id == getpid())
    here.connection.close()
    // `Process` would wait for the program, after which the kernel does not tell of it any more.
    let connect = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
    var pid: pid_t = 0
    let words = (["python3", "-c", connect, place.path] as [String]).map { strdup($0) }
    defer { for word in words { free(word) } }
    let spawned = posix_spawn(&pid, "/usr/bin/python3", nil, nil, words + [nil], environ)
    try #require(spawned == 0)
    defer { waitpid(pid, nil, 0) }
    let accepted = accept(place.socket, nil, nil)
    defer { Glibc.close(accepted) }
    var ended = siginfo_t()
    try #require(waitid(P_PID, id_t(pid), &ended, WEXITED | WNOWAIT) == 0)
    let peer = try BusPeer(of: accepted)
    // Without a pidfd of the socket nothing but the number tells the program apart.
    if peer.process != nil { #expect(Caller(peer) == nil) }
  }

  private struct NoLogins: LoginService {
    func openSession(_: String, of _: UInt32, by _: String, password _: consuming SecretBytes?)
      async throws(LoginRefusal) -> LoginAnswer
    { throw .noSuchLogin }
    func firstFactor(of _: UInt32) async throws(LoginRefusal) -> LoginOutcome { throw .noSuchLogin }
    func verify(_: Caller) async throws(LoginRefusal) -> LoginAnswer { throw .noSuchLogin }
    func changePassword(of _: UInt32, from _: consuming SecretBytes?, to _: consuming SecretBytes)
      async throws(LoginRefusal) -> LoginAnswer
    { throw .noSuchLogin }
  }
}
