import Fingerprint
import Synchronization

/// The reader as it is open now.
struct OpenedReader: Sendable {
  let description: ReaderDescription
  /// The digest of the set whose prints the chip's own list was found to hold since the reader was opened.
  var checkedSet: [UInt8]?
}

/// The right of one request to use the reader, from its turn at the desk until ``end(_:)``.
final class ReaderClaim: Sendable {
  /// How the request ended, as far as it matters to those who wait.
  enum Ending {
    case succeeded, cancelled, failed
  }

  private struct State {
    /// One program at a time counts a scan in the store.
    var storeLock: FileLock?
    /// And one request of the user has the reader, whichever store it is for; nil where the reader has no lock.
    var readerLock: FileLock?
    var opened: OpenedReader?
    /// Whether the finger of the last scan has left the sensor; nil before the first scan.
    var lift: FingerLift?

    /// The lock that tells the next request when the last finger was not seen to leave.
    var noted: FileLock? { readerLock ?? storeLock }
  }

  let applicant: ReaderApplicant
  /// How often the reader process had been ended when the claim was given.
  let shutdowns: UInt64
  private let desk: ReaderDesk
  private let fingerMayRestSince: UInt64?
  private let clock: @Sendable () -> UInt64
  private let state: Mutex<State>

  init(
    of desk: ReaderDesk, _ applicant: ReaderApplicant, store lock: FileLock, held: OpenedReader?,
    fingerMayRestSince: UInt64?, shutdowns: UInt64, clock: @escaping @Sendable () -> UInt64
  ) {
    self.desk = desk
    self.applicant = applicant
    self.fingerMayRestSince = fingerMayRestSince
    self.shutdowns = shutdowns
    self.clock = clock
    state = Mutex(State(storeLock: lock, opened: held))
  }

  /// The reader that is open.
  var opened: OpenedReader? { state.withLock { $0.opened } }

  /// Whether the finger of the last scan is known to be off the sensor; nil where there was no scan.
  var fingerIsOff: Bool? { state.withLock { $0.lift?.isLifted } }

  /// Waits until no other program of the user has this reader; cancelling the task ends that with `cancelled`.
  ///
  /// - Parameter told: is called once where another program has it.
  func lock(_ wanted: ReaderDescription, told: () -> Void) async throws(VaultError) {
    guard let path = try desk.locks.path(of: wanted) else { return }
    let lock = try await FileLock.awaited(path, told: told)
    state.withLock { $0.readerLock = lock }
  }

  /// Opens the reader, when the finger of the request before has left it.
  func open(_ wanted: ReaderDescription) async throws -> ReaderLease {
    await fingerOff()
    if let opened { return ReaderLease(of: self, on: opened.description, desk.reader) }
    let description = try await desk.reader.open(wanted.id)
    state.withLock { $0.opened = OpenedReader(description: description) }
    return ReaderLease(of: self, on: description, desk.reader)
  }

  /// A finger that still rests on the sensor from the request before, perhaps another program's, must not answer this
  /// one: the last holder left the time of its scan's end where it did not see the finger lifted.
  private func fingerOff() async {
    let noted = state.withLock { $0.noted?.note } ?? 0
    let (end, now) = (max(noted, fingerMayRestSince ?? 0), clock())
    guard end <= now, now - end < FingerLift.assumedAfter else { return }
    try? await Task.sleep(for: .nanoseconds(FingerLift.assumedAfter - (now - end)))
  }

  /// Gives the reader back. The caller does not wait for the device to be closed.
  func end(_ ending: Ending) {
    // Without a scan the time that the last holder left still says all there is to say.
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
  /// What the reader says of itself.
  let description: ReaderDescription
  private let reader: any FingerprintReader
  private let claim: ReaderClaim

  fileprivate init(of claim: ReaderClaim, on description: ReaderDescription, _ reader: any FingerprintReader) {
    self.claim = claim
    self.description = description
    self.reader = reader
  }

  /// The digest of the set whose prints the chip's own list was found to hold.
  var checkedSet: [UInt8]? {
    get { claim.opened?.checkedSet }
    nonmutating set { claim.change { $0?.checkedSet = newValue } }
  }

  /// Watches the finger of the scan that begins now: the next request waits until it has left the sensor.
  func beginScan() -> FingerLift {
    let lift = FingerLift()
    claim.watch(lift)
    return lift
  }

  /// Asks the reader.
  func ask<T>(_ question: (any FingerprintReader) async throws -> T) async throws -> T {
    do {
      return try await question(reader)
    } catch ReaderError.processDied(let how) {
      // Whatever was open is not any more.
      claim.change { $0 = nil }
      throw ReaderError.processDied(how)
    }
  }
}
