import Dispatch
import Glibc
import Keys
import Primitives
import Synchronization
import VaultStore

/// An open reader.
struct OpenedReader: Sendable {
  let description: ReaderDescription
  /// The digest of the set that was found complete on the chip since the reader was opened.
  var checkedSet: [UInt8]?
}

/// What a claim needs from the desk that granted it.
protocol ReaderOwner: Sendable {
  var reader: any FingerprintReader { get }
  var locks: ReaderLocks { get }

  /// Throws before and during sleep, so that no reader is open while the machine sleeps.
  func requireAwake() async throws(VaultError)

  /// Takes the reader back. Does not wait until the device is closed.
  func takeBack(_ claim: ReaderClaim, _ ending: ReaderClaim.Ending)
}

/// The right of one request to use the reader, from its turn at the desk until ``end(_:)``.
final class ReaderClaim: Sendable {
  /// How the request ended, as far as the desk needs to know.
  enum Ending {
    case succeeded, cancelled, failed
  }

  private struct State {
    /// Held by the one program that may count scans in the store; nil if the request is for no store.
    var storeLock: FileLock?
    /// Held by the one request of the user that may have the reader, for any store; nil if the reader has no lock.
    var readerLock: FileLock?
    var opened: OpenedReader?
    /// Whether opening the reader was started, or it was open before. It must then be closed even after the error
    /// `processDied`: the process may have been fprintd, while the reader process still has the reader open.
    var hasOpened: Bool
    /// The finger of the last scan; nil before the first scan.
    var lift: FingerLift?

    /// The lock that notes when the last scan ended, if its finger was not seen to leave.
    var noted: FileLock? { readerLock ?? storeLock }
  }

  let applicant: ReaderApplicant
  /// How often the reader process had been ended when the claim was granted.
  let shutdowns: UInt64
  private let desk: any ReaderOwner
  private let fingerMayRestSince: UInt64?
  fileprivate let clock: @Sendable () -> UInt64
  private let state: Mutex<State>

  init(
    of desk: any ReaderOwner, _ applicant: ReaderApplicant, store lock: FileLock?, held: OpenedReader?,
    fingerMayRestSince: UInt64?, shutdowns: UInt64, clock: @escaping @Sendable () -> UInt64
  ) {
    self.desk = desk
    self.applicant = applicant
    self.fingerMayRestSince = fingerMayRestSince
    self.shutdowns = shutdowns
    self.clock = clock
    state = Mutex(State(storeLock: lock, opened: held, hasOpened: held != nil))
  }

  /// The open reader.
  var opened: OpenedReader? { state.withLock { $0.opened } }

  /// Whether the reader must be closed.
  var hasOpened: Bool { state.withLock { $0.hasOpened } }

  /// Whether no finger is known to be left on the sensor by the last scan; nil if there was no scan.
  var fingerIsOff: Bool? { state.withLock { $0.lift?.isOff } }

  /// Waits until no other program of the user has this reader. Throws `cancelled` if the task is cancelled.
  ///
  /// - Parameter told: called once if another program has it.
  func lock(_ wanted: ReaderDescription, told: () -> Void) async throws(VaultError) {
    guard let path = try desk.locks.path(of: wanted) else { return }
    let lock = try await FileLock.awaited(path, told: told)
    state.withLock { $0.readerLock = lock }
  }

  /// Opens the reader, after waiting for the previous request's finger to leave it.
  ///
  /// - Parameter user: the user whose fingers fprintd is to use.
  func open(_ wanted: ReaderDescription, for user: ReaderUser) async throws -> ReaderLease {
    await fingerOff()
    if let opened { return ReaderLease(of: self, on: opened.description, desk.reader) }
    try await desk.requireAwake()
    // Close the reader even if opening it fails or is cancelled. Closing does nothing if no reader is open.
    state.withLock { $0.hasOpened = true }
    var description = try await desk.reader.open(wanted.id, for: user)
    // Before the prompt, since the time that a person has begins with it.
    if applicant.purpose != nil { description = try await desk.reader.prepare() }
    // The lock is for the wanted reader, but a new reader process may use the same id for another one.
    guard description.identity == wanted.identity, description.nature == wanted.nature else {
      throw ReaderError.removed
    }
    state.withLock { $0.opened = OpenedReader(description: description) }
    return ReaderLease(of: self, on: description, desk.reader)
  }

  /// Waits until the finger of the previous request, of any program, has left the sensor, so that it is not taken for
  /// this request's. A holder that did not see its finger leave has noted when its scan ended.
  private func fingerOff() async {
    let noted = state.withLock { $0.noted?.note } ?? 0
    await FingerLift.wait(for: FingerLift.assumedAfter, since: max(noted, fingerMayRestSince ?? 0), by: clock)
  }

  /// Gives the reader back. Does not wait until the device is closed.
  func end(_ ending: Ending) {
    // Without a scan, the earlier holder's note stays valid.
    state.withLock { state in
      if let lift = state.lift { state.noted?.leave(lift.isOff ? 0 : clock()) }
    }
    desk.takeBack(self, ending)
  }

