internal import SDBus

/// Replaces the user's service manager (`org.freedesktop.systemd1`) on a private bus, and its environment.
package struct ServiceManagerStandIn: Sendable {
  private let connection: BusConnection

  /// - Parameter environment: as `NAME=value`.
  package init(on bus: PrivateBus, _ environment: [String]) async throws {
    let values = BusValue.array(of: "s", environment.map { .string($0) })
    connection = try BusConnection(
      busAddress: bus.address,
      handlers: .init(call: { call in
        guard call.member == "Get",
          call.arguments == [.string("org.freedesktop.systemd1.Manager"), .string("Environment")]
        else { return call.fail("org.freedesktop.DBus.Error.UnknownMethod", "unexpected") }
        call.answer([.variant(values)])
      }))
    let answer = try await connection.call(
      MessageBus.target, "RequestName", [.string("org.freedesktop.systemd1"), .uint32(0)])
    guard answer.first?.asUInt32 == 1 else { throw SystemFailure("the name is taken", 0) }
  }

  package func close() { connection.close() }
}
