import Fingerprint
import GRDB
import Glibc
import Keys
import SecureMemory
import Synchronization

/// The reader as it is open now.
struct OpenedReader {
  var description: ReaderDescription
  /// The chip's own list was compared with the store's prints since the reader was opened.
  var chipChecked = false
  var missingOnChip: Set<EnrolmentID> = []
}

extension Vault {
  /// Waits for an enrolled finger, up to three touches. Nil when the passcode is to be used in its place: because the
  /// person chose it, or because no finger can be used now.
  func presence(for wanted: [WantedItem], _ plan: ReadingPlan, _ reason: String?, _ context: Context)
    async throws(VaultError) -> VerifiedPresence?
  {
    guard !context.options.interactionNotAllowed else { throw .interactionNotAllowed }
    let store = store
    let (lockedOut, passcodeSet) = try store.read { db, authority in
      (authority.lockout.lockedOut, try store.slot(.passcode, db, authority) != nil)
    }
    let passcodeInstead = plan.passcodeSuffices && passcodeSet
    context.passcodeOffered = passcodeInstead
    defer { context.passcodeOffered = false }
    do throws(VaultError) {
      guard !lockedOut else { throw .biometryLockout }
      return try await withReader(context) { reader throws(VaultError) in
        try await self.touches(for: wanted, reason, passcodeInstead, reader, context)
      }
    } catch {
      if case .cancelled = error, context.passcodeChosen { return nil }
      guard passcodeInstead, error.leavesPasscode else { throw error }
      context.events.yield(.fingerUnavailable(error))
      return nil
    }
  }

  private func touches(
    for wanted: [WantedItem], _ reason: String?, _ passcodeInstead: Bool, _ reader: ReaderDescription,
    _ context: Context
  ) async throws(VaultError) -> VerifiedPresence? {
    let request = TouchRequest(
      purpose: .read(items: wanted.map(\.name), reason: reason), reader: reader, passcodeInstead: passcodeInstead)
    let current = try await enrolled(on: reader)
    for item in wanted where item.access.constraint == .currentSet {
      guard item.row.generation == current.set.generation else { throw .differentReader(item.name) }
    }
    let readingBound = wanted.contains { $0.access.constraint == .currentSet }
    let gallery = try await gallery(of: current, on: reader, readingBound: readingBound, context)
    var failed = 0
    while true {
      let nonce: ScanNonce
      do {
        nonce = ScanNonce(bytes: try Random.bytes(16))
      } catch {
        throw VaultError(keys: error)
      }
      let challenge = Challenge(
        owner: store.owner, operation: .read, scope: .init(items: wanted.map(\.row.reference)),
        setDigest: current.digest, generation: current.set.generation, gallery: gallery, nonce: nonce,
        armedAt: nanoseconds(of: CLOCK_MONOTONIC))
      switch try await scan(challenge.gallery, nonce, request, context) {
      case .matched(let answer):
        let presence = try VerifiedPresence(verifying: Touch(answer: answer), for: challenge)
        try settleMatch(presence.enrolment)
        context.events.yield(.matched)
        return presence
      case .retry(let reason):
        context.events.yield(.retry(reason))
      case .noMatch:
        failed += 1
        context.events.yield(.noMatch(remaining: Lockout.perRequest - failed))
        guard failed < Lockout.perRequest else { throw .authenticationFailed }
      case .passcodeChosen:
        return nil
      }
    }
  }

  private enum ScanResult {
    case matched(ScanAnswer)
    case noMatch
    case retry(RetryReason)
    case passcodeChosen
  }

