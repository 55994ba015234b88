internal import Primitives
internal import Processes
package import SDBus
package import SecretModel
internal import Synchronization

/// The D-Bus interface for the PAM module, documented in `data/dbus/org.whorl.Login1.xml`. It is served on the
/// vault's socket.
package enum LoginInterface {
  package static let target = BusTarget(path: "/org/whorl/Login", interface: "org.whorl.Login1")

  package enum Method: String, CaseIterable, Sendable {
    case openSession = "OpenSession"
    case firstFactor = "FirstFactor"
    case verify = "Verify"
    case changePassword = "ChangePassword"
    case await = "Await"

    /// Whether a program of the user may call it, which unlocks the user's screen.
    var isForLockers: Bool { self == .verify || self == .await }

    /// The D-Bus signature of the arguments.
    package var arguments: String {
      switch self {
      case .openSession: "ussah"
      case .firstFactor: "u"
      case .verify: "ubsssah"
      case .changePassword: "uahah"
      case .await: ""
      }
    }
  }

  /// The D-Bus signature of each method's results.
  package static let results = "s"
  /// The answer before there is an outcome: a passcode is being tried, or a finger will be asked for.
  package static let trying = "trying"

  /// The prefix of the D-Bus names of errors.
  package static let errorPrefix = "org.whorl.Login1.Error."
  /// The most bytes of a password. Not below PAM's own limit (PAM_MAX_RESP_SIZE), and more than a passcode may have.
  package static let passwordLimit = 4_096
}

