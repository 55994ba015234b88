internal import CLinux
internal import Executors
internal import Glibc
internal import SecretModel
package import SessionPrompts
internal import Synchronization
package import Whorl

/// Serves the clients of a listening socket, each on a thread of its own.
package final class AgentServer: Sendable {
  package struct Configuration: Sendable {
    /// The address of the session's bus.
    package var bus: String
    /// Opens the store. Called separately for each client.
    package var openStore: @Sendable () throws(VaultError) -> SecretStore
    /// Makes the prompt of a signature for a client.
    package var prompt: @Sendable (ClientProgram) -> any AuthenticationPrompt
    /// Writes a line for people.
    package var log: @Sendable (String) -> Void
    package var knownHosts: KnownHosts
    /// The socket of another SSH agent, which has the keys that are not in the vault; nil where there is none.
    package var upstream: String?
    /// How long a store stays open for a client that sends no requests.
    package var unusedStoreTime = Duration.seconds(60)

    package init(
      bus: String, openStore: @escaping @Sendable () throws(VaultError) -> SecretStore,
      prompt: @escaping @Sendable (ClientProgram) -> any AuthenticationPrompt,
      log: @escaping @Sendable (String) -> Void,
      knownHosts: KnownHosts, upstream: String?
    ) {
      (self.bus, self.openStore, self.prompt, self.log) = (bus, openStore, prompt, log)
      (self.knownHosts, self.upstream) = (knownHosts, upstream)
    }
  }

  /// The most clients at a time. Each has a thread and a connection to the vault.
  private static let limit = 64
  /// The most connections of one process. An `ssh` that forwards the agent opens one for each program on the remote
  /// host.
  private static let limitOfProcess = 16

  private let configuration: Configuration
  private let signer: Signer
  /// The number of connections of each process.
  private let clients = Mutex<[pid_t: Int]>([:])

  package init(_ configuration: Configuration) {
    self.configuration = configuration
    signer = Signer(
      turns: PromptTurns(onBus: configuration.bus), grants: Grants(), lock: AgentLock(), prompt: configuration.prompt,
      log: configuration.log, hosts: configuration.knownHosts)
  }

  /// Begins to accept clients, on a thread of its own, for as long as the process runs.
  ///
  /// - Parameter listener: a listening Unix socket, which stays open.
  package func begin(_ listener: Int32) {
    Task.detached(executorPreference: BackgroundThread()) { self.serve(listener) }
  }

  private func serve(_ listener: Int32) {
    while true {
      let socket = accept(listener, nil, nil)
      guard socket >= 0 else {
        // For example too many open files. The next client then waits until another one has disconnected.
        if errno != EINTR, errno != ECONNABORTED { usleep(100_000) }
        continue
      }
      _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
      converse(over: AgentSocket(taking: socket))
    }
  }

  private func converse(over socket: AgentSocket) {
    guard whorl_socket_peer_user(socket.descriptor) == geteuid() else {
      return configuration.log("a program of another user is refused")
    }
    let peer = ClientProgram(whorl_socket_peer(socket.descriptor))
    // This process is its own other agent: forwarding to itself would never end.
    guard peer.process != getpid() else { return }
    guard admits(peer.process) else {
      return configuration.log(
        "\(peer.words) is refused: at most \(Self.limitOfProcess) connections of a process and \(Self.limit) of all")
    }
    let (signer, configuration) = (signer, configuration)
    Task.detached(executorPreference: BackgroundThread()) {
      await AgentConversation(socket, with: peer, signer, configuration).run()
      self.leave(peer.process)
    }
  }

  private func admits(_ process: pid_t) -> Bool {
    clients.withLock { clients in
      let own = clients[process, default: 0]
      guard own < Self.limitOfProcess, clients.values.reduce(0, +) < Self.limit else { return false }
      clients[process] = own + 1
      return true
    }
  }

  private func leave(_ process: pid_t) {
    clients.withLock { clients in
      guard let own = clients[process] else { return }
      clients[process] = own > 1 ? own - 1 : nil
    }
  }
}
