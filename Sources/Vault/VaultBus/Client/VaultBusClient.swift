internal import SDBus
package import SecretModel
package import SecureMemory

/// A connection to a vault in another process.
///
/// When the connection is lost, running calls that read end with `systemCancelled`, and running calls that change
/// something with `outcomeUnknown`. Later calls end with `contextInvalidated` if they name a context, else with
/// `serviceUnavailable`.
package final class VaultBusClient: VaultConnection {
  private let wire: VaultWire
  private let vaultEnd: (@Sendable () async -> String)?

  /// Connects over a connected socket, and says hello to the vault at its other end. Takes ownership of the socket, also
  /// if this throws.
  ///
  /// - Parameters:
  ///   - greetingLimit: how long the answer to the hello is waited for.
  ///   - cancelGrace: how long the answer of a cancelled call is waited for. A vault answers within a second; one that
  ///     does not is given up.
  ///   - vaultEnd: for a vault that this process has started: waits until the vault's process has ended, or ends it, and
  ///     says how it ended. Called when the connection has ended.
  /// - Throws: `serviceUnavailable`.
  package init(
    socket: Int32, greetingLimit: Duration = .seconds(10), cancelGrace: Duration = .seconds(5),
    vaultEnd: (@Sendable () async -> String)? = nil
  ) throws(VaultError) {
    wire = try VaultWire(socket: socket, cancelGrace: cancelGrace)
    wire.greet(limit: greetingLimit)
    self.vaultEnd = vaultEnd
  }

  /// The call is sent right behind the hello: it changes nothing, and its answer counts only after that of the hello.
  package func open(_ place: StorePlace) async throws(VaultError) -> any VaultService {
    do throws(VaultError) {
      _ = try await wire.call(.open, [place.busValue])
    } catch {
      try await greeted()
      throw error
    }
    try await greeted()
    return RemoteVault(wire)
  }

  /// Returns when the vault has answered the hello. Every call that changes something waits for that.
  private func greeted() async throws(VaultError) {
    do throws(VaultError) {
      try await wire.greeting.value()
    } catch {
      switch error {
      // It ended after the hello was sent, or before.
      case .systemCancelled, .serviceUnavailable:
        let how = if let vaultEnd { " (\(await vaultEnd()))" } else { "" }
        throw .serviceUnavailable("the vault ended, or did not answer, before a call was sent\(how)")
      default: throw error
      }
    }
  }

  package func create(
    _ place: StorePlace, passcode: consuming SecretBytes?
  ) async throws(VaultError) -> StoreDraft {
    let passcode = try SecretBytes.sealed(passcode)
    try await greeted()
    let values = try await wire.call(.create, [place.busValue, passcode])
    return try wire.reading(.create) { () throws(VaultError) in
      StoreDraft(
        id: try StoreDraft.ID(bus: values[0]),
        recoveryKey: try SecretBytes(sealed: values[1], limit: NewItem.secretLimit))
    }
  }

  package func keep(_ draft: StoreDraft.ID) async throws(VaultError) {
    try await greeted()
    _ = try await wire.call(.keep, [draft.busValue])
  }

  package func rebuildDeviceKey(
    at place: StorePlace, recoveryKey: consuming SecretBytes
  ) async throws(VaultError) {
    let recoveryKey = try recoveryKey.sealed()
    try await greeted()
    _ = try await wire.call(.rebuildDeviceKey, [place.busValue, recoveryKey])
  }

  package func close() async {
    await wire.close()
    _ = await vaultEnd?()
  }
}
