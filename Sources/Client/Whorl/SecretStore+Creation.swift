package import SecretModel
public import SecureMemory

extension SecretStore {
  /// Makes a new store, for a program that finds none (`storeNotFound`).
  ///
  /// ```swift
  /// let store = try await SecretStore.create(passcode: passcode) { recoveryKey in show(recoveryKey) }
  /// ```
  ///
  /// - Parameters:
  ///   - directory: must not exist yet, in a folder that does; nil: where ``open(at:reader:configuration:)`` looks.
  ///   - passcode: at least four bytes; nil for a store without one, in which only the recovery key is a way back.
  ///   - configuration: the path of the configuration; nil: the usual one.
  ///   - show: called with the text of the recovery key, which is shown once and kept nowhere. The store is created
  ///     when this returns. If it throws, no store is created: there is never one whose recovery key nobody has seen.
  /// - Throws: `storeExists`, `invalidPasscode`, `serviceUnavailable`, other errors of creating a store, and what
  ///   `show` throws.
  public static func create(
    at directory: String? = nil, passcode: consuming SecretBytes?, configuration: String? = nil,
    showing show: (borrowing SecretBytes) async throws -> Void
  ) async throws -> SecretStore {
    let configuration = try Configuration.settled(configuration)
    let place = try StorePlace(directory: directory, reader: nil, configuration)
    try await create(at: place, passcode: passcode, configuration, showing: show)
    return SecretStore(place, configuration)
  }

  /// Makes a new store at a place; see ``create(at:passcode:configuration:showing:)``.
  package static func create(
    at place: StorePlace, passcode: consuming SecretBytes?, _ configuration: Configuration,
    showing show: (borrowing SecretBytes) async throws -> Void
  ) async throws {
    let connection = try await VaultConnector.connect(to: place, configuration)
    do {
      let draft = try await connection.create(place, passcode: passcode)
      try await show(draft.recoveryKey)
      try await connection.keep(draft.id)
    } catch {
      await connection.close()
      throw error
    }
    await connection.close()
  }
}
