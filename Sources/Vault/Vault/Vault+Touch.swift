import Executors
import Fingerprint
import GRDB
import Keys
import SecureMemory
import Synchronization

extension Vault {
  /// Waits for an enrolled finger, up to three touches, and runs `body` with it while the reader is still open. Nil when
  /// the passcode is to be used in its place: because the person chose it, or because no finger can be used now.
  func byTouch<T: Sendable>(
    _ touching: Touching, passcodeSuffices: Bool, _ context: Context,
    _ body: (PresenceGrant) throws(VaultError) -> T
  ) async throws(VaultError) -> T? {
    guard !context.options.interactionNotAllowed else { throw .interactionNotAllowed }
    let passcodeInstead = passcodeSuffices ? try passcodeIsSet() : false
    // Without a passcode in the finger's place, the fallback is the caller's own.
    context.fallbackExists = passcodeInstead || context.options.fallback == .callersAfterNoMatch
    context.fallbackOffered = context.fallbackExists && context.options.fallback == .atOnce
    defer { (context.fallbackExists, context.fallbackOffered) = (false, false) }
    do throws(VaultError) {
      return try await withReader(for: touching.purpose, context, unlessLockedOut: true) {
        lease throws(VaultError) in
        guard let presence = try await self.touches(touching, lease, context) else { return nil }
        // The reader may find a match before it hears of the end.
        try Self.requireRunning(context)
        let grant = try PresenceGrant(consuming: presence, owner: self.store.owner, now: self.touchClock())
        if context.options.keepsEvidence {
          context.client.lastMatch = Client.Match(grant: grant.forContexts, at: self.store.clock.now())
        }
        return try body(grant)
      }
    } catch {
      if case .cancelled = error, context.fallbackChosen, !context.cancelled {
        guard passcodeInstead else { throw .userFallback }
        return nil
      }
      guard passcodeInstead, error.leavesPasscode else { throw error }
      context.events.yield(.fingerUnavailable(error))
      return nil
    }
  }

  private func touches(_ touching: Touching, _ lease: ReaderLease, _ context: Context)
    async throws(VaultError) -> VerifiedPresence?
  {
    let reader = lease.description
    // Asked before whether this reader has fingers at all: for a bound item it is the wrong reader either way.
    let sets = try verifiedSets()
    for item in touching.bound where item.requirement.always(.boundFinger) {
      let owner = sets.first { $0.set.generation == item.row.generation }
      guard owner?.set.reader == reader.identity, owner?.set.nature == reader.nature else {
        throw .differentReader(item.record.name)
      }
    }
    let current: StoredSet
    let gallery: [EnrolledPrint]
    // A context's touch may open bound items later: it is as strict as reading one.
    let bound = touching.onlyBound || touching.scope == .context
    if reader.identity.isFprintd {
      (current, gallery) = try await fprintdSet(on: lease, context)
      // What was bound to the set before is dead.
      for item in touching.bound where item.requirement.always(.boundFinger) {
        guard item.row.generation == current.set.generation else { throw .setChanged }
      }
    } else {
      current = try enrolled(on: reader)
      gallery = try await self.gallery(of: current, on: lease, readingBound: bound, context)
    }
    var failed = 0
    while true {
      let request = TouchRequest(
        purpose: touching.purpose, reader: reader, passcodeInstead: context.fallbackOffered)
      let nonce = ScanNonce(bytes: randomID())
      let challenge = Challenge(
        owner: store.owner, scope: touching.scope, setDigest: current.digest, generation: current.set.generation,
        gallery: gallery, nonce: nonce, armedAt: touchClock())
      switch try await scan(challenge.gallery, on: lease, nonce, request, context) {
      case .matched(let answer):
        let presence = try VerifiedPresence(verifying: Touch(answer: answer), for: challenge, now: touchClock())
        try settleMatch(presence.enrolment)
        context.events.yield(.matched)
        return presence
      case .retry(let reason):
        context.events.yield(.retry(reason))
      case .noMatch(let beforeLockout):
        failed += 1
        context.events.yield(.noMatch(remaining: min(Lockout.perRequest - failed, beforeLockout)))
        guard failed < Lockout.perRequest else { throw .authenticationFailed }
        context.fallbackOffered = context.fallbackExists && context.options.fallback != .never
      case .fallbackChosen:
        throw .cancelled
      }
    }
  }

  private enum ScanResult {
    case matched(ScanAnswer)
    /// And as many more may fail before fingers are locked out.
    case noMatch(beforeLockout: Int)
    case retry(RetryReason)
    case fallbackChosen
  }

