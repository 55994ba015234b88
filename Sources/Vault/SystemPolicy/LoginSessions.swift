internal import Executors
internal import Glibc
internal import SDBus
package import SecretModel

/// The login sessions of this machine, as logind tells of them: who may arm the reader, and for whom what follows the
/// session's lock is open.
///
/// Each question is answered from what logind says at that moment; changes arrive as signals. Where logind cannot be
/// asked, the answer is ``SessionRefusal/unknown`` and nothing is open.
package actor LoginSessions: SessionGate {
  package nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

  /// Where the reader is.
  package struct ReaderPlace: Sendable {
    /// The seat that it belongs to.
    package var seat = "seat0"
    /// Whether a closed lid covers it: it is built in, and the only one.
    package var isUnderLid = false

    package init(seat: String = "seat0", isUnderLid: Bool = false) {
      self.seat = seat
      self.isUnderLid = isUnderLid
    }
  }

  /// The pause before logind is looked for again on behalf of those who follow it.
  private static let pause = Duration.seconds(5)

  private let reader: ReaderPlace
  private let polkit: Polkit
  private let bus: String
  private let users: Set<UInt32>
  private lazy var service = SystemService(Logind.name, on: bus, ownedBy: users) { [weak self] event in
    self?.assumeIsolated { $0.receive(event) }
  }
  /// Counts the ends of logind: a lock that one has given is worth nothing to the next.
  private var ends: UInt64 = 0
  /// Counts what logind has signalled, so that an answer from before a signal is told from one after it.
  private var changes: UInt64 = 0
  private var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
  private var lastNumber: UInt64 = 0
  /// What logind said last, and what those who follow the sleep have been told.
  private var isSleeping = false
  private var isToldAsleep = false
  private var isTelling = false
  private var followed: [UInt32: FollowedUser] = [:]
  private var sleepers: [Sleeper] = []
  private var lock: BusDescriptor?
  private var isTakingLock = false
  private var retry: LoopTimer?

  private struct FollowedUser {
    /// Nil where it has to be looked up.
    var state: SessionState?
    var looking: Task<SessionState, Never>?
    var streams: [UInt64: AsyncStream<SessionState>.Continuation] = [:]
  }

  private struct Sleeper {
    let before: @Sendable () async -> Void
    let after: @Sendable () async -> Void
  }

  /// - Parameters:
  ///   - bus: the address of the bus that logind is on; tests use another one.
  ///   - polkit: has to allow ``PolkitAction/use`` as well.
  package init(reader: ReaderPlace = ReaderPlace(), polkit: Polkit, bus: String? = nil) {
    self.reader = reader
    self.polkit = polkit
    self.bus = bus ?? MessageBus.system
    // On a bus that a test made, the stand-in runs as the test's user.
    users = bus == nil ? [0] : [0, getuid()]
  }

  // MARK: The reader

  package func refusal(for caller: Caller) async -> SessionRefusal? {
    if let refusal = await sessionRefusal(for: caller) { return refusal }
    switch await polkit.authorize(.use, for: caller, asking: false) {
    case .allowed: return nil
    case .denied, .needsPassword, .dismissed: return .notPermitted
    case .unavailable: return .unknown
    }
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
      guard let session = try await logind.session(of: caller, process) else { return .noSession }
      if let refusal = session.refusal(at: reader.seat) { return refusal }
      // logind does not signal the lid; a lid that closes during a scan leaves no way to touch the reader.
      if reader.isUnderLid, try await logind.flag("LidClosed") { return .lidClosed }
      return isSleeping ? .sleeping : nil
    } catch {
      return .unknown
    }
  }

  private func isAsleep(_ logind: Logind) async throws(BusError) -> Bool {
    if isSleeping { return true }
    return try await logind.flag("PreparingForSleep") || isSleeping
  }

  // MARK: The users

  package func isUnlocked(_ user: UInt32) async -> Bool { await state(of: user) == .unlocked }

  /// The state of a user's sessions now.
  package func state(of user: UInt32) async -> SessionState {
    if let known = followed[user]?.state { return known }
    return await look(at: user)
  }

  /// The state of a user's sessions now, and again whenever it has changed.
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
      Task.immediate { _ = await look(at: user) }
    }
  }

  /// Questions of the same time share one look. It is over when nothing has changed in between.
  private func look(at user: UInt32) async -> SessionState {
    if let looking = followed[user]?.looking { return await looking.value }
    let look = Task {
      var state = SessionState.unknown
      var seen: UInt64
      repeat {
        seen = changes
        state = await currentState(of: user)
      } while seen != changes
      settle(state, of: user)
      return state
    }
    followed[user, default: FollowedUser()].looking = look
    return await look.value
  }

  private func currentState(of user: UInt32) async -> SessionState {
    do throws(BusError) {
      let logind = try await logind()
      if try await isAsleep(logind) { return .sleeping }
      return SessionState(of: try await logind.sessions(of: user))
    } catch {
      return .unknown
    }
  }

  private func settle(_ state: SessionState, of user: UInt32) {
    followed[user]?.looking = nil
    // What could not be learnt is asked again.
    followed[user]?.state = state == .unknown ? nil : state
    guard let streams = followed[user]?.streams, !streams.isEmpty else { return }
    for stream in streams.values { stream.yield(state) }
    if state == .unknown { retryLater() }
  }

  // MARK: Sleep

  /// Has the machine wait with its sleep until `before` has returned, for as long as logind allows (5 s unless it is told
  /// otherwise). `after` runs when the machine is awake again.
  package func followSleep(
    before: @escaping @Sendable () async -> Void, after: @escaping @Sendable () async -> Void
  ) {
    sleepers.append(Sleeper(before: before, after: after))
    takeLock()
  }

  private func takeLock() {
    guard !sleepers.isEmpty, lock == nil, !isSleeping, !isTakingLock else { return }
    isTakingLock = true
    Task {
      let life = ends
      do throws(BusError) {
        let taken = try await logind().sleepLock()
        if life == ends, !isSleeping { lock = taken }
      } catch {
        retryLater()
      }
      isTakingLock = false
      if retry == nil { takeLock() }
    }
  }

  /// Tells of the sleep and of its end in turn, until what was told is what is.
  private func tell() {
    guard !isTelling else { return }
    isTelling = true
    Task {
      while isToldAsleep != isSleeping {
        let sleeps = isSleeping
        let told = sleepers.map { sleeps ? $0.before : $0.after }
        // Not on the loop, and not in the cooperative pool: it may take its time.
        await Task(executorPreference: BackgroundThread.shared) {
          await withTaskGroup(of: Void.self) { group in
            for body in told { group.addTask { await body() } }
          }
        }.value
        isToldAsleep = sleeps
        if sleeps { lock = nil }
      }
      isTelling = false
      takeLock()
    }
  }

  // MARK: logind

  private func logind() async throws(BusError) -> Logind { Logind(service: try await service.running()) }

  private func receive(_ event: BusService.Event) {
    switch event {
    case .signal(let signal):
      if signal.path == Logind.path, signal.interface == Logind.manager, signal.member == Logind.prepareForSleep,
        let begins = signal.arguments.first?.asBoolean
      {
        isSleeping = begins
        tell()
      }
    case .over:
      // The next logind knows nothing of the lock, and does not signal the end of a sleep announced before.
      ends += 1
      lock = nil
      isSleeping = false
      tell()
    }
    changes += 1
    for continuation in waiting.values { continuation.resume() }
    waiting = [:]
    for user in followed.keys {
      followed[user]?.state = nil
      if followed[user]?.streams.isEmpty == false { Task.immediate { _ = await look(at: user) } }
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
      Task.immediate { _ = await look(at: user) }
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
