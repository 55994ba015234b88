internal import Primitives
package import SDBus
package import SecretModel
internal import Synchronization

/// Serves vaults to all clients that connect to a listening socket.
package final class VaultBusListener: Sendable {
  private let listener: BusListener
  private let clients: Clients

  /// - Parameters:
  ///   - socket: a listening socket, unless connections are passed over it. It stays open until the last connection has
  ///     ended.
  ///   - passing: where another process passes connections over the socket.
  ///   - logins: makes the object for root's PAM module on the same connection; nil: its calls fail as unknown.
  ///   - serve: returns the vaults for a caller. They are closed with the caller's connection. Called on the bus loop,
  ///     so it must not block.
  /// - Throws: `serviceUnavailable`.
  package init(
    socket: Int32, limits: ServingLimits = ServingLimits(), passing: SocketIntake.Passing? = nil,
    logins: (@Sendable (Caller) -> LoginObject)? = nil,
    serve: @escaping @Sendable (Caller) -> any VaultConnection
  ) throws(VaultError) {
    let clients = Clients(limits)
    self.clients = clients
    var listening = BusListener.Limits()
    listening.connections = limits.connections
    // Accept a few connections over the limit, to answer them with an error. Further ones are closed.
    listening.connectionsOfOneUser = limits.connectionsOfOneUser + Clients.refusedLimit
    listening.waitingOfOneUser = limits.waitingOfOneUser
    listening.waitingTime = limits.waitingTime
    do throws(BusError) {
      listener = try BusListener(
        socket: BusDescriptor(taking: socket), limits: listening, connectionLimits: .ofServedVaults,
        passing: passing, isFull: { clients.hasAll(of: $0) }
      ) { peer in
        guard let caller = Caller(peer) else { return nil }
        return clients.handlers(for: caller, serve, logins?(caller))
      }
    } catch {
      throw .serviceUnavailable("the socket cannot be listened on")
    }
    clients.listener.withLock { [listener] in $0.listener = listener }
  }

  /// Tells the process that passes connections that none is in use, if that is so.
  package func sayIfUnused() { listener.sayIfUnused() }

  /// Ends every connection. Returns when their vaults are closed and their calls have ended.
  package func close() async {
    listener.close()
    await clients.settled()
  }
}

/// The served connections, counted by user.
private final class Clients: Sendable {
  /// How many connections over the limit a user may have at a time. Their calls are all refused.
  static let refusedLimit = 8
  /// How long a refused client has for its first call.
  private static let refusalTime = Duration.seconds(2)

  private struct User {
    var connections = 0
    /// The processes that have a connection: their names, and how many.
    var processes: [Caller.ProcessInstance: (label: String?, connections: Int)] = [:]
    let budgets: UserBudgets

    /// Why one more connection is refused; nil where it is not.
    func refusal(of caller: Caller, _ limits: ServingLimits) -> String? {
      if let process = caller.process, let own = processes[process]?.connections, own >= limits.connectionsOfOneProcess
      {
        return "\(own) connections of this process are open"
      }
      guard connections >= limits.connectionsOfOneUser else { return nil }
      let most = processes.values.max { $0.connections < $1.connections }
      let holder = most.map { "; \($0.label ?? "a program without a name") has \($0.connections) of them" } ?? ""
      return "\(connections) connections of this user are open\(holder)"
    }

    mutating func begin(_ caller: Caller) {
      connections += 1
      if let process = caller.process {
        processes[process, default: (caller.label, 0)].connections += 1
      }
    }

    mutating func end(_ caller: Caller) {
      connections -= 1
      guard let process = caller.process else { return }
      processes[process]?.connections -= 1
      if processes[process]?.connections == 0 { processes[process] = nil }
    }
  }

  private struct State {
    /// The users who have a connection.
    var users: [UInt32: User] = [:]
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  /// Told when a connection has ended. Weak, because it owns this object.
  struct Listener: Sendable { weak var listener: BusListener? }

  let listener = Mutex(Listener())
  private let limits: ServingLimits
  private let state = Mutex(State())

  init(_ limits: ServingLimits) { self.limits = limits }

  /// Whether the user has all of the connections that it may have.
  func hasAll(of user: UInt32) -> Bool {
    state.withLock { ($0.users[user]?.connections ?? 0) >= limits.connectionsOfOneUser }
  }

  func handlers(
    for caller: Caller, _ serve: (Caller) -> any VaultConnection, _ login: LoginObject?
  ) -> BusHandlers {
    let (budgets, why) = state.withLock { state -> (UserBudgets, String?) in
      var user = state.users[caller.user] ?? User(budgets: UserBudgets(limits))
      if let why = user.refusal(of: caller, limits) { return (user.budgets, why) }
      user.begin(caller)
      state.users[caller.user] = user
      return (user.budgets, nil)
    }
    if let why { return refusal(why) }
    let object = VaultObject(serving: serve(caller), budgets: budgets, greetingLimit: limits.greeting) {
      self.end(caller)
    }
    return .init(
      opened: { object.expectGreeting(on: $0) },
      call: { call in
        if let login, call.interface == LoginInterface.target.interface {
          // The PAM module sends no hello, and a login may wait for a finger.
          if login.mayServe(call) { object.expectNoGreeting() }
          login.handle(call)
        } else {
          object.handle(call)
        }
      },
      closed: {
        object.connectionEnded()
        login?.connectionEnded()
      })
  }

  /// Answers every call with `busy`. Ends the connection soon after the first call, or if none comes.
  private func refusal(_ why: String) -> BusHandlers {
    let greeting = limits.greeting
    return .init(
      opened: { connection in _ = LoopTimer(after: greeting) { connection.close() } },
      call: { call in
        call.fail(VaultError.busy(why))
        let connection = call.connection
        _ = LoopTimer(after: Self.refusalTime) { connection.close() }
      })
  }

  private func end(_ caller: Caller) {
    let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      state.users[caller.user]?.end(caller)
      if state.users[caller.user]?.connections == 0 { state.users[caller.user] = nil }
      guard state.users.isEmpty else { return [] }
      defer { state.waiting = [] }
      return state.waiting
    }
    for each in waiting { each.resume() }
    listener.withLock { $0.listener }?.placeIsFree()
  }

  /// Returns when no connection is served.
  func settled() async {
    await withCheckedContinuation { continuation in
      let isSettled = state.withLock { state in
        guard !state.users.isEmpty else { return true }
        state.waiting.append(continuation)
        return false
      }
      if isSettled { continuation.resume() }
    }
  }
}