  /// Lets other programs of the user have the reader.
  func unlock() { state.withLock { ($0.storeLock, $0.readerLock) = (nil, nil) } }

  fileprivate func change(_ body: (inout OpenedReader?) -> Void) { state.withLock { body(&$0.opened) } }
  fileprivate func watch(_ lift: FingerLift) { state.withLock { $0.lift = lift } }
}

/// A reader that is open for one request.
struct ReaderLease: Sendable {
  /// The reader's description of itself.
  let description: ReaderDescription
  private let reader: any FingerprintReader
  private let claim: ReaderClaim

  fileprivate init(of claim: ReaderClaim, on description: ReaderDescription, _ reader: any FingerprintReader) {
    self.claim = claim
    self.description = description
    self.reader = reader
  }

  /// The digest of the set that was found complete on the chip.
  var checkedSet: [UInt8]? {
    get { claim.opened?.checkedSet }
    nonmutating set { claim.change { $0?.checkedSet = newValue } }
  }

  /// Starts to track the finger of a new scan: the next request waits until it has left the sensor.
  func beginScan() -> FingerLift {
    let lift = FingerLift(clock: claim.clock)
    claim.watch(lift)
    return lift
  }

  /// Runs an action of the reader.
  func ask<T>(_ question: (any FingerprintReader) async throws -> T) async throws -> T {
    do {
      return try await question(reader)
    } catch ReaderError.processDied(let how) {
      // The reader is no longer open.
      claim.change { $0 = nil }
      throw ReaderError.processDied(how)
    }
  }
}

/// The file locks of a user's physical readers. One request at a time has a reader, for whichever store, so that one
/// touch cannot answer two requests.
package struct ReaderLocks: Sendable {
  /// Derives the folder from the user id, not `XDG_RUNTIME_DIR`, so that no program can choose a lock of its own.
  package init(of user: UInt32) { self.init(runtimeFolder: "/run/user/\(user)") }

  private let runtimeFolder: String

  /// - Parameter runtimeFolder: the folder that logind makes for the user and removes after the last session.
  package init(runtimeFolder: String) { self.runtimeFolder = runtimeFolder }

  /// The lock file of this reader.
  ///
  /// Nil if the folder is missing, as for a user without a session, and for a reader that is not physical, whose
  /// identity is not unique. Then only the store's lock is used.
  func path(of reader: ReaderDescription) throws(VaultError) -> String? {
    guard reader.nature == .physical, Self.isPrivate(runtimeFolder) else { return nil }
    let folder = runtimeFolder + "/whorl"
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
      throw .onFile("cannot make \(folder)")
    }
    guard Self.isPrivate(folder) else {
      throw .unsafeDirectory("\(folder) is not a private folder of this user: remove it")
    }
    let name = Hexadecimal.text(of: Digest.sha256(EnrolmentSet.canonical(reader.identity, reader.nature)).prefix(8))
    return "\(folder)/reader-\(name).lock"
  }

  private static func isPrivate(_ folder: String) -> Bool {
    var info = stat()
    return lstat(folder, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR && info.st_uid == geteuid()
      && info.st_mode & 0o077 == 0
  }
}

/// The time of the last event of an action, so that its timeout counts from there.
final class Activity: Sendable {
  private let end: ContinuousClock.Instant
  private let last = Mutex(ContinuousClock.now)

  /// - Parameter limit: how long events count. After it even a reader that keeps sending events runs into its timeout.
  init(countingFor limit: Duration = .seconds(600)) { end = .now + limit }

  func note() { last.withLock { $0 = min(.now, end) } }

  /// The time since the last event.
  var idle: Duration { last.withLock { $0 }.duration(to: .now) }
}

/// Calls back once, after a timeout without activity.
///
/// Not `Task.sleep`: the timer of a cancelled sleep stays in memory until the sleep would have ended. A program that
/// reads hundreds of items a second would hold a minute's worth of such timers.
final class IdleTimer: Sendable {
  private static let queue = DispatchQueue(label: "whorl.timeouts")

  private let timeout: Duration
  private let activity: Activity
  private let expired: @Sendable () -> Void
  private let timer = Mutex<(any DispatchSourceTimer)?>(nil)

  init(_ timeout: Duration, _ activity: Activity, expired: @escaping @Sendable () -> Void) {
    (self.timeout, self.activity, self.expired) = (timeout, activity, expired)
    timer.withLock { timer in
      let source = DispatchSource.makeTimerSource(queue: Self.queue)
      source.setEventHandler { [weak self] in self?.look() }
      source.schedule(deadline: Self.deadline(after: timeout))
      source.activate()
      timer = source
    }
  }

  deinit { cancel() }

  func cancel() {
    timer.withLock { timer in
      timer?.cancel()
      timer = nil
    }
  }

  private func look() {
    let idle = activity.idle
    guard idle < timeout else { return expired() }
    timer.withLock { $0?.schedule(deadline: Self.deadline(after: timeout - idle)) }
  }

  private static func deadline(after duration: Duration) -> DispatchTime {
    let (seconds, attoseconds) = duration.components
    // A day at most, like the timeouts that can be configured.
    return .now() + .nanoseconds(Int(min(seconds, 86_400)) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
  }
}
