internal import SDBus
package import SecretModel

/// Serves a vault to the one client at the other end of a socket.
package final class VaultBusServer: Sendable {
  private let connection: BusConnection

  /// Serves over a connected socket until the connection ends, whichever side ends it. Takes ownership of the socket,
  /// also if this throws.
  ///
  /// - Parameters:
  ///   - connection: what is served. It is closed when the connection ends, and with it its contexts and the stores that
  ///     were made and not kept.
  ///   - greetingLimit: how long the client's hello is waited for before the connection is closed.
  ///   - settlingLimit: how long, after the end of the connection, the vault and the running calls are waited for.
  ///   - onClosed: called once, when the connection has ended, `connection` is closed and all calls have ended, or when
  ///     that takes too long.
  /// - Throws: `serviceUnavailable`.
  package init(
    socket: Int32, connection vault: any VaultConnection, greetingLimit: Duration = .seconds(5),
    settlingLimit: Duration = .seconds(10), onClosed: @escaping @Sendable () -> Void
  ) throws(VaultError) {
    let object = VaultObject(
      serving: vault, budget: CallBudget(limit: VaultBusListener.Limits().callBytesOfOneUser),
      settlingLimit: settlingLimit, onClosed: onClosed)
    do throws(BusError) {
      connection = try BusConnection(
        socket: socket, role: .server, limits: .ofServedVaults,
        handlers: .init(call: { object.handle($0) }, closed: { object.connectionEnded() }))
    } catch {
      throw .serviceUnavailable("no connection to the client")
    }
    object.expectGreeting(within: greetingLimit, on: connection)
  }

  /// Ends the connection. `onClosed` is called when everything is settled.
  package func close() { connection.close() }
}

extension BusConnection.Limits {
  /// Those of a connection on which a vault is served.
  static var ofServedVaults: Self {
    var limits = Self()
    // Larger than `VaultObject.limit`, so that a client with too many calls gets answers.
    limits.openCalls = 1_024
    // Room for the largest answer beside others.
    limits.unreadBytes = 2 * VaultInterface.answerLimit
    return limits
  }
}
