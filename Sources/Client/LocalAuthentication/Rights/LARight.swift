// Rights: what is required, asking for it, and the proof.

public import KeychainServices
internal import Primitives
internal import SecretModel
internal import Synchronization
internal import Whorl

/// Protects a part of a program: the user must authenticate before it may be used (LARight.h, macOS 13).
///
/// An authorization ends with ``deauthorize()``, or when the right is released, the enrolled fingers change, the
/// connection to the vault ends, or the store or the session is locked, even if it is unlocked again before the next
/// use. The vault reports all of these, except a finger that another program enrols in fprintd: that is noticed when
/// the vault next reads fprintd's fingers, as for each use of the right.
open class LARight: NSObject {
  /// Whether the right is authorized. The values are Apple's.
  @nonexhaustive(warn)
  public enum State: Int, Sendable {
    /// It was never authorized.
    case unknown = 0
    /// The person is being asked.
    case authorizing = 1
    /// The person has given the proof that the right requires.
    case authorized = 2
    /// It was refused, or has ended.
    case notAuthorized = 3
  }

  let authorization: RightAuthorization
  private let number = Mutex(0)

  /// A right that requires a finger or the passcode.
  public override convenience init() { self.init(requirement: .default) }

  /// A right with a requirement.
  public init(requirement: LAAuthenticationRequirement) {
    authorization = RightAuthorization(requirement.access)
  }

  init(_ authorization: RightAuthorization) { self.authorization = authorization }

  // A running call may keep the authorization object alive for a moment.
  deinit { authorization.deauthorize() }

  /// Whether the right is authorized now. Queries the vault, which takes a moment, without a prompt.
  open var state: State {
    let authorization = authorization
    let phase: Result<RightAuthorization.Phase, Never> = blocking { await authorization.currentPhase() }
    return State(rawValue: phase.get().rawValue) ?? .unknown
  }

  /// A number for the program's own use. It is not saved.
  open var tag: Int {
    get { number.withLock { $0 } }
    set { number.withLock { $0 = newValue } }
  }

  /// Asks the person for what the right requires, unless it is authorized.
  ///
  /// - Parameters:
  ///   - localizedReason: the reason, for the person; must not be empty.
  ///   - handler: called once, with nil or an ``LAError``.
  @preconcurrency
  open func authorize(localizedReason: String, completion handler: @escaping @Sendable ((any Error)?) -> Void) {
    answer(handler) { authorization throws(VaultError) in try await authorization.authorize(localizedReason) }
  }

  /// Asks the person for what the right requires, or throws an ``LAError``.
  open func authorize(localizedReason: String) async throws {
    try await outcome(of: { authorize(localizedReason: localizedReason, completion: $0) })
  }

  /// Whether the right could be authorized now. Shows no prompt.
  ///
  /// - Parameter handler: called once, with nil or why not.
  @preconcurrency
  open func checkCanAuthorize(completion handler: @escaping @Sendable ((any Error)?) -> Void) {
    answer(handler) { authorization throws(VaultError) in try await authorization.check() }
  }

  /// Throws if the right could not be authorized now. Shows no prompt.
  open func checkCanAuthorize() async throws { try await outcome(of: { checkCanAuthorize(completion: $0) }) }

  /// Ends the authorization, and a running ``authorize(localizedReason:)`` with `appCancel`.
  @preconcurrency
  open func deauthorize(completion handler: @escaping @Sendable () -> Void) {
    authorization.deauthorize()
    reply { handler() }
  }

  /// Ends the authorization, and a running ``authorize(localizedReason:)`` with `appCancel`.
  open func deauthorize() async { authorization.deauthorize() }

  private func answer(
    _ handler: @escaping @Sendable ((any Error)?) -> Void,
    _ call: @escaping @Sendable (RightAuthorization) async throws(VaultError) -> Void
  ) {
    // Do not capture the right itself, so that it can be released meanwhile.
    Task(executorPreference: BackgroundThread.shared) { [authorization] in
      do throws(VaultError) {
        try await call(authorization)
        reply { handler(nil) }
      } catch {
        reply { handler(error.rightError) }
      }
    }
  }
}

// Unchecked: its variables are protected by locks. As with `LAContext`, older language modes do not see it.
@available(swift, introduced: 6)
extension LARight: @unchecked Sendable {}