/// The D-Bus object that the PAM module calls, for one connection. It runs on the bus loop.
package actor LoginObject {
  package nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

  private let caller: Caller
  private let service: any LoginService
  private let refusals: RefusalLines
  private let log: @Sendable (String) -> Void
  private var request = Request.none
  /// The state of the connection's request. There is one at a time.
  private enum Request {
    case none, running
    case trying(Task<LoginOutcome, Never>)
    case verifying(any LoginVerification)
    /// The connection has ended.
    case closed
  }
  /// The running request for a finger, also during a wait for its next step.
  private var verification: (any LoginVerification)?

  /// - Parameters:
  ///   - caller: the client. Only user id 0 is served, and others who ask for their own finger, to unlock their screen.
  ///   - refusals: limits the lines about calls of others.
  ///   - log: called with a line for the journal about each refused call.
  package init(
    serving service: any LoginService, to caller: Caller, refusals: RefusalLines = .shared,
    log: @escaping @Sendable (String) -> Void
  ) {
    self.service = service
    self.caller = caller
    self.refusals = refusals
    self.log = log
  }

  /// Handles a call; for `BusHandlers.call`, which runs on the loop.
  package nonisolated func handle(_ call: BusCall) {
    assumeIsolated { $0.begin(call) }
  }

  /// Ends the request for a finger when the connection has ended. Call it on the loop.
  package nonisolated func connectionEnded() {
    assumeIsolated { $0.end() }
  }

  private func end() {
    request = .closed
    guard let verification else { return }
    self.verification = nil
    Task(executorPreference: LoopTasks.shared) { await verification.end() }
  }

  /// Whether the call may be served: the client is root, or unlocks its screen.
  package nonisolated func mayServe(_ call: BusCall) -> Bool {
    caller.user == 0 || LoginInterface.Method(rawValue: call.member)?.isForLockers == true
  }

  private func begin(_ call: BusCall) {
    guard mayServe(call) else { return deny(call) }
    guard call.path == LoginInterface.target.path, let method = LoginInterface.Method(rawValue: call.member) else {
      return call.fail("org.freedesktop.DBus.Error.UnknownMethod", "no such member")
    }
    guard call.signature == method.arguments else {
      return call.fail("org.freedesktop.DBus.Error.InvalidArgs", "takes \(method.arguments)")
    }
    switch method {
    case .openSession:
      run(call) { () async throws(LoginRefusal) in
        guard let user = call.arguments[0].asIdentifier(UInt32.self), let session = call.arguments[1].asString,
          let pamService = call.arguments[2].asString
        else { throw .failed(.unreadable("a session")) }
        let password = try Self.password(call.arguments[3])
        return try await self.service.openSession(session, of: user, by: pamService, password: password)
      }
    case .firstFactor:
      run(call) { () async throws(LoginRefusal) in
        guard let user = call.arguments[0].asIdentifier(UInt32.self) else { throw .failed(.unreadable("a user")) }
        return .settled(try await self.service.firstFactor(of: user))
      }
    case .verify:
      run(call) { () async throws(LoginRefusal) in
        try await self.service.verify(try self.caller(verifying: call.arguments))
      }
    case .changePassword:
      run(call) { () async throws(LoginRefusal) in
        guard let user = call.arguments[0].asIdentifier(UInt32.self) else { throw .failed(.unreadable("a user")) }
        let old = try Self.password(call.arguments[1])
        guard let new = try Self.password(call.arguments[2]) else { throw .failed(.unreadable("a new password")) }
        return try await self.service.changePassword(of: user, from: old, to: new)
      }
    case .await: awaitOutcome(call)
    }
  }

  private func deny(_ call: BusCall) {
    logRefusal()
    call.fail("org.freedesktop.DBus.Error.AccessDenied", "only root tells of logins")
  }

  private func logRefusal() {
    let line =
      "user \(caller.user), process \(caller.process?.id ?? 0), called \(LoginInterface.target.interface): refused"
    switch refusals.answer(to: caller.user) {
    case .line: log(line)
    case .lastLine: log("\(line); further calls of this user in this minute are not listed")
    case .nothing: break
    }
  }

  private func run(_ call: BusCall, _ body: @escaping () async throws(LoginRefusal) -> LoginAnswer) {
    guard case .none = request else {
      return call.fail(LoginInterface.errorPrefix + "Busy", "a request of this connection is being tried")
    }
    request = .running
    Task.immediate(executorPreference: LoopTasks.shared) {
      do throws(LoginRefusal) {
        switch try await body() {
        case .settled(let outcome): settle(call, outcome)
        case .trying(let task): tell(call, LoginInterface.trying, .trying(task))
        case .verifying(let verification):
          if case .closed = request { return await verification.end() }
          self.verification = verification
          tell(call, LoginInterface.trying, .verifying(verification))
        }
      } catch {
        become(.none)
        fail(call, error)
      }
    }
  }

  private func awaitOutcome(_ call: BusCall) {
    switch request {
    case .trying(let task): Task.immediate(executorPreference: LoopTasks.shared) { settle(call, await task.value) }
    case .verifying(let verification):
      request = .running
      Task.immediate(executorPreference: LoopTasks.shared) {
        switch await verification.next() {
        case .prompt(let prompt): tell(call, prompt.rawValue, .verifying(verification))
        case .settled(let outcome):
          self.verification = nil
          settle(call, outcome)
        }
      }
    case .none, .running, .closed:
      call.fail(LoginInterface.errorPrefix + "InvalidRequest", "nothing is being tried")
    }
  }

  private func settle(_ call: BusCall, _ outcome: LoginOutcome) { tell(call, outcome.rawValue, .none) }

  private func tell(_ call: BusCall, _ word: String, _ next: Request) {
    become(next)
    call.answer([.string(word)])
  }

  private func become(_ next: Request) {
    if case .closed = request { return }
    request = next
  }

  /// The user whose finger is wanted, and the login program as root's module describes it. Others ask for themselves alone.
  private func caller(verifying arguments: [BusValue]) throws(LoginRefusal) -> Caller {
    guard let user = arguments[0].asIdentifier(UInt32.self), let isGreeter = arguments[1].asBoolean,
      let pamService = arguments[2].asString, let seat = arguments[3].asString, let terminal = arguments[4].asString,
      let agents = try? [BusFile](bus: arguments[5]), agents.count <= 1
    else { throw .failed(.unreadable("a login program")) }
    guard caller.user == 0 else {
      // What such a program says of itself counts for nothing.
      guard user == caller.user, !isGreeter, agents.isEmpty else { throw .denied }
      var locker = caller
      locker.login = LoginProgram(isGreeter: false, isLocker: true, seat: "", terminal: "")
      return locker
    }
    let agent = agents.first.flatMap { ProcessHandle.instance(of: $0.descriptor.rawValue) }
    return Caller(
      user: user, process: caller.process, label: pamService,
      login: LoginProgram(
        isGreeter: isGreeter, seat: seat, terminal: terminal,
        agent: agent.map { Caller.ProcessInstance(id: $0.number, started: $0.started) }))
  }

  private static func password(_ value: BusValue) throws(LoginRefusal) -> SecretBytes? {
    do {
      return try SecretBytes.optional(sealed: try [BusFile](bus: value), limit: LoginInterface.passwordLimit)
    } catch {
      throw .failed(VaultError(ofReading: error))
    }
  }

  private func fail(_ call: BusCall, _ refusal: LoginRefusal) {
    switch refusal {
    case .denied: deny(call)
    case .noSuchLogin: call.fail(LoginInterface.errorPrefix + "NoSuchLogin", "no local login of this user")
    case .failed(.invalidRequest(let why)): call.fail(LoginInterface.errorPrefix + "InvalidRequest", why)
    case .failed(let error): call.fail(LoginInterface.errorPrefix + "Failed", error.busForm.name.word)
    }
  }
}

/// How many refused calls of a user get a line in the journal. Any program can make such calls at any rate, and the journal
/// leaves out all lines of a service that writes too many, also those about other users.
package final class RefusalLines: Sendable {
  /// The most lines for one user in a minute.
  package static let limit = 10
  private static let minute = Duration.seconds(60)

  /// For all connections of the process.
  package static let shared = RefusalLines()

  private struct State {
    var begin = ContinuousClock.now
    var counts: [UInt32: Int] = [:]
  }

  private let state = Mutex(State())

  package init() {}

  /// What the journal gets for one more refused call of a user.
  package enum Answer: Sendable, Hashable {
    case line
    /// The line that ends them for this minute.
    case lastLine
    case nothing
  }

  package func answer(to user: UInt32, at now: ContinuousClock.Instant = .now) -> Answer {
    state.withLock { state in
      if now - state.begin >= Self.minute { state = State(begin: now) }
      let count = state.counts[user, default: 0] + 1
      guard count <= Self.limit else { return .nothing }
      state.counts[user] = count
      return count == Self.limit ? .lastLine : .line
    }
  }
}