  /// One armed scan, charged before it starts and settled by how it ended.
  private func scan(
    _ gallery: [EnrolledPrint], _ nonce: ScanNonce, _ request: TouchRequest, _ context: Context
  ) async throws(VaultError) -> ScanResult {
    guard !context.cancelled, !Task.isCancelled else { throw .cancelled }
    guard !context.passcodeChosen else { return .passcodeChosen }
    try store.commit { _, authority in try authority.lockout.arm(nonce.bytes) }
    let finger = FingerWatch()
    let armed: Task<ScanAnswer, any Error> = Task { [reader, events = context.events] in
      try await reader.identify(gallery, nonce: nonce) { event in
        finger.note(event)
        if case .fingerNeeded = event { events.yield(.touchWanted(request)) }
        if let shown = AuthenticationEvent(event) { events.yield(shown) }
      }
    }
    let result = await ended(armed, context)
    switch result {
    case .success(let answer) where answer.nonce != nonce:
      try settleFailure(nonce)
      throw .touchRefused
    case .success(let answer):
      switch answer.outcome {
      case .match: return .matched(answer)
      case .retry(let reason):
        try settleRefund(nonce)
        await finger.lifted()
        return .retry(reason)
      case .noMatch:
        try settleFailure(nonce)
        await finger.lifted()
        return .noMatch
      }
    case .failure(let error):
      let error = error as? ReaderError ?? .device("\(type(of: error))")
      // A reader that died may have seen a finger: its charge stays.
      if case .processDied = error {
        forgetReader()
      } else {
        try settleRefund(nonce)
      }
      guard case .cancelled = error else { throw .reader(error) }
      if context.cancelled || Task.isCancelled { throw .cancelled }
      if context.passcodeChosen { return .passcodeChosen }
      throw context.timedOut ? .timedOut : .cancelled
    }
  }

  /// Waits for an action of the reader, which the context can cancel and its timeout ends.
  func ended<T>(_ action: Task<T, any Error>, _ context: Context) async -> Result<T, any Error> {
    context.timedOut = false
    context.scanCancel = { action.cancel() }
    // Cancelled between the last look and now: nobody else will tell the action.
    if context.cancelled || Task.isCancelled { action.cancel() }
    let watch = context.options.timeout.map { timeout in
      Task {
        try await Task.sleep(for: timeout)
        self.expire(context)
      }
    }
    let result = await action.result
    watch?.cancel()
    context.scanCancel = nil
    return result
  }

  private func expire(_ context: Context) {
    context.timedOut = true
    context.scanCancel?()
  }

  private func settleMatch(_ enrolment: EnrolmentID) throws(VaultError) {
    try store.commit { db, authority in
      authority.lockout.matched()
      // Only an order of trying: the most recently matched comes first next time.
      try db.execute(
        sql: "UPDATE enrolment SET last_match = 1 + (SELECT max(last_match) FROM enrolment) WHERE id = ?",
        arguments: [enrolment.bytes.data])
    }
  }

  private func settleFailure(_ nonce: ScanNonce) throws(VaultError) {
    try store.commit { _, authority in authority.lockout.failed(nonce.bytes) }
  }

  private func settleRefund(_ nonce: ScanNonce) throws(VaultError) {
    try store.commit { _, authority in authority.lockout.refund(nonce.bytes) }
  }
}

/// Knows whether the finger has left the sensor, so that the next scan is armed after it.
private final class FingerWatch: Sendable {
  private struct State {
    var seen = false
    var lifted = false
  }

  private let state = Mutex(State())

  func note(_ event: ScanEvent) {
    state.withLock {
      switch event {
      case .fingerPresent: ($0.seen, $0.lifted) = (true, false)
      case .fingerLifted: $0.lifted = true
      default: break
      }
    }
  }

  /// Returns when the finger has been lifted, or after a second where the reader cannot tell.
  func lifted() async {
    for _ in 0..<50 {
      if state.withLock({ $0.seen && $0.lifted }) { return }
      try? await Task.sleep(for: .milliseconds(20))
    }
  }
}

extension AuthenticationEvent {
  /// What a listener is shown of a scan; the vault itself tells of retries and stages where they count.
  init?(_ event: ScanEvent) {
    switch event {
    case .fingerPresent: self = .fingerPresent(true)
    case .fingerLifted: self = .fingerPresent(false)
    default: return nil
    }
  }
}

extension VaultError {
  /// Whether the passcode may take the finger's place after this.
  fileprivate var leavesPasscode: Bool {
    switch self {
    case .authenticationFailed, .biometryLockout, .notEnrolled, .chipListMismatch, .reader: true
    default: false
    }
  }
}
