import SecretModel
import Synchronization
import Whorl

/// A command's only connection to the vault.
final class CommandConnection: Sendable {
  private let connection: Mutex<(any VaultConnection)?>

  /// Connects at once if the command always needs a vault, so that the vault's process starts while the arguments are
  /// parsed.
  init(for words: [String]) {
    let own = words.prefix { $0 != "--" }
    let isWanted = own.first.map(Self.certain.contains) == true && !own.contains { Self.help.contains($0) }
    let namesFolder = own.contains { $0 == "--store" || $0.hasPrefix("--store=") }
    connection = Mutex(isWanted ? VaultConnector.connectEarly(namesFolder: namesFolder) : nil)
  }

  private static let certain = ["get", "set", "run", "ls", "rm", "sync"]
  private static let help = ["--help", "-h", "--version"]

  var current: (any VaultConnection)? { connection.withLock { $0 } }

  func keep(_ made: any VaultConnection) { connection.withLock { $0 = made } }

  /// Ends the connection, and waits for the vault's end.
  func close() async {
    let made = connection.withLock { connection in
      defer { connection = nil }
      return connection
    }
    await made?.close()
  }
}
