import Executors
package import Fingerprint
import Glibc
import Synchronization

/// Gives the reader to one request at a time, of all the vaults that share it and whoever's they are: one touch cannot
/// answer two. The next request is armed when the finger of the one before is off the sensor.
///
/// A vault in a process of its own has a desk of its own; the vaults of a service share one.
package actor ReaderDesk {
  private let executor = VaultExecutor()
  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// The readers. Only a request that has a claim opens one, and asks more of it than to list them.
  nonisolated let reader: any FingerprintReader
  nonisolated let preference: ReaderPreference
  nonisolated let locks: ReaderLocks
  private let holdsReader: Bool
  private let clock: @Sendable () -> UInt64

  /// The end of the last request, until its device is closed.
  private nonisolated let lastEnd = Mutex<Task<Void, Never>?>(nil)
  private var state = State.free
  private var queue: [Waiting] = []
  private var lastNumber: UInt64 = 0
  private var coolDowns = CoolDowns()
  /// The reader that stays open between requests.
  private var held: OpenedReader?
  /// How often the reader process was ended: what a request of before then has opened is not open any more.
  private var shutdowns: UInt64 = 0
  /// When the last scan ended whose finger was not seen to leave.
  private var fingerMayRestSince: UInt64?

  private enum State {
    case free
    case taken(by: ReaderApplicant)
    /// The last request is over, and its device is being closed.
    case closing
  }

  /// A request that waits for its turn.
  private struct Waiting {
    let number: UInt64
    let applicant: ReaderApplicant
    let told: @Sendable (ReaderUse) -> Void
    /// Resumed with false where the request was withdrawn.
    let turn: CheckedContinuation<Bool, Never>
  }

  /// - Parameters:
  ///   - holdsReader: keep the reader open between requests, for one that cannot be opened twice (a recording).
  ///   - locks: the locks of readers that the user's other programs look at, too.
  ///   - clock: nanoseconds since boot; tests have their own.
  package init(
    _ reader: any FingerprintReader, preference: ReaderPreference = .any, holdsReader: Bool = false,
    locks: ReaderLocks = ReaderLocks(of: geteuid()), clock: @escaping @Sendable () -> UInt64 = ScanClock.now
  ) {
    self.reader = reader
    self.preference = preference
    self.holdsReader = holdsReader
    self.locks = locks
    self.clock = clock
  }

  /// Ends the reader process, when the device of a request that is over has been closed. A later request starts another.
  package func shutdown() async {
    await lastEnd.withLock { $0 }?.value
    held = nil
    shutdowns += 1
    await reader.shutdown()
  }

  /// The reader that is open for longer than a request, where there is one.
  var heldReader: ReaderDescription? { held?.description }

  /// Waits until nobody else has the reader; cancelling the task ends the waiting with `cancelled`.
  ///
  /// - Parameters:
  ///   - storeLock: the lock of the request's store, for which programs wait that have a desk of their own.
  ///   - told: hears whose request has the reader while this one waits, each time that it is another program's.
  func claim(
    for applicant: ReaderApplicant, storeLock: String, told: @escaping @Sendable (ReaderUse) -> Void
  ) async throws(VaultError) -> ReaderClaim {
    try await turn(of: applicant, told)
    do throws(VaultError) {
      let lock = try await FileLock.awaited(storeLock) { told(.program(nil, items: [])) }
      return ReaderClaim(
        of: self, applicant, store: lock, held: held, fingerMayRestSince: fingerMayRestSince, shutdowns: shutdowns,
        clock: clock)
    } catch {
      passOn()
      throw error
    }
  }

  /// Takes the reader back: closes the device, and gives the next request its turn. Nobody waits for that here.
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
    if let lifted = claim.fingerIsOff { fingerMayRestSince = lifted ? nil : clock() }
    let opened = claim.opened
    if holdsReader {
      held = claim.shutdowns == shutdowns ? opened : nil
    } else if opened != nil {
      try? await reader.close()
    }
    claim.unlock()
    passOn()
  }

  private func turn(of applicant: ReaderApplicant, _ told: @escaping @Sendable (ReaderUse) -> Void)
    async throws(VaultError)
  {
    lastNumber += 1
    let number = lastNumber
    let isGranted = await withTaskCancellationHandler {
      await withCheckedContinuation { turn in
        guard !Task.isCancelled else { return turn.resume(returning: false) }
        // Looked at here and not before: under a preference for a task executor other calls come between.
        if case .free = state {
          state = .taken(by: applicant)
          return turn.resume(returning: true)
        }
        let waiting = Waiting(number: number, applicant: applicant, told: told, turn: turn)
        queue.append(waiting)
        if case .taken(let holder) = state { tell(waiting, of: holder) }
      }
    } onCancel: {
      Task(executorPreference: BackgroundThread.shared) { await self.withdraw(number) }
    }
    guard isGranted else { throw .cancelled }
  }

  private func withdraw(_ number: UInt64) {
    guard let index = queue.firstIndex(where: { $0.number == number }) else { return }
    queue.remove(at: index).turn.resume(returning: false)
  }

  /// The turn of whoever waits the longest; programs that have to cool down come after all others.
  private func passOn() {
    let now = clock()
    let ends = queue.map { coolDowns.end(for: $0.applicant.program, now: now) }
    guard let next = ends.indices.min(by: { ends[$0] < ends[$1] }) else {
      state = .free
      return
    }
    let granted = queue.remove(at: next)
    state = .taken(by: granted.applicant)
    for waiting in queue { tell(waiting, of: granted.applicant) }
    granted.turn.resume(returning: true)
  }

  private func tell(_ waiting: Waiting, of holder: ReaderApplicant) {
    guard holder.program != waiting.applicant.program else { return }
    waiting.told(holder.use(toldTo: waiting.applicant))
  }
}

extension FileLock {
  /// Waits for a lock that others hold while they scan.
  ///
  /// - Parameter told: is called once where somebody else still has it after a second. A program that has ended gives it
  ///   back sooner.
  static func awaited(_ path: String, told: () -> Void) async throws(VaultError) -> FileLock {
    var looks = 0
    while true {
      if let lock = try trying(path, .exclusive) { return lock }
      guard !Task.isCancelled else { throw .cancelled }
      looks += 1
      if looks == 20 { told() }
      try? await Task.sleep(for: .milliseconds(50))
    }
  }
}
