internal import Executors
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
  /// The answer to `Hello`, which every call waits for.
  private let greeting: Task<Result<Void, VaultError>, Never>
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
    let wire = try VaultWire(socket: socket, cancelGrace: cancelGrace)
    self.wire = wire
    self.vaultEnd = vaultEnd
    greeting = Task(executorPreference: BackgroundThread.shared) {
      let limit = Task(executorPreference: BackgroundThread.shared) {
        guard (try? await Task.sleep(for: greetingLimit)) != nil else { return }
        await wire.close()
      }
      defer { limit.cancel() }
      do throws(VaultError) {
        _ = try await wire.call(
          .hello, [.uint32(VaultInterface.minor), .words(VaultInterface.features)])
        return .success(())
      } catch {
        switch error {
        // It ended after the hello was sent, or before.
        case .systemCancelled, .serviceUnavailable:
          let how = if let vaultEnd { " (\(await vaultEnd()))" } else { "" }
          return .failure(.serviceUnavailable("the vault ended, or did not answer, before a call was sent\(how)"))
        default: return .failure(error)
        }
      }
    }
  }

  package func open(_ place: StorePlace) async throws(VaultError) -> any VaultService {
    try await greeting.value.get()
    _ = try await wire.call(.open, [place.busValue])
    return RemoteVault(wire)
  }

  package func create(
    _ place: StorePlace, passcode: consuming SecretBytes?
  ) async throws(VaultError) -> StoreDraft {
    let passcode = try SecretBytes.sealed(passcode)
    try await greeting.value.get()
    let values = try await wire.call(.create, [place.busValue, passcode])
    return try wire.reading(.create) { () throws(VaultError) in
      StoreDraft(
        id: try StoreDraft.ID(bus: values[0]),
        recoveryKey: try SecretBytes(sealed: values[1], limit: NewItem.secretLimit))
    }
  }

  package func keep(_ draft: StoreDraft.ID) async throws(VaultError) {
    try await greeting.value.get()
    _ = try await wire.call(.keep, [draft.busValue])
  }

  package func rebuildDeviceKey(
    at place: StorePlace, recoveryKey: consuming SecretBytes
  ) async throws(VaultError) {
    let recoveryKey = try recoveryKey.sealed()
    try await greeting.value.get()
    _ = try await wire.call(.rebuildDeviceKey, [place.busValue, recoveryKey])
  }

  package func close() async {
    await wire.close()
    _ = await vaultEnd?()
  }
}
