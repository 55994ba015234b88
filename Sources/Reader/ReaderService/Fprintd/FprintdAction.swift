internal import Primitives
internal import SDBus

/// One verification or enrolment that fprintd carries out. It is used on the bus loop.
///
/// `@unchecked Sendable`: everything but constants is used only on the bus loop, which every method asserts.
final class FprintdAction: @unchecked Sendable {
  enum Kind {
    case verify, enroll

    var start: String { self == .verify ? "VerifyStart" : "EnrollStart" }
    var stop: String { self == .verify ? "VerifyStop" : "EnrollStop" }
    fileprivate var statusSignal: String { self == .verify ? "VerifyStatus" : "EnrollStatus" }
  }

  /// A status that fprintd has signalled.
  struct Status: Sendable {
    var word: FprintdStatus
    /// The finger that fprintd reported to look for.
    var selected: String?
    /// When the signal arrived, by `ScanClock`.
    var at: UInt64
  }

  enum End: Sendable {
    case status(Status)
    case failed(ReaderError)
    case cancelled
    case suspended

    /// The status of fprintd, or why there is none.
    var status: Status {
      get throws(ReaderError) {
        switch self {
        case .status(let status): return status
        case .failed(let error): throw error
        case .cancelled: throw .cancelled
        case .suspended: throw .suspended
        }
      }
    }

    /// Whether a finger must have been on the sensor.
    var showsTouch: Bool {
      guard case .status(let status) = self else { return false }
      return switch status.word {
      case .match, .noMatch, .retry, .stagePassed, .completed: true
      case .failed: false
      }
    }

    /// Whether the reader can be used for another action without being released first.
    var leavesReaderUsable: Bool {
      switch self {
      case .cancelled, .failed(.looksForAnyFinger): true
      case .status(let status): if case .failed = status.word { false } else { true }
      case .failed, .suspended: false
      }
    }
  }

  let kind: Kind
  private let search: FprintdSearch?
  private let isLast: @Sendable (FprintdStatus) -> Bool
  private var selected: String?
  private var hasBegun = false
  /// Whether fprintd has said that it is done with the action, which may be after the end here.
  private var isDone = false
  private var outcome: End?
  private var isFinished = false
  private var waiting: CheckedContinuation<End, Never>?
  private var waitingForFinish: [CheckedContinuation<Void, Never>] = []

  /// - Parameters:
  ///   - search: what a verification looks for. It ends at once, before any touch, if fprintd looks for something else.
  ///   - isLast: returns whether this status ends the action.
  init(_ kind: Kind, for search: FprintdSearch? = nil, isLast: @escaping @Sendable (FprintdStatus) -> Bool) {
    self.kind = kind
    self.search = search
    self.isLast = isLast
  }

  /// Called before fprintd is asked to start the action. Earlier signals belong to another one.
  func begin() { hasBegun = true }

  /// Handles a signal of the device.
  func receive(_ member: String, _ arguments: [BusValue]) {
    BusLoop.shared.checkIsolated()
    guard hasBegun, let word = arguments.first?.asString else { return }
    if member == kind.statusSignal, arguments.count > 1, arguments[1].asBoolean == true { isDone = true }
    guard outcome == nil else { return }
    switch member {
    case "VerifyFingerSelected":
      selected = word
      do throws(ReaderError) { _ = try search?.print(ifLookingFor: word) } catch { end(.failed(error)) }
    case kind.statusSignal:
      let status = kind == .verify ? FprintdStatus(verify: word) : FprintdStatus(enroll: word)
      guard isLast(status) else { return }
      end(.status(Status(word: status, selected: selected, at: ScanClock.now())))
    default: return
    }
  }

  /// Ends the action. Later ends, and later signals of fprintd, are ignored.
  func end(_ end: End) {
    BusLoop.shared.checkIsolated()
    guard outcome == nil else { return }
    outcome = end
    waiting?.resume(returning: end)
    waiting = nil
  }

  /// Whether it has ended, which it can before it was started.
  var hasEnded: Bool { endedBefore != nil }

  var endedBefore: End? {
    BusLoop.shared.checkIsolated()
    return outcome
  }

  nonisolated(nonsending) func ended() async -> End {
    BusLoop.shared.checkIsolated()
    // The loop may run other work before this body, so the body checks the state itself.
    return await withCheckedContinuation { continuation in
      if let outcome { continuation.resume(returning: outcome) } else { waiting = continuation }
    }
  }

  /// Waits half a second for the last status of a stopped action. open-fprintd first answers the call that stops it, then
  /// stops it and reports "no match", which must not be taken for the answer to the next scan.
  nonisolated(nonsending) func lastStatus() async {
    for _ in 1...25 {
      BusLoop.shared.checkIsolated()
      guard !isDone else { return }
      try? await Pause.wait(for: .milliseconds(20))
    }
  }

  /// Records that fprintd has stopped the action.
  func finish() {
    isFinished = true
    for continuation in waitingForFinish { continuation.resume() }
    waitingForFinish = []
  }

  nonisolated(nonsending) func over() async {
    BusLoop.shared.checkIsolated()
    await withCheckedContinuation { continuation in
      if isFinished { continuation.resume() } else { waitingForFinish.append(continuation) }
    }
  }
}

/// Counts the stages of an enrolment that have passed.
///
/// `@unchecked Sendable`: used only by signal handlers, which run on the bus loop.
final class StageCount: @unchecked Sendable {
  private var count = 0

  /// The event for a status in the middle of an enrolment; nil for a status that ends it. The last stage is reported
  /// when fprintd has stored the print.
  func event(of status: FprintdStatus, below stages: Int) -> ScanEvent? {
    BusLoop.shared.checkIsolated()
    switch status {
    case .stagePassed:
      count = min(count + 1, max(stages - 1, 1))
      return .stage(completed: count, of: stages)
    case .retry(let reason): return .retry(reason)
    default: return nil
    }
  }
}