/// Waits for a completion handler that gets an error or nil.
func outcome(of call: (@escaping @Sendable ((any Error)?) -> Void) -> Void) async throws {
  try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
    call { error in
      if let error { continuation.resume(throwing: error) } else { continuation.resume() }
    }
  }
}

/// The proof that a right requires (LARequirement.h, macOS 13).
public final class LAAuthenticationRequirement: NSObject, Sendable {
  let access: AccessControl

  private init(_ flags: AccessControl.Flags) { access = AccessControl(unchecked: flags) }

  /// A finger, or the passcode in its place.
  public class var `default`: LAAuthenticationRequirement { LAAuthenticationRequirement(.userPresence) }

  /// A finger. Fails without a reader and without an enrolled finger.
  public class var biometry: LAAuthenticationRequirement { LAAuthenticationRequirement(.biometryAny) }

  /// A finger of the set that is enrolled when the right is saved; for an unsaved right, when it is first checked or
  /// authorized. Fails for good once the set has changed.
  public class var biometryCurrentSet: LAAuthenticationRequirement { LAAuthenticationRequirement(.biometryCurrentSet) }

  /// A finger or the fallback.
  public class func biometry(fallback: LABiometryFallbackRequirement) -> LAAuthenticationRequirement {
    LAAuthenticationRequirement(fallback.flags)
  }
}

/// What is accepted in place of a finger (LARequirement.h, macOS 13).
public final class LABiometryFallbackRequirement: NSObject, Sendable {
  /// The flags of an access control that accepts a finger or this fallback.
  let flags: AccessControl.Flags

  private init(_ flags: AccessControl.Flags) { self.flags = flags }

  /// The machine's usual fallback, which is the passcode.
  public class var `default`: LABiometryFallbackRequirement { LABiometryFallbackRequirement(.userPresence) }

  /// The passcode.
  public class var devicePasscode: LABiometryFallbackRequirement {
    LABiometryFallbackRequirement([.biometryAny, .or, .devicePasscode])
  }
}

/// Whether a right is authorized, and the context that holds the proof. Only the right owns it, so that the proof is
/// released with the right.
final class RightAuthorization: Sendable {
  enum Phase: Int {
    case unknown = 0
    case authorizing = 1
    case authorized = 2
    case notAuthorized = 3
  }

  private struct State {
    var phase = Phase.unknown
    var context: AuthenticationContext?
    /// The enrolled fingers when the right was authorized.
    var fingers: [UInt8]?
    /// The enrolled fingers to which a right that is not saved is bound, from its first use on.
    var bound: [UInt8]?
    /// How often the store or the session was locked before the right was authorized.
    var locks = 0
    /// Checks the authorization when the vault reports a change.
    var listening: StoreChanges.Listening?
  }

  let access: AccessControl
  /// The key of a saved right.
  let item: ItemID?
  private let state = Mutex(State())

  init(_ access: AccessControl, item: ItemID? = nil) {
    self.access = access
    self.item = item
  }

  /// Throws if the requirement could not be satisfied now. Shows no prompt.
  @discardableResult
  func check() async throws(VaultError) -> Biometry {
    let store = try SecretStore.shared()
    if let item {
      let found = try await store.items(ItemSearch(ids: [item], synchronizable: .any, states: [.living, .dead]))
      guard let found = found.first else { throw .itemGone }
      // The fingers or the passcode that it was bound to are gone.
      guard found.state == .living else { throw .notEnrolled }
    }
    let biometry = try await store.biometry()
    if item == nil, access.flags.contains(.biometryCurrentSet), let current = biometry.state {
      let bound = state.withLock { state in
        state.bound = state.bound ?? current
        return state.bound
      }
      guard bound == current else { throw .notEnrolled }
    }
    let takesPasscode = !access.flags.isDisjoint(with: [.userPresence, .devicePasscode])
    if let problem = biometry.problem(for: takesPasscode ? .deviceOwner : .biometrics) { throw problem }
    return biometry
  }

