// SSHAgent: the keys of the store for ssh, in the protocol of its agent. Begin with `AgentServer`, which has an
// `AgentConversation` with each client. A conversation reads `AgentMessages`, finds out what a signature is for
// (`SignaturePurpose`, from the data and from what ssh knows of the host) and has the `Signer` make it after a touch.

internal import CLinux
internal import Glibc
internal import Primitives
internal import SecretModel
internal import SessionPrompts
internal import Synchronization
internal import Whorl

/// Serves the clients of a listening socket.
package final class AgentServer: Sendable {
  /// An idle client costs a descriptor, and one to the other agent. One that loses its place between the list of keys and
  /// the signature cannot sign in, so the limits are far above what programs use: `ansible` and `parallel` start 50 `ssh` at
  /// a time, and an `ssh` that forwards the agent opens a connection for each program on the remote host.
  private static let limits = ClientPlaces<Int>.Limits(process: 512, program: 768, all: 1_024)
  /// The descriptors of this process for that: one for each client and its connection to the other agent, and some for the
  /// vault, the bus and prompts.
  package static let descriptors = 2 * limits.all + 256

  private let configuration: AgentConfiguration
  private let signer: Signer
  private let store: AgentStore
  private struct Clients {
    var places = ClientPlaces<Int>(AgentServer.limits)
    var sockets: [Int: AgentSocket] = [:]
    var lastNumber = 0
  }

  private let clients = Mutex(Clients())

  package init(_ configuration: AgentConfiguration) {
    self.configuration = configuration
    store = AgentStore(unusedTime: configuration.unusedStoreTime, configuration.openStore)
    signer = Signer(
      turns: PromptTurns(onBus: configuration.bus), grants: KeptTouches(), lock: AgentLock(),
      prompt: configuration.prompt,
      log: configuration.log, hosts: configuration.knownHosts)
  }

  /// Accepts clients on a thread of its own for as long as the process runs.
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
    // This process is configured as its own other agent, so forwarding would never end.
    guard peer.process != getpid() else { return }
    guard let number = admitted(socket, of: peer) else { return }
    let (signer, store, configuration) = (signer, store, configuration)
    Task.detached(executorPreference: BackgroundThread()) {
      await AgentConversation(socket, with: peer, signer, store, configuration) { isAnswering in
        self.clients.withLock { isAnswering ? $0.places.begin(number) : $0.places.end(number) }
      }.run()
      self.clients.withLock { clients in
        clients.places.leave(number)
        clients.sockets[number] = nil
      }
    }
  }

  /// Gives a client a place, possibly in exchange for another one's. Nil if it is refused.
  private func admitted(_ socket: AgentSocket, of peer: ClientProgram) -> Int? {
    let (number, answer, ended) = clients.withLock { clients in
      clients.lastNumber += 1
      let answer = clients.places.admit(clients.lastNumber, peer)
      guard case .admitted(let other) = answer else { return (nil as Int?, answer, nil as AgentSocket?) }
      clients.sockets[clients.lastNumber] = socket
      return (clients.lastNumber, answer, other.flatMap { clients.sockets.removeValue(forKey: $0) })
    }
    if case .refused(let why) = answer { configuration.log("\(peer.words) is refused: \(why)") }
    ended?.end()
    return number
  }
}
