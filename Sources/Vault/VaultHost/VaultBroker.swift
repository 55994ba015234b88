import Glibc
import Primitives
package import Processes
import SDBus

/// Starts a vault process for each user, and passes it the connections of its user, unread. What one user's programs do
/// to their process, or make it do, the processes of others do not notice.
///
/// It holds no key, opens no store and reads nothing that a client sends. A vault process that has ended is started again
/// for the next connection of its user, which waits longer if that has happened often (``RepeatedStarts``).
package actor VaultBroker {
  package nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

  /// The user id of no account (`(uid_t)-1`). All users without an account share one process, which opens no store.
  private static let nobody = UInt32.max
  /// How many vault processes there are at a time.
  private static let mostProcesses = 256
  /// How many users are looked up at a time. A lookup may wait for a directory on the network.
  private static let mostLookups = 32
  /// How many connections of one user wait for the user's process to start.
  private static let mostWaiting = 128
  /// How long a vault process may take to close its store.
  private static let endGrace = Duration.seconds(15)

  /// What is done for one user.
  private struct Served {
    enum Process {
      /// None, and none is being started.
      case none
      /// Whether the user has an account is being found out.
      case unknown
      /// It is started after a wait.
      case delayed
      case running(ChildProcess, SocketPassing)
      /// It was told that its connections have ended, and ends.
      case ending(ChildProcess)
    }

    var process = Process.none
    /// The connections that it gets when it runs.
    var waiting: [Int32] = []
    var starts = RepeatedStarts()

    var child: ChildProcess? {
      switch process {
      case .none, .unknown, .delayed: nil
      case .running(let child, _), .ending(let child): child
      }
    }
  }

  private let intake: SocketIntake
  private let program: HelperProgram
  private let arguments: @Sendable (UInt32) -> [String]
  private let environment: [String]
  private let hasAccount: @Sendable (UInt32) -> Bool
  private let afterEnd: @Sendable (UInt32) -> Void
  private let log: @Sendable (String) -> Void
  private var users: [UInt32: Served] = [:]
  private var isEnding = false

  /// Begins to serve. Its owner must call ``close()``.
  ///
  /// - Parameters:
  ///   - socket: a listening socket. It is closed with this object.
  ///   - program: what a vault process runs. Its descriptor 0 is the socket over which it gets connections.
  ///   - arguments: those of the process of this user, with the program's own name.
  ///   - environment: that of every vault process, as `NAME=value`.
  ///   - hasAccount: whether the user has an account. May block.
  ///   - afterEnd: called when a user's process has ended, before another one is started. Must not block.
  ///   - log: called with a line for the journal about each process that ends by itself.
  package init(
    socket: Int32, program: HelperProgram, arguments: @escaping @Sendable (UInt32) -> [String],
    environment: [String], hasAccount: @escaping @Sendable (UInt32) -> Bool,
    afterEnd: @escaping @Sendable (UInt32) -> Void = { _ in }, log: @escaping @Sendable (String) -> Void
  ) throws {
    intake = try SocketIntake(.listening(BusDescriptor(taking: socket)))
    self.program = program
    self.arguments = arguments
    self.environment = environment
    self.hasAccount = hasAccount
    self.afterEnd = afterEnd
    self.log = log
    BusLoop.shared.post { self.intake.begin { socket in self.assumeIsolated { $0.take(socket) } } }
  }

  /// Ends all vault processes. Returns when they have closed their stores.
  package func close() async {
    isEnding = true
    intake.end()
    var children: [UInt32: ChildProcess] = [:]
    for user in users.keys {
      closeWaiting(of: user)
      guard let child = users[user]?.child else { continue }
      endPassing(to: user)
      children[user] = child
    }
    let endings = children.mapValues { $0.end(grace: Self.endGrace) }
    for (user, ending) in endings {
      _ = await ending.value
      afterEnd(user)
    }
  }

  // MARK: Connections

  /// Takes ownership of the socket.
  private func take(_ socket: Int32) {
    guard !isEnding, let peer = try? BusPeer(of: socket) else {
      Glibc.close(socket)
      return
    }
    // Only root can speak for another user: its PAM module tells of a login.
    give(socket, to: peer.userID == 0 ? LoginSocket.user(of: socket) ?? 0 : peer.userID)
  }

  private func give(_ socket: Int32, to user: UInt32) {
    var served = users[user] ?? Served()
    if case .running(_, let passing) = served.process, served.waiting.isEmpty {
      do throws(BusError) {
        try passing.pass(socket)
        return
      } catch .disconnected {
        // It is ending, and is started again afterwards.
      } catch {
        // It does not read, or this process has passed too many that were not read yet.
        Glibc.close(socket)
        return
      }
    }
    guard served.waiting.count < Self.mostWaiting else {
      Glibc.close(socket)
      return
    }
    served.waiting.append(socket)
    users[user] = served
    if case .none = served.process { begin(user) }
  }

  private func closeWaiting(of user: UInt32) {
    for socket in users[user]?.waiting ?? [] { Glibc.close(socket) }
    users[user]?.waiting = []
  }

  // MARK: Processes

  /// Begins to start a user's process, for the connections that wait.
  private func begin(_ user: UInt32) {
    guard user != Self.nobody else { return start(user) }
    let lookups = users.values.count { if case .unknown = $0.process { true } else { false } }
    guard lookups < Self.mostLookups else {
      // Without a line in the journal: one user may have thousands of ids without an account.
      closeWaiting(of: user)
      users[user] = nil
      return
    }
    users[user]?.process = .unknown
    Task(executorPreference: BackgroundThread.shared) { [hasAccount] in
      let isKnown = await BlockingCall.run { hasAccount(user) }
      await self.found(user, isKnown)
    }
  }

  private func found(_ user: UInt32, _ hasAccount: Bool) {
    users[user]?.process = .none
    guard !isEnding else { return closeWaiting(of: user) }
    guard !hasAccount else { return start(user) }
    let sockets = users.removeValue(forKey: user)?.waiting ?? []
    for socket in sockets { give(socket, to: Self.nobody) }
  }

  private func start(_ user: UInt32) {
    guard let wait = users[user]?.starts.note(at: SystemClock.sinceBoot.nanoseconds) else { return }
    guard wait > .zero else { return launch(user) }
    log("the vault of user \(user) has ended by itself several times, and is started in \(wait.components.seconds) s")
    users[user]?.process = .delayed
    _ = LoopTimer(after: wait) { self.assumeIsolated { $0.launch(user) } }
  }

  private func launch(_ user: UInt32) {
    users[user]?.process = .none
    guard !isEnding else { return closeWaiting(of: user) }
    guard users.values.count(where: { $0.child != nil }) < Self.mostProcesses else {
      return refuse(user, "\(Self.mostProcesses) others run")
    }
    let child: ChildProcess
    let passing: SocketPassing
    do {
      let pair = try SocketPassing.begin { self.assumeIsolated { $0.isUnused(user) } }
      passing = pair.own
      do throws(ChildStartError) {
        child = try ChildProcess(
          program, arguments: arguments(user), environment: environment, standardInput: pair.other.rawValue,
          showsDiagnostics: true)
      } catch {
        passing.end()
        return refuse(user, error.words)
      }
    } catch {
      return refuse(user, "\(error)")
    }
    users[user]?.process = .running(child, passing)
    child.onEnd { how in self.assumeIsolated { $0.ended(user, child, how) } }
    let sockets = users[user]?.waiting ?? []
    users[user]?.waiting = []
    for socket in sockets { give(socket, to: user) }
  }

  private func refuse(_ user: UInt32, _ why: String) {
    log("no vault is started for user \(user): \(why)")
    closeWaiting(of: user)
  }

  /// The process says that none of the connections that it got is open, and no store.
  private func isUnused(_ user: UInt32) {
    if users[user]?.waiting.isEmpty == true { endPassing(to: user) }
  }

  /// The process closes its store and ends when the other end of its socket is closed. Connections that it has not taken
  /// are closed.
  private func endPassing(to user: UInt32) {
    guard case .running(let child, let passing) = users[user]?.process else { return }
    passing.end()
    users[user]?.process = .ending(child)
  }

  private func ended(_ user: UInt32, _ child: ChildProcess, _ how: String) {
    if case .running(_, let passing) = users[user]?.process {
      // It has read nothing from these, and the next process serves them.
      users[user]?.waiting.insert(contentsOf: passing.takeBack(), at: 0)
      passing.end()
    }
    users[user]?.process = .none
    afterEnd(user)
    if child.hasSucceeded {
      users[user]?.starts = RepeatedStarts()
    } else if !isEnding {
      log("the vault of user \(user) has ended: \(how). Its store is closed until it is unlocked; others go on")
    }
    guard !isEnding, let served = users[user] else { return }
    if !served.waiting.isEmpty {
      begin(user)
    } else if child.hasSucceeded {
      users[user] = nil
    }
  }
}

/// The name that root's PAM module gives its end of a connection (`unix(7)`, abstract names), which says of whom it tells:
/// `whorl-login/`, the user id, `/` and a random word. The kernel reports it before anything was sent.
enum LoginSocket {
  static let prefix = "whorl-login/"

  /// Nil for a connection without such a name.
  static func user(of socket: Int32) -> UInt32? {
    var address = sockaddr_un()
    let size = MemoryLayout<sockaddr_un>.size
    var length = socklen_t(size)
    let result = withUnsafeMutablePointer(to: &address) { address in
      // getpeername: writes at most as many bytes as it is told
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(socket, $0, &length) }
    }
    let start = size - MemoryLayout.size(ofValue: address.sun_path)
    guard result == 0, Int(length) > start, Int(length) <= size else { return nil }
    let name = withUnsafeBytes(of: address.sun_path) { Array($0.prefix(Int(length) - start)) }
    guard name.first == 0, let text = String(validating: name.dropFirst(), as: UTF8.self), text.hasPrefix(prefix)
    else { return nil }
    return text.dropFirst(prefix.count).split(separator: "/", omittingEmptySubsequences: false).first
      .flatMap { UInt32($0) }
  }
}
