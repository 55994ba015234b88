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

  /// The evidence that the items require: from the context, and asked for now. Adds the keys of application passwords to
  /// the items. The release checks everything again.
  func evidence(for wanted: inout [WantedItem], reason: String?, _ context: Context)
    async throws(VaultError) -> Evidence
  {
    let given = try await passwords.given(for: wanted, context)
    let purpose = TouchRequest.Purpose.read(items: wanted.map(\.record.name), reason: reason)
    let scope: Challenge.Scope =
      context.options.keepsEvidence ? .context : .items(wanted.map(\.row.reference))
    let touching = Touching(
      purpose: purpose, scope: scope, bound: wanted.filter { $0.requirement.mentions(.boundFinger) },
      onlyBound: wanted.contains { $0.requirement.always(.boundFinger) })
    let evidence = try await gather(touching, context) { [wanted] shown in
      AuthenticationPlan(wanted.filter { !$0.isSatisfied(by: shown) }.map(\.requirement))
    }
    guard given.contains(where: { $0 != nil }) else { return evidence }
    let shown = try evidence.current()
    // Others can have the reader while scrypt runs.
    evidence.succeed()
    try await passwords.unlock(&wanted, with: given, shown)
    return Evidence(shown, in: context)
  }

  /// Evaluates a policy or an access control. What is shown serves the context's later calls and releases nothing by
  /// itself.
  func evaluate(_ proof: Proof, reason: String?, _ context: Context) async throws(VaultError) -> ShownFactors {
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
      if access.applicationPassword, context.applicationPassword == nil {
        let name = ItemName(unchecked: reason ?? "this item", account: "")
        guard let password = try await context.ask(.applicationPassword(name)) else { throw .interactionNotAllowed }
        context.applicationPassword = password
      }
      return Requirement(access)
    }
  }

  private func evaluate(_ requirement: Requirement, _ reason: String?, _ context: Context) async throws(VaultError)
    -> ShownFactors
  {
    let touching = Touching(
      purpose: .evaluate(reason: reason), scope: .context, bound: [], onlyBound: requirement.always(.boundFinger))
    let evidence = try await gather(touching, context) { shown in
      let satisfied = requirement.alternatives.contains { alternative in
        alternative.allSatisfy { factor in
          switch factor {
          case .finger: shown.grant != nil
          case .boundFinger: shown.grant.map { !$0.isReused } ?? false
          case .passcode, .passcodeGate: shown.passcode != nil
          }
        }
      }
      return AuthenticationPlan(satisfied ? [] : [requirement])
    }
    let shown = try evidence.current()
    evidence.succeed()
    return shown
  }

  /// Asks for what the plan still lacks: the passcode if nothing else is enough, else a finger first.
  private func gather(_ touching: Touching, _ context: Context, plan: (ShownFactors) -> AuthenticationPlan)
    async throws(VaultError) -> Evidence
  {
    var shown = try store.read { moment in try ShownFactors(of: context, at: moment) }
    if let grant = shown.grant, try await !fprintd.stillHolds(grant) { shown.grant = nil }
    var open = plan(shown)
    let preferred = context.options.preferPasscode && open.passcodeSuffices && !open.isSatisfied
    if shown.passcode == nil, open.needsPasscode || preferred {
      shown.passcode = try await passcode(context)
      open = plan(shown)
    }
    guard !open.isSatisfied else { return Evidence(shown, in: context) }
    let touched = try await authenticator.touched(touching, passcodeSuffices: open.passcodeSuffices, context)
    guard let touched else {
      shown.passcode = try await passcode(context)
      return Evidence(shown, in: context)
    }
    shown.grant = touched.grant
    store.classKeys.noteFinger(store.clock)
    context.keep(grant: touched.grant)
    return Evidence(shown, in: context, reader: touched.reader)
  }

  /// Asks for the passcode, and keeps it for later calls of the context.
  private func passcode(_ context: Context) async throws(VaultError) -> ProvenPasscode {
    let passcode = try await passcodes.prove(context)
    context.keep(passcode: passcode)
    return passcode
  }
}

extension Shown {
  /// What a context has shown; nothing without a context.
  init(in context: Context?, at moment: Moment) throws {
    guard let context else { return }
    factors = try ShownFactors(of: context, at: moment)
    hasApplicationPassword = context.applicationPassword != nil
  }
}

extension ShownFactors {
  /// What was shown in the context and is still valid: the set and the passcode have not changed since. Adds a recent match
  /// of the client if the context accepts one and biometry is not locked out.
  init(of context: Context, at moment: Moment) throws {
    guard context.options.keepsEvidence else { return }
    self = context.shown
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
