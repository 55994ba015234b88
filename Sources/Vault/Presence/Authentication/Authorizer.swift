import Glibc
import Keys
package import Primitives
package import VaultStore

/// Obtains the proofs that items and policies require: fingers, the passcode, application passwords.
package struct Authorizer {
  let authenticator: Authenticator
  let passcodes: Passcodes

  private var store: Store { passcodes.store }
  private var fprintd: FprintdSets { authenticator.fprintd }

  /// The evidence for these needs: from the context, and otherwise from prompts. The release checks everything again.
  package func evidence(for needs: [Need], reason: String?, _ context: Context) async throws(VaultError) -> Evidence {
    let passwords = try await passwords(for: needs, context)
    let purpose = TouchRequest.Purpose.read(items: needs.map(\.name), reason: reason)
    let scope: Challenge.Scope = context.options.keepsEvidence ? .context : .items(needs.map(\.reference))
    let goal = TouchGoal(
      purpose: purpose, scope: scope, bound: needs.filter { $0.requirement.mentions(.boundFinger) },
      onlyBound: needs.contains { $0.requirement.always(.boundFinger) })
    return try await gather(goal, context, passwords: passwords) { proofs in
      AuthenticationPlan(needs.filter { $0.satisfied(by: proofs) == nil }.map(\.requirement))
    }
  }

  /// The application passwords of these needs, from the context, else from the person. Nil for a need without one.
  private func passwords(for needs: [Need], _ context: Context) async throws(VaultError) -> [SharedSecret?] {
    var passwords: [SharedSecret?] = []
    for need in needs {
      guard need.wantsPassword else {
        passwords.append(nil)
        continue
      }
      try store.requireNoDelay(need.password)
      passwords.append(try await password(of: need.name, context))
    }
    return passwords
  }

  /// The application password of an item, from the context or else from the person.
  private func password(of name: ItemName, _ context: Context) async throws(VaultError) -> SharedSecret {
    if let password = context.applicationPassword { return password }
    guard let password = try await context.ask(.applicationPassword(name)) else { throw .interactionNotAllowed }
    return password
  }

  /// Asks for the application password of a new item.
  package func newPassword(for name: ItemName, _ context: Context) async throws(VaultError) -> SharedSecret {
    guard let password = try await context.ask(.applicationPassword(name)) else { throw .interactionNotAllowed }
    guard !password.bytes.isEmpty else { throw .invalidPasscode("the application password is empty") }
    return password
  }

  /// Evaluates a policy or an access control. Releases no item; the finger or passcode is kept for the context's later
  /// calls. Returns the digest of the enrolment set that the touch was compared with; nil if the passcode was used.
  package func evaluate(_ proof: Proof, reason: String?, _ context: Context) async throws(VaultError) -> [UInt8]? {
    let requirement = try await requirement(of: proof, reason, context)
    // Until a restore is accepted, its fingers and passcode are not accepted.
    let passcodeSet = try store.read { snapshot in
      guard !snapshot.authority.restored else { throw VaultError.restoreDetected }
      return try snapshot.slot(.passcode) != nil
    }
    // The device owner's policy needs a passcode, too, as the alternative to a finger.
    guard passcodeSet || !(requirement.always(.passcode) || proof == .policy(.deviceOwner)) else {
      throw .passcodeNotSet
    }
    return try await evaluate(requirement, reason, context).grant?.setDigest
  }

  /// The evidence that satisfies an access control, for something that is not in the store yet.
  package func evidence(for access: AccessControl, reason: String?, _ context: Context) async throws(VaultError)
    -> Evidence
  {
    try store.read { snapshot in
      guard !snapshot.authority.restored else { throw VaultError.restoreDetected }
    }
    return try await evidence(for: Requirement(access), reason, context)
  }

  /// Asks for an enrolled finger, to authenticate the owner to a login program. The match is used for no item and no
  /// later call.
  ///
  /// - Throws: `authenticationFailed` if no touch matched, `restoreDetected` if an earlier copy of the store was put
  ///   back.
  package func verifyForLogin(_ context: Context) async throws(VaultError) {
    try store.read { snapshot in
      guard !snapshot.authority.restored else { throw VaultError.restoreDetected }
    }
    let goal = TouchGoal(purpose: .evaluate(reason: nil), scope: .items([]), bound: [], onlyBound: false)
    let touch = try await authenticator.acceptedTouch(for: goal, passcodeSuffices: false, context)
    guard let touch else { throw .authenticationFailed }
    touch.reader.succeed()
  }

  private func requirement(of proof: Proof, _ reason: String?, _ context: Context) async throws(VaultError)
    -> Requirement
  {
    switch proof {
    case .policy(.biometrics): return Requirement(AccessControl(.anyFinger))
    case .policy(.deviceOwner): return Requirement(AccessControl(.presence))
    case .access(let access):
      if access.applicationPassword {
        let name = ItemName(unchecked: reason ?? "this item", account: "")
        context.applicationPassword = try await password(of: name, context)
      }
      return Requirement(access)
    }
  }

  private func evaluate(_ requirement: Requirement, _ reason: String?, _ context: Context) async throws(VaultError)
    -> GivenProofs
  {
    let evidence = try await evidence(for: requirement, reason, context)
    let proofs = try evidence.current()
    evidence.succeed()
    return proofs
  }

  private func evidence(for requirement: Requirement, _ reason: String?, _ context: Context) async throws(VaultError)
    -> Evidence
  {
    let goal = TouchGoal(
      purpose: .evaluate(reason: reason), scope: .context, bound: [], onlyBound: requirement.always(.boundFinger))
    return try await gather(goal, context) { proofs in
      AuthenticationPlan(requirement.satisfied(by: proofs, for: nil) == nil ? [requirement] : [])
    }
  }

  /// Asks for what the plan still needs: the passcode if nothing else is enough, else a finger first.
  private func gather(
    _ goal: TouchGoal, _ context: Context, passwords: [SharedSecret?] = [],
    plan: (GivenProofs) -> AuthenticationPlan
  ) async throws(VaultError) -> Evidence {
    var proofs = GivenProofs()
    if context.options.keepsEvidence {
      proofs = try store.read { snapshot in try GivenProofs(of: context, at: snapshot) }
    }
    if let grant = proofs.grant, try await !fprintd.stillHolds(grant) { proofs.grant = nil }
    var open = plan(proofs)
    let preferred = context.options.preferPasscode && open.passcodeSuffices && !open.isSatisfied
    if proofs.passcode == nil, open.needsPasscode || preferred {
      proofs.passcode = try await passcode(context)
      open = plan(proofs)
    }
    guard !open.isSatisfied else { return Evidence(proofs, in: context, passwords: passwords) }
    let touch = try await authenticator.acceptedTouch(for: goal, passcodeSuffices: open.passcodeSuffices, context)
    guard let touch else {
      proofs.passcode = try await passcode(context)
      return Evidence(proofs, in: context, passwords: passwords)
    }
    proofs.grant = touch.grant
    store.classKeys.noteFinger(store.clock)
    context.keep(grant: touch.grant)
    return Evidence(proofs, in: context, passwords: passwords, reader: touch.reader)
  }

  /// Asks for the passcode, and keeps it for later calls of the context.
  private func passcode(_ context: Context) async throws(VaultError) -> ProvenPasscode {
    let passcode = try await passcodes.prove(context)
    context.keep(passcode: passcode)
    return passcode
  }
}

