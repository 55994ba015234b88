internal import SDBus
import Synchronization

/// Replaces the program of Whorl's window on a private bus, and records the actions that others ask it for.
package final class WindowStandIn: Sendable {
  package struct Action: Sendable, Hashable {
    package var name: String
    /// Lets the window take the keyboard.
    package var token: String?

    package init(name: String, token: String?) { (self.name, self.token) = (name, token) }
  }

  private final class Log: Sendable {
    let actions = Mutex<[Action]>([])
  }

  private let log: Log
  private let connection: BusConnection

  package init(on bus: PrivateBus) async throws {
    let log = Log()
    self.log = log
    connection = try BusConnection(
      busAddress: bus.address,
      handlers: .init(call: { call in
        guard call.path == "/org/whorl/Whorl", call.interface == "org.freedesktop.Application",
          call.member == "ActivateAction", let name = call.arguments.first?.asString
        else { return call.fail("org.freedesktop.DBus.Error.UnknownMethod", "unexpected") }
        let token = call.arguments[2].asDictionary?["activation-token"]?.asString
        log.actions.withLock { $0.append(Action(name: name, token: token)) }
        call.answer()
      }))
    let answer = try await connection.call(
      MessageBus.target, "RequestName", [.string("org.whorl.Whorl"), .uint32(0)])
    guard answer.first?.asUInt32 == 1 else { throw SystemFailure("the name is taken", 0) }
  }

  package func close() { connection.close() }

  package var actions: [Action] { log.actions.withLock { $0 } }
}
