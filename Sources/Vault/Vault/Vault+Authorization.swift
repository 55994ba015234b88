import Fingerprint
import GRDB
import Glibc
import Keys
import SecureMemory

extension Vault {
  /// Runs `body` with what the items ask for: what the context was satisfied with before, and what is asked for now.
  /// `body` looks at everything again; it runs while the reader is still open, so that nobody waits for its closing.
  func authorized<T: Sendable>(
    _ wanted: [WantedItem], _ reason: String?, in handle: ContextHandle?,
    _ body: ([WantedItem], Evidence) throws(VaultError) -> T
  ) async throws(VaultError) -> T {
    guard wanted.contains(where: { !$0.isOpen }) else { return try body(wanted, Evidence()) }
    guard let handle else { throw .interactionNotAllowed }
    return try await asking(in: handle) { context throws(VaultError) in
      var wanted = wanted
      for index in wanted.indices {
        guard let derivation = wanted[index].row.derivation else { continue }
        var password = context.applicationPassword
        if password == nil { password = try await self.ask(.applicationPassword(wanted[index].record.name), context) }
        guard let password else { throw .interactionNotAllowed }
        wanted[index].password = try await Self.stretch(password, .init(encoded: derivation), self.store.floor)
      }
      let items = wanted
      let purpose = TouchRequest.Purpose.read(items: items.map(\.record.name), reason: reason)
      let scope: Challenge.Scope =
        context.options.keepsEvidence ? .context : .items(items.map(\.row.reference))
      let touching = Touching(
        purpose: purpose, scope: scope, bound: items.filter { $0.requirement.mentions(.boundFinger) },
        onlyBound: items.contains { $0.requirement.always(.boundFinger) })
      return try await self.gathering(touching, context) { evidence in
        AuthenticationPlan(items.filter { !$0.isSatisfied(by: evidence) }.map(\.requirement))
      } then: { evidence throws(VaultError) in
        try Self.requireRunning(context)
        return try body(items, evidence)
      }
    }
  }

  /// Shows that the policy holds: for the context's later calls, and for nothing by itself.
  package func evaluate(_ policy: AuthenticationPolicy, reason: String?, in handle: ContextHandle)
    async throws(VaultError)
  {
    try await asking(in: handle) { context throws(VaultError) in
      let requirement: Requirement
      switch policy {
      case .biometrics: requirement = Requirement(AccessControl(.anyFinger))
      case .deviceOwner:
        guard try self.passcodeIsSet() else { throw .passcodeNotSet }
        requirement = Requirement(AccessControl(.presence))
      }
      try await self.evaluate(requirement, reason, context)
    }
  }

  /// Shows what an access control asks for: for the context's later calls, and for nothing by itself.
  package func evaluate(_ access: AccessControl, reason: String?, in handle: ContextHandle) async throws(VaultError) {
    try await asking(in: handle) { context throws(VaultError) in
      if access.applicationPassword, context.applicationPassword == nil {
        let name = ItemName(unchecked: reason ?? "this item", account: "")
        guard let password = try await self.ask(.applicationPassword(name), context) else {
          throw .interactionNotAllowed
        }
        context.applicationPassword = password
      }
      let requirement = Requirement(access)
      guard try self.passcodeIsSet() || !requirement.always(.passcode) else { throw .passcodeNotSet }
      try await self.evaluate(requirement, reason, context)
    }
  }

  /// Refuses where the call was cancelled, or its context closed, after the last question was answered.
  static func requireRunning(_ context: Context) throws(VaultError) {
    guard !context.cancelled, !Task.isCancelled else { throw .cancelled }
  }

  private func evaluate(_ requirement: Requirement, _ reason: String?, _ context: Context) async throws(VaultError) {
    // Fingers and passcode of another day satisfy nothing before they are accepted.
    guard try !store.read({ _, authority in authority.restored }) else { throw .restoreDetected }
    let touching = Touching(
      purpose: .evaluate(reason: reason), scope: .context, bound: [], onlyBound: requirement.always(.boundFinger))
    try await gathering(touching, context) { evidence in
      let satisfied = requirement.alternatives.contains { alternative in
        alternative.allSatisfy { factor in
          switch factor {
          case .finger, .boundFinger: evidence.grant != nil
          case .passcode, .passcodeGate: evidence.passcode != nil
          }
        }
      }
      return AuthenticationPlan(satisfied ? [] : [requirement])
    } then: { _ throws(VaultError) in
      try Self.requireRunning(context)
    }
  }

  /// Asks for what the plan still lacks: the passcode where nothing else will do, else a finger first.
  private func gathering<T: Sendable>(
    _ touching: Touching, _ context: Context, plan: (Evidence) -> AuthenticationPlan,
    then body: (Evidence) throws(VaultError) -> T
  ) async throws(VaultError) -> T {
    var evidence = try evidence(of: context)
    if let grant = evidence.grant, try await !stillHolds(grant) { evidence.grant = nil }
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
    let answer = try await byTouch(touching, passcodeSuffices: open.passcodeSuffices, context) {
      grant throws(VaultError) in
      var evidence = shown
      evidence.grant = grant
      context.keep(Evidence(grant: grant))
      return try body(evidence)
    }
    if let answer { return answer }
    evidence.passcode = try await provePasscode(context)
    context.keep(Evidence(passcode: evidence.passcode))
    return try body(evidence)
  }

  /// What the context has been satisfied with, as far as it still holds: the set is the one of then, the passcode the
  /// one of then; and, where the context accepts it and biometry is not locked out, a match of the last seconds.
  func evidence(of context: Context) throws(VaultError) -> Evidence {
    guard context.options.keepsEvidence else { return Evidence() }
    var evidence = context.evidence
    var reused = false
    if evidence.grant == nil, context.options.reuseDuration > .zero, let lastMatch {
      let age = Duration.nanoseconds(Int64(clamping: store.clock.now() &- lastMatch.at))
      if age >= .zero, age <= min(context.options.reuseDuration, ContextOptions.longestReuse) {
        evidence.grant = lastMatch.grant
        reused = true
      }
    }
    guard evidence.grant != nil || evidence.passcode != nil else { return evidence }
    let store = store
    let (now, ofAnother) = (evidence, reused)
    let (set, passcode) = try store.read { db, authority in
      (
        try now.grant.map { grant in
          if ofAnother, authority.lockout.lockedOut { return false }
          return try store.set(of: grant, db, authority) != nil
        } ?? false,
        try now.passcode.map { try store.slot(.passcode, db, authority)?.digest() == $0.slot } ?? false
      )
    }
    if !set { evidence.grant = nil }
    if !passcode { evidence.passcode = nil }
    return evidence
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
