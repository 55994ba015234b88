internal import Glibc
internal import Primitives
internal import SDBus
package import SecretModel
internal import Synchronization

/// The login sessions of this machine, according to logind. They decide which programs may arm the reader, and for
/// which users the items that depend on an unlocked session are open.
///
/// Answers are current, since logind signals changes. If logind cannot be asked, the answer is
/// ``SessionRefusal/unknown`` and nothing is open.
package actor LoginSessions: SessionGate {
  package nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

  /// How long to wait before asking logind again after a failure, for the streams and the sleep lock.
  private static let pause = Duration.seconds(5)
  /// The longest wait for a sleep handler. logind itself waits five seconds by default before the machine sleeps.
  private static let sleeperLimit = Duration.seconds(10)
  /// The most queries for a user's state while signals arrive, which any user can cause without end.
  private static let rounds = 4

  private let seat: String
  private let polkit: Polkit
  private let bus: String
  private let users: Set<UInt32>
  private lazy var service = SystemBusService(Logind.name, on: bus, ownedBy: users) { [weak self] event in
    self?.assumeIsolated { $0.receive(event) }
  }
  /// Counts the ends of logind. A new logind does not honour a lock that the earlier one gave.
  private var ends: UInt64 = 0
  /// Counts the signals of logind that an answer may depend on, to notice one that arrives during the query.
  private var changes: UInt64 = 0
  private var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
  private var lastNumber: UInt64 = 0
  /// logind's last signal (`isSleeping`), and the last state that the sleep handlers were told (`isToldAsleep`).
  private var isSleeping = false
  private var isToldAsleep = false
  private var isTelling = false
  /// The running queries for requests.
  private var looks: [Look: Task<SessionRefusal?, Never>] = [:]
  /// The running queries of those that wait for a change.
  private var followingLooks: [FollowingLook: Task<SessionRefusal?, Never>] = [:]
  private var followed: [UInt32: FollowedUser] = [:]
  private var sleepers: [Sleeper] = []
  private var lock: BusDescriptor?
  private var isTakingLock = false
  private var retry: LoopTimer?

  private struct Look: Hashable {
    let caller: Caller
    let place: ReaderPlace
  }

  private struct FollowingLook: Hashable {
    let caller: Caller
    /// The number of changes that the answer includes.
    let changes: UInt64
  }

  private struct FollowedUser {
    /// Nil if logind must be asked.
    var state: SessionState?
    var looking: Task<SessionState, Never>?
    /// The objects that the state was read from.
    var objects: Set<String> = []
    /// The objects that have changed since the query's last round began.
    var changed: Set<String> = []
    var streams: [UInt64: AsyncStream<SessionState>.Continuation] = [:]
  }

  /// The wait for the sleep handlers, which ends once.
  private final class Telling: Sendable {
    private let continuation: Mutex<CheckedContinuation<Void, Never>?>
    init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = Mutex(continuation) }
    func end() { continuation.withLock { $0.take() }?.resume() }
  }

  private struct Sleeper {
    let before: @Sendable () async -> Void
    let after: @Sendable () async -> Void
  }

  /// - Parameters:
  ///   - seat: the seat that the reader belongs to.
  ///   - polkit: must allow ``PolkitAction/use`` as well.
  ///   - bus: the address of the bus that logind is on; tests use another one.
  package init(seat: String = "seat0", polkit: Polkit, bus: String? = nil) {
    self.seat = seat
    self.polkit = polkit
    self.bus = bus ?? MessageBus.system
    // On a test's bus, logind's stand-in runs as the test's user.
    users = bus == nil ? [0] : [0, getuid()]
  }

  // MARK: The reader

  /// Simultaneous requests of one process share one query, so that a program with a thousand requests does not block
  /// logind and polkit. A later change ends the scan (``untilRefused(for:)``).
  package func refusal(for caller: Caller, at place: ReaderPlace) async -> SessionRefusal? {
    let look = Look(caller: caller, place: place)
    if let underWay = looks[look] { return await underWay.value }
    let task = Task(executorPreference: LoopTasks.shared) { await self.answer(look) }
    looks[look] = task
    return await task.value
  }

  private func answer(_ look: Look) async -> SessionRefusal? {
    defer { looks[look] = nil }
    return await currentRefusal(for: look.caller, at: look.place)
  }

  private func currentRefusal(for caller: Caller, at place: ReaderPlace) async -> SessionRefusal? {
    if let refusal = await sessionRefusal(for: caller, at: place) { return refusal }
    // polkit allows root's programs everything. The PAM file of a login program decides whether it may ask. A program that
    // says that it unlocks the user's screen is the user's, like any other.
    guard caller.login?.isLocker ?? true else { return nil }
    switch await polkit.authorize(.use, for: caller, asking: false) {
    case .allowed: return nil
    case .denied, .needsPassword, .dismissed, .wrongPassword: return .notPermitted
    case .unavailable: return .unknown
    }
  }

  package func sessionRefusal(for caller: Caller, at place: ReaderPlace) async -> SessionRefusal? {
    if let refusal = await sessionRefusal(for: caller) { return refusal }
    return place == .underLid ? await lidRefusal() : nil
  }

  /// Simultaneous waits of one process share one query after each change.
  package func sessionChange(from known: SessionRefusal?, for caller: Caller) async {
    while !Task.isCancelled {
      let look = FollowingLook(caller: caller, changes: changes)
      let task = followingLooks[look] ?? Task(executorPreference: LoopTasks.shared) { await self.answer(look) }
      followingLooks[look] = task
      if await task.value != known { return }
      await changed(since: look.changes)
    }
  }

  private func answer(_ look: FollowingLook) async -> SessionRefusal? {
    defer { followingLooks[look] = nil }
    return await sessionRefusal(for: look.caller, at: .underLid)
  }

  package func untilRefused(for caller: Caller) async -> SessionRefusal {
    while !Task.isCancelled {
      let seen = changes
      if let refusal = await sessionRefusal(for: caller) { return refusal }
      await changed(since: seen)
    }
    return .unknown
  }

  private func sessionRefusal(for caller: Caller) async -> SessionRefusal? {
    guard let process = PinnedProcess(of: caller) else { return .unknown }
    do throws(BusError) {
      let logind = try await logind()
      if try await isAsleep(logind) { return .sleeping }
      if let refusal = try await refusal(for: caller, process, logind) { return refusal }
      return isSleeping ? .sleeping : nil
    } catch {
      return .unknown
    }
  }

  private func refusal(for caller: Caller, _ process: PinnedProcess, _ logind: Logind) async throws(BusError)
    -> SessionRefusal?
  {
    if let program = caller.login {
      return try await logind.place(of: program, process, seat: seat).refusal(of: program, for: caller.user, at: seat)
    }
    guard let session = try await logind.session(of: caller, process) else { return .noSession }
    return session.refusal(at: seat)
  }

  /// Not watched during a scan: a closed lid covers the reader.
  private func lidRefusal() async -> SessionRefusal? {
    do throws(BusError) {
      return try await logind().flag("LidClosed") ? .lidClosed : nil
    } catch {
      return .unknown
    }
  }

  private func isAsleep(_ logind: Logind) async throws(BusError) -> Bool {
    if isSleeping { return true }
    return try await logind.flag("PreparingForSleep") || isSleeping
  }

  // MARK: The logins

  /// Whether logind knows this session as a local login of this user. False if logind cannot be asked.
  package func isLocalLogin(_ session: String, of user: UInt32) async -> Bool {
    do throws(BusError) {
      guard let found = try await logind().session(named: session) else { return false }
      return found.user == user && found.session.isLocalLogin
    } catch {
      return false
    }
  }

  // MARK: The users

  package func isUnlocked(_ user: UInt32) async -> Bool { await state(of: user) == .unlocked }

  /// The state of a user's sessions now.
  package func state(of user: UInt32) async -> SessionState {
    if let known = followed[user]?.state { return known }
    return await look(at: user)
  }

  /// The state of a user's sessions now, and after each change.
  package nonisolated func states(of user: UInt32) -> AsyncStream<SessionState> {
    AsyncStream(bufferingPolicy: .bufferingNewest(16)) { stream in
      BusLoop.shared.post { self.assumeIsolated { $0.begin(stream, of: user) } }
    }
  }

  private func begin(_ stream: AsyncStream<SessionState>.Continuation, of user: UInt32) {
    let number = number()
    stream.onTermination = { _ in
      BusLoop.shared.post { self.assumeIsolated { $0.followed[user]?.streams[number] = nil } }
    }
    followed[user, default: FollowedUser()].streams[number] = stream
    if let known = followed[user]?.state {
      stream.yield(known)
    } else {
      Task.immediate(executorPreference: LoopTasks.shared) { _ = await look(at: user) }
    }
  }

  /// Asks logind for a user's state, and again if it signalled a change meanwhile. Simultaneous callers share the
  /// answer.
  ///
  /// After some rounds the last answer is used if none of its objects has changed, and is `unknown` otherwise. Signals
  /// about other users' sessions cannot prevent an answer.
  private func look(at user: UInt32) async -> SessionState {
    if let looking = followed[user]?.looking { return await looking.value }
    let look = Task(executorPreference: LoopTasks.shared) { await self.lookAgain(at: user) }
    followed[user, default: FollowedUser()].looking = look
    return await look.value
  }

  private func lookAgain(at user: UInt32) async -> SessionState {
    for _ in 1..<Self.rounds {
      let seen = changes
      let state = await currentState(of: user)
      if seen == changes { return settle(state, of: user) }
    }
    followed[user]?.changed = []
    let seen = changes
    let state = await currentState(of: user)
    if seen == changes { return settle(state, of: user) }
    let (objects, changed) = (followed[user]?.objects ?? [], followed[user]?.changed ?? [])
    let holds = objects.union([Logind.path]).isDisjoint(with: changed)
    return settle(holds ? state : .unknown, of: user, keeping: false)
  }

  private func currentState(of user: UInt32) async -> SessionState {
    do throws(BusError) {
      let logind = try await logind()
      if try await isAsleep(logind) { return .sleeping }
      let (sessions, objects) = try await logind.sessions(of: user)
      followed[user]?.objects = objects
      return SessionState(of: sessions)
    } catch {
      return .unknown
    }
  }

  /// - Parameter keeps: whether the state holds until the next change. An unknown state never does.
  private func settle(_ state: SessionState, of user: UInt32, keeping keeps: Bool = true) -> SessionState {
    let keeps = keeps && state != .unknown
    followed[user]?.looking = nil
    followed[user]?.state = keeps ? state : nil
    guard let streams = followed[user]?.streams, !streams.isEmpty else { return state }
    for stream in streams.values { stream.yield(state) }
    if !keeps { retryLater() }
    return state
  }

  // MARK: Sleep

  /// Delays sleep until `before` has returned, for as long as logind allows (5 s by default). `after` runs when the
  /// machine is awake again.
  package func followSleep(
    before: @escaping @Sendable () async -> Void, after: @escaping @Sendable () async -> Void
  ) {
    sleepers.append(Sleeper(before: before, after: after))
    takeLock()
  }

  private func takeLock() {
    guard !sleepers.isEmpty, lock == nil, !isSleeping, !isTakingLock else { return }
    isTakingLock = true
    Task(executorPreference: LoopTasks.shared) { await self.takeLockNow() }
  }

  private func takeLockNow() async {
    let life = ends
    do throws(BusError) {
      let taken = try await logind().sleepLock()
      // Keep the lock if a sleep was announced meanwhile and not everyone has been told: it delays that sleep, too.
      if life == ends, !isSleeping || !isToldAsleep { lock = taken }
    } catch {
      retryLater()
    }
    isTakingLock = false
    if retry == nil { takeLock() }
  }

  /// Runs the callbacks for sleep and wake until they match logind's last signal. One that takes longer than
  /// ``sleeperLimit`` is abandoned, so that the others are still told when the machine is awake again.
  private func tell() {
    guard !isTelling else { return }
    isTelling = true
    Task(executorPreference: LoopTasks.shared) { await self.tellAll() }
  }

  private func tellAll() async {
    while isToldAsleep != isSleeping {
      let sleeps = isSleeping
      let told = sleepers.map { sleeps ? $0.before : $0.after }
      // Not on the loop or in the cooperative pool: the callbacks may be slow.
      await withCheckedContinuation { continuation in
        let telling = Telling(continuation)
        let timer = LoopTimer(after: Self.sleeperLimit) { telling.end() }
        Task(executorPreference: BackgroundThread.shared) {
          await withTaskGroup(of: Void.self) { group in
            for body in told { group.addTask { await body() } }
          }
          timer.cancel()
          telling.end()
        }
      }
      isToldAsleep = sleeps
      if sleeps { lock = nil }
    }
    isTelling = false
    takeLock()
  }

  // MARK: logind

  private func logind() async throws(BusError) -> Logind { Logind(service: try await service.running()) }

  private func receive(_ event: BusService.Event) {
    let changed: Set<String>
    switch event {
    case .signal(let signal):
      changed = Logind.objects(changedBy: signal)
      guard !changed.isEmpty else { return }
      if signal.path == Logind.path, signal.interface == Logind.manager, signal.member == Logind.prepareForSleep,
        let begins = signal.arguments.first?.asBoolean
      {
        isSleeping = begins
        tell()
      }
    case .over:
      // A new logind has no record of the lock, and does not signal the end of a sleep that the earlier one announced.
      ends += 1
      lock = nil
      isSleeping = false
      tell()
      changed = [Logind.path]
    }
    changes += 1
    for continuation in waiting.values { continuation.resume() }
    waiting = [:]
    for user in followed.keys {
      followed[user]?.changed.formUnion(changed)
      followed[user]?.state = nil
      if followed[user]?.streams.isEmpty == false {
        Task.immediate(executorPreference: LoopTasks.shared) { _ = await look(at: user) }
      }
    }
  }

  private func retryLater() {
    guard retry == nil else { return }
    retry = LoopTimer(after: Self.pause) { self.assumeIsolated { $0.tryAgain() } }
  }

  private func tryAgain() {
    retry = nil
    takeLock()
    for (user, follower) in followed where !follower.streams.isEmpty && follower.state == nil {
      Task.immediate(executorPreference: LoopTasks.shared) { _ = await look(at: user) }
    }
  }

  // MARK: Waiting

  private func changed(since seen: UInt64) async {
    let number = number()
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if changes != seen || Task.isCancelled { continuation.resume() } else { waiting[number] = continuation }
      }
    } onCancel: {
      BusLoop.shared.post { self.assumeIsolated { $0.waiting.removeValue(forKey: number)?.resume() } }
    }
  }

  private func number() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }
}
