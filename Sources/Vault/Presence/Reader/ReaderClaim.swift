import Executors
import Fingerprint
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
    /// Whether the finger of the last scan has left the sensor; nil before the first scan.
    var lift: FingerLift?

    /// The lock that notes when the last scan ended, if its finger was not seen to leave.
    var noted: FileLock? { readerLock ?? storeLock }
  }

  let applicant: ReaderApplicant
  /// How often the reader process had been ended when the claim was granted.
  let shutdowns: UInt64
  private let desk: any ReaderOwner
  private let fingerMayRestSince: UInt64?
  private let clock: @Sendable () -> UInt64
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

  /// Whether the finger of the last scan is known to be off the sensor; nil if there was no scan.
  var fingerIsOff: Bool? { state.withLock { $0.lift?.isLifted } }

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
    let description = try await desk.reader.open(wanted.id, for: user)
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
    let (end, now) = (max(noted, fingerMayRestSince ?? 0), clock())
    guard end <= now, now - end < FingerLift.assumedAfter else { return }
    try? await Pause.wait(for: .nanoseconds(FingerLift.assumedAfter - (now - end)))
  }

  /// Gives the reader back. Does not wait until the device is closed.
  func end(_ ending: Ending) {
    // Without a scan, the earlier holder's note stays valid.
    state.withLock { state in
      if let lift = state.lift { state.noted?.leave(lift.isLifted ? 0 : clock()) }
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
    let lift = FingerLift()
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
