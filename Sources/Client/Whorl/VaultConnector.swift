package import Fingerprint
internal import PrivateVault
package import SecretModel

/// How a program reaches the vault that holds its store.
package enum VaultConnector {
  /// Starts a vault of the program's own. It ends with the connection.
  ///
  /// - Throws: `serviceUnavailable` where it cannot be started.
  package static func connect(_ configuration: Configuration) async throws(VaultError) -> any VaultConnection {
    try PrivateVault.connect(program: configuration.vaultProgram)
  }
}

extension StorePlace {
  /// The place that a program or the configuration names, else `$XDG_DATA_HOME/whorl`.
  ///
  /// - Throws: `configuration` where there is no home directory to put the store in.
  package init(directory: String?, reader: ReaderSelection?, _ configuration: Configuration) throws(VaultError) {
    guard let directory = directory ?? configuration.store ?? BaseDirectories.data.map({ "\($0)/whorl" }) else {
      throw .configuration("there is no home directory whose name is text")
    }
    self.init(
      directory: directory, reader: reader ?? configuration.reader ?? .automatic,
      readerProgram: configuration.readerProgram, fprintd: configuration.fprintd)
  }
}
