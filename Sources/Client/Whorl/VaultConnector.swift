package import Fingerprint
internal import PrivateVault
package import SecretModel
package import SystemVault

/// How a program reaches the vault that holds its store.
package enum VaultConnector {
  /// Connects to the service for the program's own store there. For a store in a folder it starts a vault of the
  /// program's own, which ends with the connection.
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

  /// Starts a vault for a program that will need one in a folder, before its configuration is known. Nil where the
  /// configuration or the service may have to be asked, or it cannot be started; ``connect(to:_:service:)`` then does what
  /// is to be done.
  ///
  /// - Parameter namesFolder: whether the program names the folder itself, wherever it lies.
  package static func connectEarly(
    namesFolder: Bool, service: InstalledService = .ofThisMachine
  ) -> (any VaultConnection)? {
    guard namesFolder || (try? service.isInstalled) == false else { return nil }
    return PrivateVault.connectWithExecutable()
  }
}

extension StorePlace {
  /// The directory that a program names. Without one the store is in the service where that is installed, whatever the
  /// configuration and the environment say, else in the directory of the configuration or `$XDG_DATA_HOME/whorl`.
  ///
  /// - Throws: `configuration` where there is no home directory to put the store in, and where a reader is named for a
  ///   store in the service; `serviceUnavailable` where it cannot be told whether that is installed.
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
    guard let directory = directory ?? configuration.store ?? BaseDirectories.data.map({ "\($0)/whorl" }) else {
      throw .configuration("there is no home directory whose name is text")
    }
    self.init(
      directory: directory, reader: reader ?? configuration.reader ?? .automatic,
      readerProgram: configuration.readerProgram, fprintd: configuration.fprintd)
  }
}
