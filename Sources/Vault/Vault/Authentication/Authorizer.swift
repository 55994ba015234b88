import Fingerprint
import Glibc
import Keys
import SecureMemory

/// Obtains what items and policies require: fingers, the passcode, application passwords.
struct Authorizer {
  let authenticator: Authenticator
  let passcodes: Passcodes
  let passwords: ApplicationPasswords

  private var store: Store { passcodes.store }
  private var fprintd: FprintdSets { authenticator.fprintd }

  /// Runs `body` with the evidence that the items require: from the context, and asked for now. `body` checks
  /// everything again. It runs while the reader is still open, so that the caller does not wait for it to close.
  func authorized<T: Sendable>(
    _ wanted: [WantedItem], reason: String?, _ context: Context,
    _ body: ([WantedItem], Evidence) throws(VaultError) -> T
  ) async throws(VaultError) -> T {
    let given = try await passwords.given(for: wanted, context)
    let purpose = TouchRequest.Purpose.read(items: wanted.map(\.record.name), reason: reason)
    let scope: Challenge.Scope =
      context.options.keepsEvidence ? .context : .items(wanted.map(\.row.reference))
    let touching = Touching(
      purpose: purpose, scope: scope, bound: wanted.filter { $0.requirement.mentions(.boundFinger) },
      onlyBound: wanted.contains { $0.requirement.always(.boundFinger) })
    let plan = { (evidence: Evidence) in
      AuthenticationPlan(wanted.filter { !$0.isSatisfied(by: evidence) }.map(\.requirement))
    }
    guard given.contains(where: { $0 != nil }) else {
      return try await gathering(touching, context, plan: plan) { evidence throws(VaultError) in
        try context.requireRunning()
        return try body(wanted, evidence)
      }
    }
    let evidence = try await gathering(touching, context, plan: plan) { evidence throws(VaultError) in evidence }
    try context.requireRunning()
    let items = try await passwords.unlocked(wanted, with: given, evidence)
    try context.requireRunning()
    return try body(items, evidence)
  }

  /// Evaluates a policy or an access control. The evidence serves the context's later calls and releases nothing by
  /// itself.
  func evaluate(_ proof: Proof, reason: String?, _ context: Context) async throws(VaultError) -> Evidence {
    let requirement = try await requirement(of: proof, reason, context)
    // Restored fingers and passcodes satisfy nothing before the restore is accepted.
    let passcodeSet = try store.read { moment in
      guard !moment.authority.restored else { throw VaultError.restoreDetected }
      return try moment.slot(.passcode) != nil
    }
    // The device owner's policy needs a passcode, too: it may take the finger's place.
    guard passcodeSet || !(requirement.always(.passcode) || proof == .policy(.deviceOwner)) else {
      throw .passcodeNotSet
    }
    return try await evaluate(requirement, reason, context)
  }

  /// Asks for an enrolled finger, to authenticate the owner to a login program. The match is used for no item and no
  /// later call.
  ///
  /// - Throws: `authenticationFailed` where no touch matched, `restoreDetected` where an earlier copy of the store was
  ///   put back.
  func verifyForLogin(_ context: Context) async throws(VaultError) {
    try store.read { moment in
      guard !moment.authority.restored else { throw VaultError.restoreDetected }
    }
    let touching = Touching(purpose: .evaluate(reason: nil), scope: .items([]), bound: [], onlyBound: false)
    let match: PresenceGrant? = try await authenticator.byTouch(touching, passcodeSuffices: false, context) { $0 }
    guard match != nil else { throw .authenticationFailed }
  }

  private func requirement(of proof: Proof, _ reason: String?, _ context: Context) async throws(VaultError)
    -> Requirement
  {
    switch proof {
    case .policy(.biometrics): return Requirement(AccessControl(.anyFinger))
    case .policy(.deviceOwner): return Requirement(AccessControl(.presence))
    case .access(let access):
      if access.applicationPassword, context.applicationPassword == nil {
        let name = ItemName(unchecked: reason ?? "this item", account: "")
        guard let password = try await context.ask(.applicationPassword(name)) else { throw .interactionNotAllowed }
        context.applicationPassword = password
      }
      return Requirement(access)
    }
  }

