import Glibc
import Primitives
import SecretModel
import Synchronization
import VaultBus
import VaultDriver
import VaultHost
import Whorl

/// A store whose vault is at the other end of a socket, like `whorld`, and can be ended by a test.
final class EndingVault: Sendable {
  let scratch: ScratchStore
  let path: String
  private let servers = Mutex<[VaultBusServer]>([])

  /// - Parameter takesPasscode: whether the passcode is as well protected as a real one, so that it can be given.
  init(takesPasscode: Bool = false) async throws {
    scratch = try await ScratchStore(passcode: ScratchStore.passcode)
    path = takesPasscode ? "\(scratch.folder)/real" : scratch.path
    guard takesPasscode else { return }
    let connection = LocalVaultConnection()
    let draft = try await connection.create(
      StorePlace(directory: path), passcode: SecretBytes(text: ScratchStore.passcode), allowsGuessable: true)
    try await connection.keep(draft.id)
    await connection.close()
  }

  /// How often a vault was connected to.
  var connections: Int { servers.withLock { $0.count } }

  func store(prompt: any AuthenticationPrompt = TerminalPrompt()) -> SecretStore {
    SecretStore(
      StoreLink(to: StorePlace(directory: path)) { () async throws(VaultError) in try self.connect() }, prompt)
  }

  private func connect() throws(VaultError) -> any VaultConnection {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw .inputOutput("no socket")
    }
    let server = try VaultBusServer(socket: ends[1], connection: LocalVaultConnection(), onClosed: {})
    servers.withLock { $0.append(server) }
    return try VaultBusClient(socket: ends[0])
  }

  /// Ends every vault, as when its process is killed.
  func end() {
    for server in servers.withLock({ $0 }) { server.close() }
  }
}

/// Runs an action when a secret is wanted, and answers nothing.
struct ActingPrompt: AuthenticationPrompt {
  let act: @Sendable () -> Void

  func handle(_ event: AuthenticationEvent, in session: PromptSession) async {
    if case .secretWanted = event { act() }
  }
}
