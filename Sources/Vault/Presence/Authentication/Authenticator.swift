import GRDB
import Keys
import Primitives
import VaultStore

/// Asks for enrolled fingers, and turns a match into a grant.
package struct Authenticator {
  let readers: ReaderAccess
  let sets: EnrolmentSets
  let fprintd: FprintdSets
  /// The clock for the times of touches.
  let touchClock: @Sendable () -> UInt64

  private var store: Store { readers.store }

  /// An accepted touch, and the reader, which is still held.
  struct AcceptedTouch: ~Copyable {
    let grant: PresenceGrant
    let reader: HeldReader
  }

  /// Waits for an enrolled finger, for up to three touches. Nil if the passcode is to be used instead: the person chose
  /// it, or no finger can be used now.
  func acceptedTouch(
    for goal: TouchGoal, passcodeSuffices: Bool, _ context: Context
  ) async throws(VaultError) -> AcceptedTouch? {
    guard !context.options.interactionNotAllowed else { throw .interactionNotAllowed }
    let store = store
    let passcodeInstead = passcodeSuffices ? try store.read { snapshot in try snapshot.slot(.passcode) != nil } : false
    // If the passcode may not be used instead, the fallback is the caller's own.
    if passcodeInstead || context.options.fallback == .callersAfterNoMatch {
      context.fallback = context.options.fallback == .atOnce ? .offered : .later
    }
    defer { context.fallback = .none }
    do throws(VaultError) {
      let reader = try await readers.take(for: goal.purpose, context, unlessLockedOut: true)
      let presence = try await verifiedPresence(for: goal, reader.lease, context)
      // The reader may report a match before the cancel reaches it.
      try context.requireRunning()
      let grant = try PresenceGrant(consuming: presence, owner: store.owner, now: touchClock())
      if context.options.keepsEvidence {
        context.client.lastMatch = Client.Match(grant: grant.forContexts, at: store.clock.now())
      }
      return AcceptedTouch(grant: grant, reader: reader)
    } catch {
      if case .cancelled = error, context.fallbackIsChosen {
        guard passcodeInstead else { throw .userFallback }
        return nil
      }
      guard passcodeInstead, error.leavesPasscode else { throw error }
      context.events.yield(.fingerUnavailable(error))
      return nil
    }
  }

  private func verifiedPresence(for goal: TouchGoal, _ lease: ReaderLease, _ context: Context)
    async throws(VaultError) -> VerifiedPresence
  {
    let (current, gallery) = try await gallery(for: goal, lease, context)
    var failed = 0
    var unreadable = 0
    var wasLate = false
    while true {
      let request = readers.request(
        for: goal.purpose, on: lease, context, passcodeInstead: context.fallback == .offered)
      try await readers.prompt(for: request, context)
      let nonce = ScanNonce(bytes: randomID())
      let challenge = Challenge(
        owner: store.owner, scope: goal.scope, setDigest: current.digest, generation: current.set.generation,
        gallery: gallery, nonce: nonce, armedAt: touchClock())
      switch try await scan(challenge, on: lease, request, context) {
      case .matched(let answer):
        let presence = try VerifiedPresence(verifying: Touch(answer: answer), for: challenge, now: touchClock())
        try settleMatch(presence.enrolment)
        context.events.yield(.matched)
        return presence
      case .late:
        // Ask for another touch, once. This touch stays charged until the next one matches.
        guard !wasLate else { throw .touchRefused }
        wasLate = true
        context.events.yield(.retry(.general))
      case .retry(let reason):
        context.events.yield(.retry(reason))
        unreadable += 1
        guard unreadable < Lockout.unreadablePerRequest else { throw .unreadableTouches }
      case .noMatch(let beforeLockout):
        failed += 1
        context.events.yield(.noMatch(remaining: min(Lockout.perRequest - failed, beforeLockout)))
        guard failed < Lockout.perRequest else { throw .authenticationFailed }
        // Do not prompt again if the last touch has locked fingers out.
        guard beforeLockout > 0 else { throw .biometryLockout }
        if context.fallback == .later, context.options.fallback != .never { context.fallback = .offered }
      case .fallbackChosen: throw .cancelled
      }
    }
  }

  /// The set to compare a touch with, and its prints.
  private func gallery(for goal: TouchGoal, _ lease: ReaderLease, _ context: Context)
    async throws(VaultError) -> (StoredSet, [EnrolledPrint])
  {
    let bound = goal.bound.filter { $0.requirement.always(.boundFinger) }
    // Checked before this reader's own fingers: a bound item needs its own reader, whether or not this one has fingers.
    let verified = try sets.verified()
    for need in bound {
      let owner = verified.first { $0.set.generation == need.generation }
      guard owner?.set.isOn(lease.description) == true else { throw .differentReader(need.name) }
    }
    guard lease.description.sharesFingers else {
      let current = try sets.enrolled(on: lease.description)
      // A context's touch may open bound items later, so it is checked as strictly as reading one.
      let readingBound = goal.onlyBound || goal.scope == .context
      return (current, try await sets.gallery(of: current, on: lease, readingBound: readingBound, context))
    }
    let (current, prints) = try await fprintd.follow(on: lease, context)
    // Items bound to an earlier set are dead.
    guard bound.allSatisfy({ $0.generation == current.set.generation }) else { throw .setChanged }
    return (current, prints)
  }

  private enum ScanResult {
    case matched(ScanAnswer)
    /// A match that was refused because it came too late.
    case late
    /// With the number of touches that may still fail before fingers are locked out.
    case noMatch(beforeLockout: Int)
    case retry(RetryReason)
    case fallbackChosen
  }

  /// Runs one scan. It is counted as a failure before it starts, and corrected by its result.
  private func scan(
    _ challenge: borrowing Challenge, on lease: ReaderLease, _ request: TouchRequest, _ context: Context
  ) async throws(VaultError) -> ScanResult {
    let (gallery, nonce) = (challenge.gallery, challenge.nonce)
    try await readers.requireAllowed(context)
    try context.requireRunning()
    guard !context.fallbackIsChosen else { return .fallbackChosen }
    try store.commit(charge: true) { change in try change.authority.lockout.arm(nonce.bytes) }
    let finger = lease.beginScan()
    let events = context.events
    let answer: ScanAnswer
    do throws(VaultError) {
      answer = try await context.outcome(of: .finger, within: readers.arming.longestTouch, underGate: readers.gate) {
        try await finger.followed {
          try await lease.ask { reader in
            try await reader.look(for: gallery, on: lease.description, nonce: nonce) { event in
              finger.note(event)
              if case .fingerNeeded = event, !request.awaitsPrompt { events.yield(.touchWanted(request)) }
              if let shown = AuthenticationEvent(event) { events.yield(shown) }
            }
          }
        }
      }
    } catch {
      // Refund the charge only if no finger was there. Otherwise tries would be free: a match is reported sooner than a
      // non-match, so an attacker could cancel in time. A reader process that died may have seen a finger.
      switch error {
      case .reader(.processDied): break
      // Comes before any touch.
      case .reader(.looksForAnyFinger): try settleRefund(nonce)
      default: if !finger.wasThere { try settleRefund(nonce) }
      }
      if case .cancelled = error, context.fallbackIsChosen { return .fallbackChosen }
      throw error
    }
    guard answer.nonce == nonce else {
      try settleFailure(nonce)
      throw .touchRefused
    }
    switch answer.outcome {
    case .match where VerifiedPresence.isLate(answer, for: challenge, now: touchClock()):
      await finger.lifted(within: context.options.timeout)
      return .late
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
  }

  private func settleMatch(_ enrolment: EnrolmentID) throws(VaultError) {
    try store.commit { change in
      change.authority.lockout.matched()
      // Affects only the order of comparison: the print that matched last comes first next time.
      try change.db.execute(
        sql: "UPDATE enrolment SET last_match = 1 + (SELECT max(last_match) FROM enrolment) WHERE id = ?",
        arguments: [enrolment.bytes.data])
    }
  }

  /// Records a failed touch. Returns how many more may fail.
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

extension FingerprintReader {
  /// Identifies the finger among the prints. With a reader that cannot identify and a single print, verifies it
  /// instead.
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
  /// The event for a prompt; nil for retries and stages, which the vault reports itself.
  init?(_ event: ScanEvent) {
    switch event {
    case .fingerPresent: self = .fingerPresent(true)
    case .fingerLifted: self = .fingerPresent(false)
    default: return nil
    }
  }
}

extension VaultError {
  /// The reader could not read any of ``Lockout/unreadablePerRequest`` touches.
  static var unreadableTouches: VaultError {
    .reader(.device("it could not read \(Lockout.unreadablePerRequest) touches"))
  }

  /// Whether the passcode may take the finger's place after this error.
  fileprivate var leavesPasscode: Bool {
    switch self {
    case .authenticationFailed, .biometryLockout, .notEnrolled, .fingersNotAccepted, .printsGone, .reader,
      .storeDamaged, .sessionRefused:
      true
    default: false
    }
  }
}