  /// One armed scan, charged before it starts and settled by how it ended.
  private func scan(
    _ gallery: [EnrolledPrint], on lease: ReaderLease, _ nonce: ScanNonce, _ request: TouchRequest,
    _ context: Context
  ) async throws(VaultError) -> ScanResult {
    try await requireAllowed(context)
    guard !context.cancelled, !Task.isCancelled else { throw .cancelled }
    guard !context.fallbackChosen else { return .fallbackChosen }
    try store.commit(charge: true) { change in try change.authority.lockout.arm(nonce.bytes) }
    let finger = lease.beginScan()
    let armed = Task(executorPreference: BackgroundThread.shared) { [events = context.events] in
      try await lease.ask { reader in
        try await reader.look(for: gallery, on: lease.description, nonce: nonce) { event in
          finger.note(event)
          if case .fingerNeeded = event { events.yield(.touchWanted(request)) }
          if let shown = AuthenticationEvent(event) { events.yield(shown) }
        }
      }
    }
    let result = await whileAllowed(armed, context)
    switch result {
    case .success(let answer) where answer.nonce != nonce:
      try settleFailure(nonce)
      throw .touchRefused
    case .success(let answer):
      switch answer.outcome {
      case .match: return .matched(answer)
      case .retry(let reason):
        try settleRefund(nonce)
        await finger.lifted(within: context.options.timeout)
        return .retry(reason)
      case .noMatch:
        let beforeLockout = try settleFailure(nonce)
        await finger.lifted(within: context.options.timeout)
        return .noMatch(beforeLockout: beforeLockout)
      }
    case .failure(let error):
      // Nobody has learnt anything where no finger was seen. Once one was, ending the scan in time would make tries
      // free: a match is found sooner than it is ruled out. A reader that died may have seen one.
      let failure = failure(error, context)
      if case .reader(.processDied) = failure {} else if !finger.wasSeen { try settleRefund(nonce) }
      if case .cancelled = failure, context.fallbackChosen, !context.cancelled { return .fallbackChosen }
      throw failure
    }
  }

  /// Refuses where the state of the caller's login session forbids to ask for a finger.
  func requireAllowed(_ context: Context) async throws(VaultError) {
    if let refusal = await gate.refusal(for: context.client.caller) { throw .sessionRefused(refusal) }
  }

  /// Waits for an action that has armed the reader, and ends it when the caller's session does not allow it any more.
  func whileAllowed<T: Sendable>(_ action: Task<T, any Error>, _ context: Context, _ activity: Activity? = nil) async
    -> Result<T, any Error>
  {
    let refused = RefusedMeanwhile()
    let watch = Task(executorPreference: BackgroundThread.shared) { [gate, caller = context.client.caller] in
      let refusal = await gate.untilRefused(for: caller)
      guard !Task.isCancelled else { return }
      refused.note(refusal)
      action.cancel()
    }
    defer { watch.cancel() }
    let result = await ended(action, context, activity)
    guard let refusal = refused.reason, !context.cancelled, case .failure(let error) = result else { return result }
    switch error {
    case ReaderError.cancelled, VaultError.cancelled: return .failure(VaultError.sessionRefused(refusal))
    default: return result
    }
  }

  /// Waits for an action of the reader, which the context can cancel, and which its timeout ends when nothing has
  /// happened for so long.
  func ended<T: Sendable>(_ action: Task<T, any Error>, _ context: Context, _ activity: Activity? = nil) async
    -> Result<T, any Error>
  {
    context.scanCancel = { action.cancel() }
    // Cancelled between the last look and now: nobody else will tell the action.
    if context.cancelled || Task.isCancelled { action.cancel() }
    let timer = context.options.timeout.map { IdleTimer($0, activity ?? Activity()) { action.cancel() } }
    let result = await action.result
    timer?.cancel()
    context.scanCancel = nil
    guard case .failure(let error) = result, timer?.hasExpired == true else { return result }
    guard !context.cancelled, !Task.isCancelled, !context.fallbackChosen else { return result }
    switch error {
    case ReaderError.cancelled, VaultError.cancelled: return .failure(VaultError.timedOut)
    default: return result
    }
  }

  private func settleMatch(_ enrolment: EnrolmentID) throws(VaultError) {
    try store.commit { change in
      change.authority.lockout.matched()
      // Only an order of trying: the most recently matched comes first next time.
      try change.db.execute(
        sql: "UPDATE enrolment SET last_match = 1 + (SELECT max(last_match) FROM enrolment) WHERE id = ?",
        arguments: [enrolment.bytes.data])
    }
  }

  /// Gives back how many more may fail.
  @discardableResult
  private func settleFailure(_ nonce: ScanNonce) throws(VaultError) -> Int {
    try store.commit { change in
      change.authority.lockout.failed(nonce.bytes)
      return change.authority.lockout.remaining
    }
  }

  private func settleRefund(_ nonce: ScanNonce) throws(VaultError) {
    try store.commit { change in change.authority.lockout.refund(nonce.bytes) }
  }
}

/// Why a session does not allow any more what is being waited for.
private final class RefusedMeanwhile: Sendable {
  private let state = Mutex<SessionRefusal?>(nil)

  var reason: SessionRefusal? { state.withLock { $0 } }
  func note(_ refusal: SessionRefusal) { state.withLock { $0 = refusal } }
}

extension FingerprintReader {
  /// Identification, or verification where there is one print: also for a reader that can do nothing else.
  func look(
    for prints: [EnrolledPrint], on reader: ReaderDescription, nonce: ScanNonce, observer: @escaping ScanObserver
  ) async throws(ReaderError) -> ScanAnswer {
    if !reader.features.contains(.identify), prints.count == 1 {
      return try await verify(prints[0], nonce: nonce, observer: observer)
    }
    return try await identify(prints, nonce: nonce, observer: observer)
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
    case .authenticationFailed, .biometryLockout, .notEnrolled, .fingersNotAccepted, .printsGone, .reader,
      .storeDamaged, .sessionRefused:
      true
    default: false
    }
  }
}