/// The proofs that a context has from earlier calls.
package struct EarlierProofs {
  private var factors = GivenProofs()
  private var hasApplicationPassword = false

  /// No proofs.
  package init() {}

  /// Whether this item can be released without asking.
  package func satisfies(_ need: Need) -> Bool {
    (hasApplicationPassword || !need.wantsPassword) && need.satisfied(by: factors) != nil
  }

  /// The proofs of a context; none without a context.
  package init(in context: Context?, at snapshot: StoreSnapshot) throws {
    guard let context else { return }
    factors = try GivenProofs(of: context, at: snapshot)
    hasApplicationPassword = context.applicationPassword != nil
  }
}

extension GivenProofs {
  /// The proofs of the context that are still valid: the set and the passcode have not changed since. Adds a recent
  /// match of the client if the context accepts one and biometry is not locked out.
  init(of context: Context, at snapshot: StoreSnapshot) throws {
    guard context.options.keepsEvidence else { return }
    self = context.proofs
    if grant == nil, !snapshot.authority.lockout.lockedOut { grant = context.recentMatch(snapshot.store.clock) }
    if let given = grant, try snapshot.set(of: given) == nil { grant = nil }
    if let given = passcode, try snapshot.slot(.passcode)?.digest() != given.slot { passcode = nil }
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
