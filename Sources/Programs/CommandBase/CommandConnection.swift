internal import SecretModel
import Synchronization
internal import Whorl

/// A command's only connection to the vault, and what ends with it.
package final class CommandConnection: Sendable {
  private struct Open {
    var connection: (any VaultConnection)?
    var store: SecretStore?
    var contexts: [AuthenticationContext] = []
  }

  private let open: Mutex<Open>

  /// Connects at once if the command always needs a vault, so that the vault's process starts while the arguments are
  /// parsed.
  package init(for words: [String]) {
    let own = words.prefix { $0 != "--" }
    let isWanted = own.first.map(Self.certain.contains) == true && !own.contains { Self.help.contains($0) }
    let namesFolder = own.contains { $0 == "--store" || $0.hasPrefix("--store=") }
    open = Mutex(Open(connection: isWanted ? VaultConnector.connectEarly(namesFolder: namesFolder) : nil))
  }

  private static let certain = ["get", "set", "run", "inject", "code", "ls", "rm", "sync"]
  private static let help = ["--help", "-h", "--version"]

  var current: (any VaultConnection)? { open.withLock { $0.connection } }
  /// The store, if it is open.
  var store: SecretStore? { open.withLock { $0.store } }

  func keep(_ made: any VaultConnection) { open.withLock { $0.connection = made } }

  func keep(_ store: SecretStore) { open.withLock { $0.store = store } }

  /// Keeps a context until the connection ends.
  func hold(_ context: AuthenticationContext) { open.withLock { $0.contexts.append(context) } }

  /// Ends the connection, and waits for the vault's end.
  package func close() async {
    let ended = open.withLock { open in
      defer { open = Open() }
      return open
    }
    await ended.connection?.close()
  }
}
