package import SecretModel

/// A connection to a vault in another process.
///
/// When the connection is lost, running calls that read end with `systemCancelled`, and running calls that change
/// something with `outcomeUnknown`. Later calls end with `contextInvalidated` if they name a context, else with
/// `serviceUnavailable`.
///
/// Its calls, and those of a store that is open, are in the files of the folder `Calls`.
package final class VaultBusClient: VaultConnection {
  let wire: VaultWire
  private let vaultEnd: (@Sendable () async -> String)?

  /// Connects over a connected socket, and says hello to the vault at its other end. Takes ownership of the socket, also
  /// if this throws.
  ///
  /// - Parameters:
  ///   - greetingLimit: how long to wait for the answer to the hello. A slow machine may have to load the vault's program
  ///     from its disk first.
  ///   - cancelGrace: how long to wait for the answer of a cancelled call. A vault answers within a second; the
  ///     connection to one that does not is closed.
  ///   - vaultEnd: for a vault that this process has started: waits until the vault's process has ended, or ends it,
  ///     and returns how it ended. Called when the connection has ended.
  /// - Throws: `serviceUnavailable`.
  package init(
    socket: Int32, greetingLimit: Duration = .seconds(30), cancelGrace: Duration = .seconds(5),
    vaultEnd: (@Sendable () async -> String)? = nil
  ) throws(VaultError) {
    wire = try VaultWire(socket: socket, cancelGrace: cancelGrace)
    wire.greet(limit: greetingLimit)
    self.vaultEnd = vaultEnd
  }

  /// Waits until the vault has answered the hello, as every call that changes something must.
  func greeted() async throws(VaultError) {
    do throws(VaultError) {
      try await wire.greeting.value()
    } catch {
      switch error {
      // The vault ended before it answered the hello.
      case .systemCancelled, .serviceUnavailable:
        let how = if let vaultEnd { " (\(await vaultEnd()))" } else { "" }
        throw .serviceUnavailable("the vault ended, or did not answer, before a call was sent\(how)")
      default: throw error
      }
    }
  }

  package func close() async {
    await wire.close()
    _ = await vaultEnd?()
  }
}

/// An open store of a vault in another process.
final class RemoteVault: VaultService {
  let wire: VaultWire

  init(_ wire: VaultWire) { self.wire = wire }
}
