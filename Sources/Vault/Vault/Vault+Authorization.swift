import Fingerprint
import Glibc
import Keys
import SecureMemory

extension Vault {
  /// Runs `body` with what the items ask for: what the context was satisfied with before, and what is asked for now.
  /// `body` looks at everything again; it runs while the reader is still open, so that nobody waits for its closing.
  func authorized<T: Sendable>(
    _ wanted: [WantedItem], _ request: Request,
    _ body: ([WantedItem], Evidence) throws(VaultError) -> T
  ) async throws(VaultError) -> T {
    guard wanted.contains(where: { !$0.isOpen }) else { return try body(wanted, Evidence()) }
    return try await asking(request) { context throws(VaultError) in
      let passwords = try await self.applicationPasswords(of: wanted, context)
      let purpose = TouchRequest.Purpose.read(items: wanted.map(\.record.name), reason: request.asking.reason)
      let scope: Challenge.Scope =
        context.options.keepsEvidence ? .context : .items(wanted.map(\.row.reference))
      let touching = Touching(
        purpose: purpose, scope: scope, bound: wanted.filter { $0.requirement.mentions(.boundFinger) },
        onlyBound: wanted.contains { $0.requirement.always(.boundFinger) })
      let plan = { (evidence: Evidence) in
        AuthenticationPlan(wanted.filter { !$0.isSatisfied(by: evidence) }.map(\.requirement))
      }
      guard passwords.contains(where: { $0 != nil }) else {
        return try await self.gathering(touching, context, plan: plan) { evidence throws(VaultError) in
          try context.requireRunning()
          return try body(wanted, evidence)
        }
      }
      let evidence = try await self.gathering(touching, context, plan: plan) { evidence throws(VaultError) in evidence }
      try context.requireRunning()
      let items = try await self.unlocked(wanted, with: passwords, evidence)
      try context.requireRunning()
      return try body(items, evidence)
    }
  }

  /// Shows that a policy or an access control holds: for the context's later calls, and for nothing by itself. Gives the
  /// digest of the enrolment set at that moment.
  func evaluate(_ proof: Proof, _ request: Request) async throws(VaultError) -> [UInt8]? {
    let evidence = try await asking(request) { context throws(VaultError) in
      let requirement = try await self.requirement(of: proof, request.asking.reason, context)
      // Fingers and passcode of another day satisfy nothing before they are accepted.
      let passcodeSet = try self.store.read { moment in
        guard !moment.authority.restored else { throw VaultError.restoreDetected }
        return try moment.slot(.passcode) != nil
      }
      // In place of the finger, too, under the policy of the device's owner.
      guard passcodeSet || !(requirement.always(.passcode) || proof == .policy(.deviceOwner)) else {
        throw .passcodeNotSet
      }
      return try await self.evaluate(requirement, request.asking.reason, context)
    }
    if let grant = evidence.grant { return grant.setDigest }
    // It was shown that the person is there; what cannot be read of the reader now does not change that.
    return try? await biometry().state
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
        guard let password = try await ask(.applicationPassword(name), context) else { throw .interactionNotAllowed }
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

  /// Asks for what the plan still lacks: the passcode where nothing else will do, else a finger first.
  private func gathering<T: Sendable>(
    _ touching: Touching, _ context: Context, plan: (Evidence) -> AuthenticationPlan,
    then body: (Evidence) throws(VaultError) -> T
  ) async throws(VaultError) -> T {
    var evidence = try store.read { moment in try moment.evidence(of: context) }
    if let grant = evidence.grant, try await !fprintd.stillHolds(grant) { evidence.grant = nil }
    var open = plan(evidence)
    let preferred = context.options.preferPasscode && open.passcodeSuffices && !open.isSatisfied
    if evidence.passcode == nil, open.needsPasscode || preferred {
      evidence.passcode = try await provePasscode(context)
      // What was shown now: a match of the last seconds that is reused here stays one of those.
      context.keep(Evidence(passcode: evidence.passcode))
      open = plan(evidence)
    }
    guard !open.isSatisfied else { return try body(evidence) }
    let shown = evidence
    let answer = try await authenticator.byTouch(touching, passcodeSuffices: open.passcodeSuffices, context) {
      grant throws(VaultError) in
      var evidence = shown
      evidence.grant = grant
      self.store.classKeys.noteFinger(self.store.clock)
      context.keep(Evidence(grant: grant))
      return try body(evidence)
    }
    if let answer { return answer }
    evidence.passcode = try await provePasscode(context)
    context.keep(Evidence(passcode: evidence.passcode))
    return try body(evidence)
  }
}

extension Moment {
  /// What a context, where there is one, has to show without asking anybody.
  func shown(in context: Context?) throws -> Shown {
    guard let context else { return Shown() }
    return Shown(
      evidence: try evidence(of: context), hasApplicationPassword: context.applicationPassword != nil)
  }

  /// What the context has been satisfied with, as far as it still holds: the set is the one of then, the passcode the
  /// one of then; and, where the context accepts it and biometry is not locked out, a match of the last seconds.
  func evidence(of context: Context) throws -> Evidence {
    guard context.options.keepsEvidence else { return Evidence() }
    var evidence = context.evidence
    if evidence.grant == nil, !authority.lockout.lockedOut { evidence.grant = reusable(in: context) }
    if let grant = evidence.grant, try set(of: grant) == nil { evidence.grant = nil }
    if let passcode = evidence.passcode, try slot(.passcode)?.digest() != passcode.slot { evidence.passcode = nil }
    return evidence
  }

  /// The client's last match, where it is recent enough for the context.
  private func reusable(in context: Context) -> PresenceGrant? {
    guard context.options.reuseDuration > .zero, let match = context.client.lastMatch else { return nil }
    let age = Duration.nanoseconds(Int64(clamping: store.clock.now() &- match.at))
    guard age >= .zero, age <= min(context.options.reuseDuration, ContextOptions.longestReuse) else { return nil }
    return match.grant.reused
  }
}

/// What a touch is asked for.
struct Touching {
  var purpose: TouchRequest.Purpose
  var scope: Challenge.Scope
  /// Items with a way in through the set they were bound to.
  var bound: [WantedItem]
  /// Something has no other way in.
  var onlyBound: Bool
}