  /// Authenticates the user, unless the right is authorized already.
  func authorize(_ reason: String) async throws(VaultError) {
    guard reason.contains(where: { !$0.isWhitespace }) else {
      throw .invalidRequest("an authorization needs a reason to show")
    }
    await confirm()
    let store = try SecretStore.shared()
    let made = store.makeContext()
    let context = state.withLock { state in
      let context = state.context ?? made
      if state.phase != .authorized { state.phase = .authorizing }
      state.context = context
      return context
    }
    do throws(VaultError) {
      // Read first, so that later changes are noticed.
      let surroundings = try await context.surroundings()
      let biometry = try await check()
      context.options.interactionNotAllowed = false
      _ = try await context.evaluate(.access(access), reason: reason)
      // From now on the context must not prompt.
      context.options.interactionNotAllowed = true
      let kept = state.withLock { state in
        guard state.context === context else { return false }
        (state.phase, state.fingers, state.locks) = (.authorized, biometry.state, surroundings.locks)
        state.listening = state.listening ?? store.changes.listen { [weak self] in await self?.confirm() }
        return true
      }
      guard kept else { throw .appCancelled }
      // The session may have been locked since the person was asked.
      await confirm()
    } catch {
      end(context)
      throw error
    }
  }

  /// Ends the authorization. A running call throws `appCancelled`.
  func deauthorize() { end(nil) }

  /// The phase, after checking with the vault that an authorization is still valid.
  func currentPhase() async -> Phase {
    await confirm()
    return state.withLock { $0.phase }
  }

  /// The context of an authorized right, which does not prompt. Checks that store and session were not locked since.
  ///
  /// - Throws: `interactionNotAllowed` if the right is not authorized.
  func provenContext() async throws(VaultError) -> AuthenticationContext {
    let (context, locks) = state.withLock { ($0.phase == .authorized ? $0.context : nil, $0.locks) }
    guard let context else { throw .interactionNotAllowed }
    guard try await context.surroundings().locks == locks else { throw .interactionNotAllowed }
    return context
  }

  /// Ends the authorization; if a context is given, only if it is still the current one.
  func end(_ context: AuthenticationContext?) {
    let ended = state.withLock { state -> AuthenticationContext? in
      if let context, state.context !== context { return nil }
      let ended = state.context
      (state.phase, state.context, state.fingers, state.listening) = (.notAuthorized, nil, nil, nil)
      return ended
    }
    ended?.invalidate()
  }

  /// Ends an authorization that is no longer valid: the fingers have changed, the connection has ended, the store or
  /// the session is locked, or the right was removed.
  private func confirm() async {
    let (context, fingers, locks) = state.withLock { state in
      (state.phase == .authorized ? state.context : nil, state.fingers, state.locks)
    }
    guard let context else { return }
    do throws(VaultError) {
      let store = try SecretStore.shared()
      // Searches over the context's own connection, and fails if the item would need a prompt.
      var search = ItemSearch(ids: item.map { [$0] } ?? [], synchronizable: .any)
      search.interaction = .fail
      let found = try await store.items(search, using: context)
      guard item == nil || !found.isEmpty, try await context.surroundings().locks == locks,
        try await store.isUnlocked(), try await context.biometry().state == fingers
      else { return end(context) }
    } catch {
      end(context)
    }
  }
}

/// Links a key or a secret to its right, without keeping the right's authorization alive.
final class RightProof: Sendable {
  private weak let authorization: RightAuthorization?

  init(_ authorization: RightAuthorization) { self.authorization = authorization }

  /// Runs a call with the context of the authorized right. Ends the authorization if the call fails with an error of
  /// authentication.
  func use<Value>(_ call: (AuthenticationContext) throws -> Value) throws -> Value {
    guard let authorization else { throw LAError(VaultError.interactionNotAllowed) }
    let proven: Result<AuthenticationContext, VaultError> = blocking { () async throws(VaultError) in
      try await authorization.provenContext()
    }
    let context: AuthenticationContext
    do throws(VaultError) {
      context = try proven.get()
    } catch {
      throw LAError(error)
    }
    do {
      return try call(context)
    } catch {
      if error is LAError || (error as? VaultError)?.rightError is LAError { authorization.end(context) }
      throw error
    }
  }
}

extension VaultError {
  /// The error for calls of rights: the keychain's status as an `NSError` of `NSOSStatusErrorDomain` for errors of
  /// items, else an `LAError`.
  var rightError: any Error {
    switch self {
    case .itemGone, .itemInvalidated, .duplicateItem, .secretTooLong, .itemDamaged:
      NSError(
        domain: NSOSStatusErrorDomain, code: Int(status),
        userInfo: [NSLocalizedDescriptionKey: (SecCopyErrorMessageString(status, nil) as String?) ?? "\(self)"])
    default: LAError(self)
    }
  }
}
