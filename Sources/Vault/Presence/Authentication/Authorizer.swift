import Fingerprint
import Glibc
import Keys
package import SecureMemory
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
    let touching = Touching(
      purpose: purpose, scope: scope, bound: needs.filter { $0.requirement.mentions(.boundFinger) },
      onlyBound: needs.contains { $0.requirement.always(.boundFinger) })
    return try await gather(touching, context, passwords: passwords) { shown in
      AuthenticationPlan(needs.filter { $0.satisfied(by: shown) == nil }.map(\.requirement))
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
    let touching = Touching(purpose: .evaluate(reason: nil), scope: .items([]), bound: [], onlyBound: false)
    let touched = try await authenticator.touched(touching, passcodeSuffices: false, context)
    guard let touched else { throw .authenticationFailed }
    touched.reader.succeed()
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
    -> ShownFactors
  {
    let evidence = try await evidence(for: requirement, reason, context)
    let shown = try evidence.current()
    evidence.succeed()
    return shown
  }

  private func evidence(for requirement: Requirement, _ reason: String?, _ context: Context) async throws(VaultError)
    -> Evidence
  {
    let touching = Touching(
      purpose: .evaluate(reason: reason), scope: .context, bound: [], onlyBound: requirement.always(.boundFinger))
    return try await gather(touching, context) { shown in
      AuthenticationPlan(requirement.satisfied(by: shown, for: nil) == nil ? [requirement] : [])
    }
  }

  /// Asks for what the plan still needs: the passcode if nothing else is enough, else a finger first.
  private func gather(
    _ touching: Touching, _ context: Context, passwords: [SharedSecret?] = [],
    plan: (ShownFactors) -> AuthenticationPlan
  ) async throws(VaultError) -> Evidence {
    var shown = ShownFactors()
    if context.options.keepsEvidence {
      shown = try store.read { snapshot in try ShownFactors(of: context, at: snapshot) }
    }
    if let grant = shown.grant, try await !fprintd.stillHolds(grant) { shown.grant = nil }
    var open = plan(shown)
    let preferred = context.options.preferPasscode && open.passcodeSuffices && !open.isSatisfied
    if shown.passcode == nil, open.needsPasscode || preferred {
      shown.passcode = try await passcode(context)
      open = plan(shown)
    }
    guard !open.isSatisfied else { return Evidence(shown, in: context, passwords: passwords) }
    let touched = try await authenticator.touched(touching, passcodeSuffices: open.passcodeSuffices, context)
    guard let touched else {
      shown.passcode = try await passcode(context)
      return Evidence(shown, in: context, passwords: passwords)
    }
    shown.grant = touched.grant
    store.classKeys.noteFinger(store.clock)
    context.keep(grant: touched.grant)
    return Evidence(shown, in: context, passwords: passwords, reader: touched.reader)
  }

  /// Asks for the passcode, and keeps it for later calls of the context.
  private func passcode(_ context: Context) async throws(VaultError) -> ProvenPasscode {
    let passcode = try await passcodes.prove(context)
    context.keep(passcode: passcode)
    return passcode
  }
}

/// The proofs that a context has from earlier calls.
package struct Shown {
  private var factors = ShownFactors()
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
    factors = try ShownFactors(of: context, at: snapshot)
    hasApplicationPassword = context.applicationPassword != nil
  }
}

extension ShownFactors {
  /// The proofs of the context that are still valid: the set and the passcode have not changed since. Adds a recent
  /// match of the client if the context accepts one and biometry is not locked out.
  init(of context: Context, at snapshot: StoreSnapshot) throws {
    guard context.options.keepsEvidence else { return }
    self = context.shown
    if grant == nil, !snapshot.authority.lockout.lockedOut { grant = context.recentMatch(snapshot.store.clock) }
    if let shown = grant, try snapshot.set(of: shown) == nil { grant = nil }
    if let shown = passcode, try snapshot.slot(.passcode)?.digest() != shown.slot { passcode = nil }
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
