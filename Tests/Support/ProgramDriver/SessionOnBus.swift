internal import Glibc

extension PrivateBus {
  /// Runs the body with a bus with logind and polkit, and this process in its user's session "c1" at the seat.
  package static func withSession(
    _ body: (PrivateBus, LogindStandIn, PolkitStandIn) async throws -> Void
  ) async throws {
    try await with { bus in
      let logind = try await LogindStandIn(on: bus)
      let polkit = try await PolkitStandIn(on: bus)
      defer {
        logind.close()
        polkit.close()
      }
      logind.add("c1", process: getpid())
      logind.setDisplay("c1")
      try await body(bus, logind, polkit)
    }
  }
}
