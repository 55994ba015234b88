import Glibc
import Processes
import ProgramDriver
import SecretModel
import Synchronization
import Testing
import VaultHost

/// A test's machine: a bus with logind and polkit, and this process in its user's session "c1" at the seat.
struct Machine {
  let bus: PrivateBus
  let logind: LogindStandIn
  let polkit: PolkitStandIn
  let sessions: LoginSessions
  /// This process.
  let caller: Caller

  static func with(_ body: (Machine) async throws -> Void) async throws {
    try await PrivateBus.withSession { bus, logind, polkit in
      try await body(
        Machine(
          bus: bus, logind: logind, polkit: polkit,
          sessions: LoginSessions(polkit: Polkit(bus: bus.address), bus: bus.address),
          caller: try Caller.thisProcess))
    }
  }
}

extension Machine {
  /// Why no finger may be asked for on behalf of a program; by default this process.
  func refusal(for caller: Caller? = nil, at place: ReaderPlace = .inReach) async -> SessionRefusal? {
    await sessions.refusal(for: caller ?? self.caller, at: place)
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

/// Events, in order.
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
