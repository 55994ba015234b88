import Glibc
package import Primitives
import Synchronization
import VaultStore

/// Gives the reader to one request at a time, of all vaults that share it, so that one touch cannot answer two
/// requests. The next request arms the reader after the previous finger has left the sensor.
///
/// A private vault has its own desk. So has each vault process of the service, and they share the readers by a
/// ``MachineTurn``.
package actor ReaderDesk: ReaderOwner {
  private let executor = VaultExecutor()
  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// The readers. Without a claim a request may only list them.
  nonisolated let reader: any FingerprintReader
  nonisolated let preference: ReaderPreference
  nonisolated let locks: ReaderLocks
  nonisolated let devices: DeviceWatch
  private let machine: MachineTurn?
  private let holdsReader: Bool
  private let clock: @Sendable () -> UInt64
  private let outsideTime: Duration

  /// The task that ends the last request and closes its device.
  private nonisolated let lastEnd = Mutex<Task<Void, Never>?>(nil)
  private var state = State.free
  // Not a FairQueue: cool-downs, advanced calls and refusals in favour of other programs change the order.
  private var queue: [Waiting] = []
  /// Requests that will soon be refused, because too many others wait. Until then, each may reject the request that has
  /// the reader, and take its place.
  private var outside: [Waiting] = []
  private var lastNumber: UInt64 = 0
  private var turns = ReaderTurns()
  private var coolDowns = CoolDowns()
  /// The reader that stays open between requests.
  private var held: OpenedReader?
  /// How often the reader process was ended: readers that earlier claims opened are no longer open.
  private var shutdowns: UInt64 = 0
  /// The claim of the request that has the reader.
  private weak var holder: ReaderClaim?
  /// Whether the machine sleeps, or is about to.
  private var isSuspended = false
  /// When the last scan ended, if its finger was not seen to leave.
  private var fingerMayRestSince: UInt64?

  private enum State {
    case free
    case taken(by: ReaderApplicant)
    /// The last request has ended, and its device is being closed.
    case closing
  }

  /// A request that waits for its turn.
  private struct Waiting {
    let number: UInt64
    let applicant: ReaderApplicant
    /// Noted each time another request gets the reader.
    let activity: Activity?
    let told: @Sendable (RequestAhead) -> Void
    let turn: CheckedContinuation<Turn, Never>
    /// Whether it comes before the others of its user.
    var isAdvanced = false
  }

  /// How a request's wait ended.
  private enum Turn {
    case granted, withdrawn
    /// The machine is about to sleep.
    case suspended
    /// Too many others wait. The text names their program or user, and the holder of the reader.
    case refused(String)
  }

  /// - Parameters:
  ///   - machine: the turn at the readers that other processes use, too; nil if none does.
  ///   - holdsReader: whether to keep the reader open between requests, for a recording, which can be opened only once.
  ///   - locks: the locks of readers, shared with the user's other programs.
  ///   - outsideTime: how long a request over the limits may still reject the one that has the reader.
  ///   - clock: returns nanoseconds since boot; tests pass their own.
  package init(
    _ reader: any FingerprintReader, preference: ReaderPreference = .any, machine: MachineTurn? = nil,
    holdsReader: Bool = false,
    locks: ReaderLocks = ReaderLocks(of: geteuid()), devices: DeviceWatch = DeviceWatch(),
    outsideTime: Duration = .seconds(10),
    clock: @escaping @Sendable () -> UInt64 = ScanClock.now
  ) {
    self.reader = reader
    self.preference = preference
    self.machine = machine
    self.holdsReader = holdsReader
    self.locks = locks
    self.devices = devices
    self.outsideTime = outsideTime
    self.clock = clock
  }

  /// Ends the reader process, after the last request's device is closed. A later request starts another one.
  package func shutdown() async {
    await lastEnd.withLock { $0 }?.value
    held = nil
    shutdowns += 1
    await reader.shutdown()
  }

  /// The reader that stays open between requests, if there is one.
  var heldReader: ReaderDescription? { held?.description }

  /// Waits until nobody else has the reader. Throws `cancelled` if the task is cancelled, and `busy` if
  /// too many requests wait (``WaitingLimits``).
  ///
  /// - Parameters:
  ///   - storeLock: the lock of the request's store, on which programs with a desk of their own wait; nil if the
  ///     request is for no store.
  ///   - activity: noted while this request waits, each time a request of any program gets the reader.
  ///   - told: called while this request waits, each time a request of another program gets the reader, except a brief
  ///     one (``ReaderApplicant/isBrief``).
  func claim(
    for applicant: ReaderApplicant, storeLock: String?, activity: Activity? = nil,
    told: @escaping @Sendable (RequestAhead) -> Void
  ) async throws(VaultError) -> ReaderClaim {
    try await turn(of: applicant, activity, told)
    do throws(VaultError) {
      try await machine?.take { told(RequestAhead(use: .anotherUser)) }
      do throws(VaultError) {
        return try await claim(for: applicant, storeLock, told)
      } catch {
        await machine?.giveBack(reader, after: .request)
        throw error
      }
    } catch {
      passOn()
      throw error
    }
  }

  private func claim(
    for applicant: ReaderApplicant, _ storeLock: String?, _ told: @Sendable (RequestAhead) -> Void
  ) async throws(VaultError) -> ReaderClaim {
    var lock: FileLock?
    if let storeLock { lock = try await FileLock.awaited(storeLock) { told(RequestAhead(use: .otherVault)) } }
    let elsewhere = await machine?.fingerMayRestSince ?? 0
    let claim = ReaderClaim(
      of: self, applicant, store: lock, held: held, fingerMayRestSince: max(fingerMayRestSince ?? 0, elsewhere),
      shutdowns: shutdowns, clock: clock)
    holder = claim
    return claim
  }

  /// The attached readers. Waits while another process uses the readers of the machine.
  ///
  /// - Parameter adapter: nil for those of all adapters.
  package func readers(drivenBy adapter: ReaderAdapter?) async throws(VaultError) -> [ReaderDescription] {
    try await machine?.take()
    let list: Result<[ReaderDescription], ReaderError>
    do throws(ReaderError) {
      list = .success(try await reader.readers(drivenBy: adapter))
    } catch {
      list = .failure(error)
    }
    await machine?.giveBack(reader, after: .list)
    do throws(ReaderError) { return try list.get() } catch { throw VaultError(reader: error) }
  }

  /// Takes the reader back: closes the device and gives the next request its turn. Does not wait for that.
  nonisolated func takeBack(_ claim: ReaderClaim, _ ending: ReaderClaim.Ending) {
    let task = Task(executorPreference: BackgroundThread.shared) { await self.end(claim, ending) }
    lastEnd.withLock { $0 = task }
  }

  private func end(_ claim: ReaderClaim, _ ending: ReaderClaim.Ending) async {
    state = .closing
    switch ending {
    case .succeeded: coolDowns.succeeded(claim.applicant.program)
    case .cancelled: coolDowns.cancelled(claim.applicant.program, now: clock())
    case .failed: break
    }
    if let lifted = claim.fingerIsOff {
      fingerMayRestSince = lifted ? nil : clock()
      await machine?.note(fingerMayRestSince: fingerMayRestSince ?? 0)
    }
    held = holdsReader && claim.shutdowns == shutdowns ? claim.opened : nil
    if held == nil, claim.hasOpened { try? await reader.close() }
    claim.unlock()
    await machine?.giveBack(reader, after: .request)
    passOn()
  }

  // MARK: Sleep

  /// How long a request may take to end before the machine sleeps. logind waits five seconds by default.
  private static let sleepGrace = Duration.seconds(2)

  /// Called before the machine sleeps: ends the current request, closes the device and ends the reader processes. Until
  /// ``resume()``, requests are refused with `suspended`.
  package func suspend() async {
    isSuspended = true
    for waiting in queue + outside { waiting.turn.resume(returning: .suspended) }
    (queue, outside) = ([], [])
    if holder?.opened != nil {
      Task(executorPreference: BackgroundThread.shared) { [reader] in try? await reader.suspend() }
    }
    let end = ContinuousClock.now + Self.sleepGrace
    while !isFree, ContinuousClock.now < end { try? await Pause.wait(for: .milliseconds(20)) }
    await shutdown()
  }

  /// Called when the machine is awake. The next request lists the readers again, with new reader processes.
  package func resume() { isSuspended = false }

  /// Throws before and during sleep, so that no reader is open while the machine sleeps.
  func requireAwake() throws(VaultError) {
    guard !isSuspended else { throw .reader(.suspended) }
  }

  private var isFree: Bool { if case .free = state { true } else { false } }

  private func turn(
    of applicant: ReaderApplicant, _ activity: Activity?, _ told: @escaping @Sendable (RequestAhead) -> Void
  ) async throws(VaultError) {
    lastNumber += 1
    let number = lastNumber
    let granted: Turn = await withTaskCancellationHandler {
      await withCheckedContinuation { turn in
        guard !Task.isCancelled else { return turn.resume(returning: .withdrawn) }
        guard !isSuspended else { return turn.resume(returning: .suspended) }
        // Check only here: with a task executor preference, other calls may run in between.
        if case .free = state {
          take(for: applicant)
          return turn.resume(returning: .granted)
        }
        let waiting = Waiting(number: number, applicant: applicant, activity: activity, told: told, turn: turn)
        switch WaitingLimits.answer(to: applicant, among: queue.map(\.applicant)) {
        case .waits: queue.append(waiting)
        case .waitsInstead(let index):
          let refused = queue.remove(at: index)
          queue.append(waiting)
          refuse(
            refused,
            "another program's request took the place of this one, because this program has the most requests waiting")
        case .isRefused(let crowd): return keepOutside(waiting, crowd)
        }
        if case .taken(let holder) = state { tell(waiting, of: holder) }
      }
    } onCancel: {
      Task(executorPreference: BackgroundThread.shared) { await self.withdraw(number) }
    }
    switch granted {
    case .granted: return
    case .withdrawn: throw .cancelled
    case .suspended: throw .reader(.suspended)
    case .refused(let why): throw .busy(why)
    }
  }

  private func take(for applicant: ReaderApplicant) {
    state = .taken(by: applicant)
    turns.note(applicant)
  }

  private func withdraw(_ number: UInt64) {
    if let index = queue.firstIndex(where: { $0.number == number }) {
      queue.remove(at: index).turn.resume(returning: .withdrawn)
    } else if let index = outside.firstIndex(where: { $0.number == number }) {
      outside.remove(at: index).turn.resume(returning: .withdrawn)
    }
  }

  // MARK: Over the limits

  /// Tells a request over the limits who has the reader, and refuses it later, so that the person can reject the other
  /// request first. Refuses it at once if there is nothing to reject, or other requests of its user are kept like this.
  private func keepOutside(_ waiting: Waiting, _ crowd: String) {
    let user = waiting.applicant.caller.user
    guard case .taken(let holder) = state, holder.caller.user == user, !holder.isBrief, holder.call != nil,
      outside.count(where: { $0.applicant.caller.user == user }) < WaitingLimits.outside
    else { return refuse(waiting, crowd) }
    outside.append(waiting)
    waiting.told(holder.ahead(of: waiting.applicant))
    let (number, time) = (waiting.number, outsideTime)
    Task(executorPreference: BackgroundThread.shared) {
      try? await Pause.wait(for: time)
      await self.refuseOutside(number, crowd)
    }
  }

  private func refuseOutside(_ number: UInt64, _ crowd: String) {
    guard let index = outside.firstIndex(where: { $0.number == number }) else { return }
    refuse(outside.remove(at: index), crowd)
  }

  /// Refuses a request with an error that names the program that has the reader, if it is the same user's.
  private func refuse(_ waiting: Waiting, _ crowd: String) {
    var why = crowd
    if case .taken(let holder) = state, case .program(let name, _) = holder.ahead(of: waiting.applicant).use {
      why += "; \(name ?? "a program without a name") has it"
    }
    waiting.turn.resume(returning: .refused(why))
  }

  /// The time until which requests of this program come after all others, in nanoseconds since boot; 0 if they do not.
  func coolDownEnd(of program: ReaderApplicant.Program) -> UInt64 { coolDowns.end(for: program, now: clock()) }

  /// Gives the turn to the user whose last turn was longest ago, among that user's programs to the one of which the same
  /// is true, then among its processes, and of that process to the request that has waited longest. Programs in a
  /// cool-down come after all others.
  private func passOn() {
    let ranks = queue.map { waiting in
      let applicant = waiting.applicant
      return (
        coolDownEnd(of: applicant.program), turns.lastTurn(ofUserOf: applicant), waiting.isAdvanced ? 0 : 1,
        turns.lastTurn(ofProgramOf: applicant), turns.lastTurn(ofProcessOf: applicant)
      )
    }
    guard let next = ranks.indices.min(by: { ranks[$0] < ranks[$1] }) else {
      state = .free
      return
    }
    let granted = queue.remove(at: next)
    take(for: granted.applicant)
    for waiting in queue + outside {
      waiting.activity?.note()
      tell(waiting, of: granted.applicant)
    }
    granted.turn.resume(returning: .granted)
  }

  private func tell(_ waiting: Waiting, of holder: ReaderApplicant) {
    // Compare processes, not names, which a program can choose.
    guard holder.caller != waiting.applicant.caller, !holder.isBrief else { return }
    waiting.told(holder.ahead(of: waiting.applicant))
  }

  /// Moves the waiting request of this call before the others of its user, also one that is over the limits.
  package func advance(_ call: ContextCall) {
    if let index = outside.firstIndex(where: { $0.applicant.call == call }) { queue.append(outside.remove(at: index)) }
    guard let index = queue.firstIndex(where: { $0.applicant.call == call }) else { return }
    var waiting = queue.remove(at: index)
    waiting.isAdvanced = true
    // The last one to be advanced comes first.
    queue.insert(waiting, at: 0)
  }
}

