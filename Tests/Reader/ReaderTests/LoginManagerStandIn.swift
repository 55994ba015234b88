import Glibc
import ProgramDriver
import SDBus
import Synchronization
import Testing

/// Replaces logind on a private bus: grants locks, and signals when the system goes to sleep.
final class LoginManagerStandIn: Sendable {
  static let target = BusTarget(path: "/org/freedesktop/login1", interface: "org.freedesktop.login1.Manager")

  /// A granted lock: its owner, the arguments of the request, and the end of its pipe that shows when it is closed.
  struct Lock: Sendable {
    let holder: String
    let words: [String]
    fileprivate let pipe: BusDescriptor

    var isHeld: Bool {
      var request = pollfd(fd: pipe.rawValue, events: 0, revents: 0)
      poll(&request, 1, 0)
      return request.revents & Int16(POLLHUP) == 0
    }
  }

  private let connection: BusConnection
  private let given: GivenLocks

  init(on bus: PrivateBus, ownsName: Bool = true) async throws {
    let given = GivenLocks()
    self.given = given
    connection = try BusConnection(busAddress: bus.address, handlers: .init(call: { given.answer($0) }))
    guard ownsName else { return }
    let answer = try await connection.call(
      MessageBus.target, "RequestName", [.string("org.freedesktop.login1"), .uint32(0)])
    try #require(answer.first?.asUInt32 == 1)
  }

  var locks: [Lock] { given.locks.withLock { $0 } }

  func waitForLock(count: Int = 1) async throws -> Lock {
    try #require(try await eventually { locks.count >= count }, "no lock was asked for")
    return try #require(locks.last)
  }

  /// Sends the signal to all subscribers, or to one member.
  func prepareForSleep(_ begins: Bool, to destination: String? = nil) async throws {
    var target = Self.target
    target.destination = destination
    connection.emit(target, "PrepareForSleep", [.boolean(begins)])
    // When the bus answers this call, it has the signal sent before.
    _ = try await connection.call(MessageBus.target, "GetId")
  }

  /// Sends one other member a signal with contents the product's interfaces do not have.
  func sendOddSignal(to destination: String) async throws {
    connection.emit(
      BusTarget(destination: destination, path: "/x", interface: "org.whorl.Odd1"), "Odd",
      [.array(of: "{us}", [])])
    _ = try await connection.call(MessageBus.target, "GetId")
  }

  func close() { connection.close() }
}

private final class GivenLocks: Sendable {
  let locks = Mutex<[LoginManagerStandIn.Lock]>([])

  func answer(_ call: BusCall) {
    guard call.path == LoginManagerStandIn.target.path, call.interface == LoginManagerStandIn.target.interface,
      call.member == "Inhibit", call.signature == "ssss"
    else { return call.fail("org.freedesktop.DBus.Error.UnknownMethod", "no such member") }
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      return call.fail("org.freedesktop.DBus.Error.Failed", "no pipe")
    }
    // The programs the tests start must not hold the lock.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let lock = LoginManagerStandIn.Lock(
      holder: call.sender ?? "", words: call.arguments.compactMap(\.asString), pipe: BusDescriptor(taking: ends[0]))
    locks.withLock { $0.append(lock) }
    call.answer([.descriptor(BusDescriptor(taking: ends[1]))])
  }
}
