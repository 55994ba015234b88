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
  ///   - allowsGuessable: whether to take a passcode that a day of guesses finds, because the person insists. Where the
  ///     keys of the store are not in a TPM, whoever has a copy of the store can try passcodes on it, without being counted.
  ///   - configuration: the path of the configuration; nil: the usual one.
  ///   - show: called with the text of the recovery key, which is shown once and kept nowhere. The store is created
  ///     when this returns. If it throws, no store is created: there is never one whose recovery key nobody has seen.
  /// - Throws: `storeExists`, `invalidPasscode`, `guessablePasscode`, `serviceUnavailable`, other errors of creating a store, and what
  ///   `show` throws.
  public static func create(
    at directory: String? = nil, passcode: consuming SecretBytes?, allowsGuessable: Bool = false,
    configuration: String? = nil, showing show: (borrowing SecretBytes) async throws -> Void
  ) async throws -> SecretStore {
    let configuration = try Configuration.settled(configuration)
    let place = try StorePlace(directory: directory, reader: nil, configuration)
    try await create(
      at: place, passcode: passcode, allowsGuessable: allowsGuessable, configuration, showing: show)
    return SecretStore(place, configuration)
  }

  /// Makes a new store at a place; see ``create(at:passcode:allowsGuessable:configuration:showing:)``.
  package static func create(
    at place: StorePlace, passcode: consuming SecretBytes?, allowsGuessable: Bool, _ configuration: Configuration,
    showing show: (borrowing SecretBytes) async throws -> Void
  ) async throws {
    let connection = try await VaultConnector.connect(to: place, configuration)
    do {
      let draft = try await connection.create(place, passcode: passcode, allowsGuessable: allowsGuessable)
      try await show(draft.recoveryKey)
      try await connection.keep(draft.id)
    } catch {
      await connection.close()
      throw error
    }
    await connection.close()
  }
}
