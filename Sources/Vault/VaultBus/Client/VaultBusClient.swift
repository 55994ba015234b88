internal import Glibc
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

  /// Sends the call right after the hello, without waiting for its answer: the call changes nothing, and its result is
  /// used only after the hello was answered.
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

  /// Waits until the vault has answered the hello, as every call that changes something must.
  private func greeted() async throws(VaultError) {
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

  package func create(
    _ place: StorePlace, passcode: consuming SecretBytes?, allowsGuessable: Bool
  ) async throws(VaultError) -> StoreDraft {
    let passcode = try SecretBytes.sealed(passcode)
    try await greeted()
    let values = try await wire.call(.create, [place.busValue, passcode, allowsGuessable.busValue])
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

  package func makeStore(
    at place: StorePlace, ofBackup file: Int32, recoveryKey: consuming SecretBytes
  ) async throws(VaultError) {
    let arguments = [place.busValue, try BusValue.file(file), try recoveryKey.sealed()]
    try await greeted()
    _ = try await wire.call(.makeStoreOfBackup, arguments)
  }

  package func openCopy(
    _ copy: SealedCopy, with opening: consuming SealedCopy.Opening
  ) async throws(VaultError) -> SecretBytes {
    let opening = try opening.busValues()
    try await greeted()
    return try await wire.secret(.openCopy, [copy.busValue] + opening, limit: NewItem.secretLimit)
  }

  package func lendReader() async throws(VaultError) -> ReaderSocket {
    try await greeted()
    let values = try await wire.call(.lendReader)
    return try wire.reading(.lendReader) { () throws(VaultError) in
      // The message closes its own descriptor.
      let copy = values[0].asDescriptor.map { fcntl($0.rawValue, F_DUPFD_CLOEXEC, 3) } ?? -1
      guard copy >= 0 else { throw .unreadable("the socket of a reader") }
      return ReaderSocket(taking: copy)
    }
  }

  package func walletKey(
    from password: consuming SecretBytes, salt: [UInt8]
  ) async throws(VaultError) -> SecretBytes {
    let password = try password.sealed()
    try await greeted()
    return try await wire.secret(.walletKey, [password, .bytes(salt)], limit: WalletKey.byteCount)
  }

  package func encryptFile(
    from source: Int32, to target: Int32, for recipient: EncryptedFile.Recipient
  ) async throws(VaultError) {
    let arguments = [try BusValue.file(source), try BusValue.file(target)] + (try recipient.busValues)
    try await greeted()
    _ = try await wire.call(.encryptFile, arguments)
  }

  package func fileKey(of file: Int32, with opening: EncryptedFile.Opening) async throws(VaultError) -> SecretBytes {
    let arguments = [try BusValue.file(file)] + (try opening.busValues)
    try await greeted()
    return try await wire.secret(.fileKey, arguments, limit: EncryptedFile.keyCount)
  }

  package func decryptFile(
    _ file: Int32, with key: consuming SecretBytes, to target: Int32
  ) async throws(VaultError) {
    let arguments = [try BusValue.file(file), try key.sealed(), try BusValue.file(target)]
    try await greeted()
    _ = try await wire.call(.decryptFile, arguments)
  }

  package func makeKeyPair() async throws(VaultError) -> EncryptedFile.KeyPair {
    try await greeted()
    let values = try await wire.call(.makeKeyPair)
    return try wire.reading(.makeKeyPair) { () throws(VaultError) in
      guard let bytes = values[1].asBytes, let publicKey = AgePublicKey(bytes: bytes) else {
        throw .unreadable("a public key")
      }
      let privateKey = try SecretBytes(sealed: values[0], limit: AgePublicKey.byteCount)
      return EncryptedFile.KeyPair(privateKey: SharedSecret(privateKey), publicKey: publicKey)
    }
  }

  package func close() async {
    await wire.close()
    _ = await vaultEnd?()
  }
}