  private func evaluate(_ requirement: Requirement, _ reason: String?, _ context: Context) async throws(VaultError)
    -> Evidence
  {
    let touching = Touching(
      purpose: .evaluate(reason: reason), scope: .context, bound: [], onlyBound: requirement.always(.boundFinger))
    return try await gathering(touching, context) { evidence in
      let satisfied = requirement.alternatives.contains { alternative in
        alternative.allSatisfy { factor in
          switch factor {
          case .finger: evidence.grant != nil
          case .boundFinger: evidence.grant.map { !$0.isReused } ?? false
          case .passcode, .passcodeGate: evidence.passcode != nil
          }
        }
      }
      return AuthenticationPlan(satisfied ? [] : [requirement])
    } then: { evidence throws(VaultError) in
      try context.requireRunning()
      return evidence
    }
  }

  /// Asks for what the plan still lacks: the passcode if nothing else is enough, else a finger first.
  private func gathering<T: Sendable>(
    _ touching: Touching, _ context: Context, plan: (Evidence) -> AuthenticationPlan,
    then body: (Evidence) throws(VaultError) -> T
  ) async throws(VaultError) -> T {
    var evidence = try store.read { moment in try Evidence(of: context, at: moment) }
    if let grant = evidence.grant, try await !fprintd.stillHolds(grant) { evidence.grant = nil }
    var open = plan(evidence)
    let preferred = context.options.preferPasscode && open.passcodeSuffices && !open.isSatisfied
    if evidence.passcode == nil, open.needsPasscode || preferred {
      evidence.passcode = try await passcodes.prove(context)
      // Keep only the passcode, which was given now. A reused match must not become the context's own.
      context.keep(Evidence(passcode: evidence.passcode))
      open = plan(evidence)
    }
    guard !open.isSatisfied else { return try body(evidence) }
    let shown = evidence
    let answer = try await authenticator.byTouch(touching, passcodeSuffices: open.passcodeSuffices, context) {
      grant throws(VaultError) in
      var evidence = shown
      evidence.grant = grant
      store.classKeys.noteFinger(store.clock)
      context.keep(Evidence(grant: grant))
      return try body(evidence)
    }
    if let answer { return answer }
    evidence.passcode = try await passcodes.prove(context)
    context.keep(Evidence(passcode: evidence.passcode))
    return try body(evidence)
  }
}

extension Shown {
  /// What a context has shown; nothing without a context.
  init(in context: Context?, at moment: Moment) throws {
    guard let context else { return }
    evidence = try Evidence(of: context, at: moment)
    hasApplicationPassword = context.applicationPassword != nil
  }
}

extension Evidence {
  /// The context's evidence that is still valid: the set and the passcode have not changed since. Adds a recent match
  /// of the client if the context accepts one and biometry is not locked out.
  init(of context: Context, at moment: Moment) throws {
    guard context.options.keepsEvidence else { return }
    self = context.evidence
    if grant == nil, !moment.authority.lockout.lockedOut { grant = context.recentMatch(moment.store.clock) }
    if let shown = grant, try moment.set(of: shown) == nil { grant = nil }
    if let shown = passcode, try moment.slot(.passcode)?.digest() != shown.slot { passcode = nil }
  }
}

extension Context {
  /// The client's last match, if it is recent enough for the context.
  fileprivate func recentMatch(_ clock: BootClock) -> PresenceGrant? {
    guard options.reuseDuration > .zero, let match = client.lastMatch else { return nil }
    let age = Duration.nanoseconds(Int64(clamping: clock.now() &- match.at))
    guard age >= .zero, age <= min(options.reuseDuration, ContextOptions.longestReuse) else { return nil }
    return match.grant.reused
  }
}

/// What a touch is asked for.
struct Touching {
  var purpose: TouchRequest.Purpose
  var scope: Challenge.Scope
  /// Items that a finger of their bound set can open.
  var bound: [WantedItem]
  /// Whether something can be opened in no other way.
  var onlyBound: Bool
}
