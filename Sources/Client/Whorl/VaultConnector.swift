package import Primitives
package import SecretModel

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
