package import Fingerprint
internal import PrivateVault
package import SecretModel
public import SecureMemory
package import SystemVault

/// Connects a program to the vault that holds its store.
package enum VaultConnector {
  /// Connects to the service for a store there. For a store in a folder, starts a private vault, which ends with the
  /// connection.
  ///
  /// - Throws: `serviceUnavailable` where the vault cannot be started or reached.
  package static func connect(
    to place: StorePlace, _ configuration: Configuration, service: InstalledService = .ofThisMachine
  ) async throws(VaultError) -> any VaultConnection {
    switch place {
    case .own: try service.connect()
    case .folder: try PrivateVault.connect(program: configuration.vaultProgram)
    }
  }

  /// Starts a private vault for calls that need no store, wherever the store is.
  ///
  /// - Throws: `serviceUnavailable` where it cannot be started.
  package static func connectPrivately(_ configuration: Configuration) throws(VaultError) -> any VaultConnection {
    try PrivateVault.connect(program: configuration.vaultProgram)
  }

  /// Starts a private vault before the configuration is read, for a program that will need one. Nil where the
  /// configuration or the service may decide otherwise, or the vault cannot be started; ``connect(to:_:service:)`` then
  /// connects.
  ///
  /// - Parameter namesFolder: whether the program names the store's folder itself.
  package static func connectEarly(
    namesFolder: Bool, service: InstalledService = .ofThisMachine
  ) -> (any VaultConnection)? {
    guard namesFolder || (try? service.isInstalled) == false else { return nil }
    return PrivateVault.connectWithExecutable()
  }
}

extension StorePlace {
  /// The store in the directory that a program names. Without one: in the service if that is installed, whatever the
  /// configuration and the environment say, else in the configured directory or `$XDG_DATA_HOME/whorl`.
  ///
  /// - Throws: `configuration` where there is no home directory, or a reader is named for a store in the service;
  ///   `serviceUnavailable` where it cannot be determined whether the service is installed.
  package init(
    directory: String?, reader: ReaderSelection?, _ configuration: Configuration,
    service: InstalledService = .ofThisMachine
  ) throws(VaultError) {
    if directory == nil, try service.isInstalled {
      guard reader == nil else {
        throw .configuration("the system service has a reader of its own: name one with a directory alone")
      }
      self = .own
      return
    }
    self = try .privateStore(directory: directory, reader: reader, configuration)
  }

  /// The store in the directory that a program names, else in the configured directory or `$XDG_DATA_HOME/whorl`, even
  /// if the service is installed.
  ///
  /// - Throws: `configuration` where there is no home directory.
  package static func privateStore(
    directory: String?, reader: ReaderSelection? = nil, _ configuration: Configuration
  ) throws(VaultError) -> StorePlace {
    guard let directory = directory ?? configuration.store ?? BaseDirectories.data.map({ "\($0)/whorl" }) else {
      throw .configuration("there is no home directory whose name is text")
    }
    return StorePlace(
      directory: FullPath.of(directory), reader: reader ?? configuration.reader ?? .automatic,
      readerProgram: configuration.readerProgram, fprintd: configuration.fprintd)
  }
}

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
