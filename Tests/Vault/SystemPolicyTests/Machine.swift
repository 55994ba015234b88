import Glibc
import Processes
import ProgramDriver
import SecretModel
import Synchronization
import SystemPolicy
import Testing

/// A machine of a test: a bus, logind and polkit on it, and this process in the session "c1" of its user at the seat.
struct Machine {
  let bus: PrivateBus
  let logind: LogindStandIn
  let polkit: PolkitStandIn
  let sessions: LoginSessions
  /// This process.
  let caller: Caller

  static func with(
    reader: LoginSessions.ReaderPlace = .init(), _ body: (Machine) async throws -> Void
  ) async throws {
    try await PrivateBus.with { bus in
      let logind = try await LogindStandIn(on: bus)
      let polkit = try await PolkitStandIn(on: bus)
      defer {
        logind.close()
        polkit.close()
      }
      logind.add("c1", process: getpid())
      logind.setDisplay("c1")
      try await body(
        Machine(
          bus: bus, logind: logind, polkit: polkit,
          sessions: LoginSessions(reader: reader, polkit: Polkit(bus: bus.address), bus: bus.address),
          caller: try Caller.thisProcess))
    }
  }
}

extension Caller {
  static var thisProcess: Caller {
    get throws {
      let start = try #require(ProcessHandle.start(of: getpid()))
      return Caller(user: getuid(), process: .init(id: getpid(), started: start))
    }
  }
}

/// What happened, in its order.
final class Happenings: Sendable {
  private let list = Mutex<[String]>([])
  func add(_ word: String) { list.withLock { $0.append(word) } }
  var all: [String] { list.withLock { $0 } }
}

func eventually(_ condition: () throws -> Bool) async throws -> Bool {
  for _ in 0..<2_000 {
    if try condition() { return true }
    try await Task.sleep(for: .milliseconds(5))
  }
  return false
}