extension FileLock {
  /// Waits for a lock that others hold while they scan.
  ///
  /// - Parameter told: called once if the lock is still held after a second. Locks of programs that are ending are
  ///   released sooner.
  static func awaited(_ path: String, told: () -> Void) async throws(VaultError) -> FileLock {
    var looks = 0
    while true {
      if let lock = try trying(path, .exclusive) { return lock }
      guard !Task.isCancelled else { throw .cancelled }
      looks += 1
      if looks == 20 { told() }
      try? await Pause.wait(for: .milliseconds(50))
    }
  }
}

/// Which of the attached readers a store uses.
package enum ReaderPreference: Sendable, Hashable {
  /// The first that has fingers in the store, else the first.
  case any
  /// The same, among readers of the adapter that the store has recorded. A reader that both fprintd and libfprint drive
  /// is listed twice.
  case recorded
  /// The reader with this id or name.
  case named(String)

  /// The preference that follows from a selection of readers.
  package init(_ selection: ReaderSelection) {
    if let device = selection.device {
      self = .named(device)
    } else {
      self = selection == .automatic ? .recorded : .any
    }
  }
}

/// When a reader is armed for a touch.
package enum ArmingPolicy: Sendable {
  /// At once, in a private vault, whose program shows its own prompts.
  case atOnce
  /// When the program has reported that its prompt is shown, so that a touch meant for another program is not taken.
  case whenPromptStands

  /// How long a prompt may take to be shown.
  static let longestPrompt = Duration.seconds(10)

  /// How long a reader stays armed without an event, whatever the context's timeout; nil: no limit.
  var longestTouch: Duration? {
    switch self {
    case .atOnce: nil
    case .whenPromptStands: .seconds(120)
    }
  }
}
