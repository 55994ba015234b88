// swift-format-ignore-file: AlwaysUseLowerCamelCase

// LocalAuthentication: Apple's LocalAuthentication over `Whorl`. Begin with `LAContext`; `Rights/LARight.swift` has rights
// and what they protect.
//
// The names are Apple's.

internal import Dispatch
@_exported public import KeychainServices
internal import Primitives
package import SecretModel
internal import Synchronization
package import Whorl

/// Asks the person at the machine to authenticate with a finger or the passcode, and keeps the proof for keychain calls
/// that it is passed to.
///
/// After an evaluation, later calls that its proof satisfies do not ask again, until the context is invalidated or
/// released, or the enrolled fingers change. An evaluation itself releases nothing: only the store releases secrets,
/// for proofs that it has checked itself.
///
/// The store is the program's default one (`config.json`), and its `defaultPrompt` shows the prompts. Every property
/// and call may be used from any thread.
open class LAContext: NSObject {
  let store: @Sendable () throws(VaultError) -> SecretStore
  let prompt: (any AuthenticationPrompt)?
  let state = Mutex(State())

  /// The caller's settings, and the results so far.
  struct State {
    /// The context in the store; made on first use.
    var context: AuthenticationContext?
    var invalidated = false
    var localizedReason = ""
    var localizedFallbackTitle: String?
    var localizedCancelTitle: String?
    var reuseDuration: TimeInterval = 0
    var interactionNotAllowed = false
    var biometryType = LABiometryType.none
    var domainState: Data?
  }

  /// A new context. The store is opened at the first call.
  public override init() {
    store = SecretStore.shared
    prompt = nil
  }

  /// A context of this store, for tests and for programs with several stores.
  package init(store: SecretStore, prompt: (any AuthenticationPrompt)? = nil) {
    self.store = { store }
    self.prompt = prompt
  }

  // MARK: What is shown

  /// The title of the fallback, which is offered after the first touch that does not match; nil for the default title.
  /// An empty text hides the fallback. Under a policy without a passcode, choosing it ends the evaluation with
  /// `userFallback`.
  open var localizedFallbackTitle: String? {
    get { state.withLock { $0.localizedFallbackTitle } }
    set { state.withLock { $0.localizedFallbackTitle = newValue } }
  }

  /// The title of the cancel action; nil for the default one.
  open var localizedCancelTitle: String? {
    get { state.withLock { $0.localizedCancelTitle } }
    set { state.withLock { $0.localizedCancelTitle = newValue } }
  }

  /// The reason shown when a keychain call with this context asks. Evaluations take theirs as a parameter.
  open var localizedReason: String {
    get { state.withLock { $0.localizedReason } }
    set { state.withLock { $0.localizedReason = newValue } }
  }

  // MARK: What is asked

  /// Whether calls fail with `notInteractive` instead of asking the person. No reader is armed then.
  open var interactionNotAllowed: Bool {
    get { state.withLock { $0.interactionNotAllowed } }
    set { state.withLock { $0.interactionNotAllowed = newValue } }
  }

  /// For how many seconds an earlier match of the same user is accepted in place of a new touch. 0 by default, and at
  /// most ``LATouchIDAuthenticationMaximumAllowableReuseDuration``.
  open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
    get { state.withLock { $0.reuseDuration } }
    set { state.withLock { $0.reuseDuration = newValue } }
  }

  // MARK: What is known

  /// Whether there is a reader: `none` until ``canEvaluatePolicy(_:error:)`` was called, then `touchID` if a reader is
  /// attached, whatever the policy and the result of that call.
  open var biometryType: LABiometryType { state.withLock { $0.biometryType } }

  /// Identifies the fingers that were enrolled when the biometric policy was last checked or evaluated with success in
  /// this context; nil until then. 32 bytes, which change for good when a finger is added, removed or replaced.
  open var evaluatedPolicyDomainState: Data? { state.withLock { $0.domainState } }

  /// The same state in parts, for newer code.
  open var domainState: LADomainState {
    state.withLock { LADomainState(biometryType: $0.biometryType, stateHash: $0.domainState) }
  }

  // MARK: Evaluations

  /// Whether the policy could be evaluated now. Nothing is asked, and no reader is armed.
  ///
  /// May be called on any thread, also in a reply. Blocks the thread while the readers are listed.
  ///
  /// - Parameters:
  ///   - policy: the policy to check.
  ///   - error: why not: `biometryNotAvailable`, `biometryDisconnected`, `biometryNotEnrolled`, `biometryLockout`,
  ///     `passcodeNotSet`, `companionNotAvailable` or `invalidContext`.
  @discardableResult
  open func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
    do throws(LAError) {
      try check(policy)
      return true
    } catch let problem {
      error?.pointee = problem._nsError
      return false
    }
  }

  /// Asks the person for the proof that the policy requires. During a delay after wrong passcodes, an evaluation that
  /// needs the passcode fails with `authenticationFailed`, and the error's description and the prompt say how long the
  /// delay still lasts.
  ///
  /// - Parameters:
  ///   - policy: the policy to evaluate.
  ///   - localizedReason: the reason, for the person. If it is empty, the evaluation fails with `authenticationFailed`
  ///     before anything is asked (Apple's systems raise an exception).
  ///   - reply: called once, on a thread of its own, which it may block: true, or false with an ``LAError``.
  @preconcurrency
  open func evaluatePolicy(
    _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
  ) {
    guard let wanted = AuthenticationPolicy(policy) else { return answerWithoutCompanion(reply) }
    answer(reply, reason: localizedReason) { context throws(VaultError) in
      let state = try await context.evaluate(.policy(wanted), reason: localizedReason)
      if wanted == .biometrics { self.note(state) }
    }
  }

  /// Asks the person for the proof that the policy requires. Returns true, or throws an ``LAError``.
  ///
  /// - Parameters:
  ///   - policy: the policy to evaluate.
  ///   - localizedReason: as in ``evaluatePolicy(_:localizedReason:reply:)``.
  @discardableResult
  open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
    try await withCheckedThrowingContinuation { continuation in
      evaluatePolicy(policy, localizedReason: localizedReason) { continuation.resume(success: $0, error: $1) }
    }
  }

  /// Asks the person for what the access control requires. Keychain calls with the context on such items do not ask
  /// again.
  ///
  /// - Parameters:
  ///   - accessControl: the access control. One without a constraint succeeds at once.
  ///   - operation: the planned operation. It makes no difference here.
  ///   - localizedReason: as in ``evaluatePolicy(_:localizedReason:reply:)``.
  ///   - reply: called once, on a thread of its own, which it may block: true, or false with an ``LAError``.
  @preconcurrency
  open func evaluateAccessControl(
    _ accessControl: SecAccessControl, operation: LAAccessControlOperation, localizedReason: String,
    reply: @escaping @Sendable (Bool, (any Error)?) -> Void
  ) {
    let wanted = accessControl.access
    answer(reply, reason: localizedReason) { context throws(VaultError) in
      try await context.evaluate(wanted, reason: localizedReason)
    }
  }

  /// Asks the person for what the access control requires. Returns true, or throws an ``LAError``.
  @discardableResult
  open func evaluateAccessControl(
    _ accessControl: SecAccessControl, operation: LAAccessControlOperation, localizedReason: String
  ) async throws -> Bool {
    try await withCheckedThrowingContinuation { continuation in
      evaluateAccessControl(accessControl, operation: operation, localizedReason: localizedReason) {
        continuation.resume(success: $0, error: $1)
      }
    }
  }

  /// Ends the context for good: a running evaluation fails with `appCancel`, every later call with `invalidContext`.
  open func invalidate() {
    let context = state.withLock { state in
      state.invalidated = true
      return state.context
    }
    context?.invalidate()
  }

  // MARK: Credentials

  /// Supplies a credential, so that it is not asked for; nil removes it.
  ///
  /// - Returns: false if the type is not supported (`smartCardPIN`), the context is invalid or the store cannot be
  ///   opened.
  @discardableResult
  open func setCredential(_ credential: Data?, type: LACredentialType) -> Bool {
    guard type == .applicationPassword, let context = try? authenticationContext() else { return false }
    context.setApplicationPassword(credential.map { SecretBytes(copying: Array($0).span) })
    return true
  }

  /// Whether a credential of this type is set.
  open func isCredentialSet(_ type: LACredentialType) -> Bool {
    let kept = state.withLock { $0.invalidated ? nil : $0.context }
    guard type == .applicationPassword, let context = kept else { return false }
    return context.isApplicationPasswordSet
  }
}

// Unchecked: its only variable is protected by a lock. As on Apple's systems, code in older language modes does not see
// the conformance, which its subclasses would have to restate.
@available(swift, introduced: 6)
extension LAContext: @unchecked Sendable {}

/// The longest time for which a match may be reused, in seconds.
public let LATouchIDAuthenticationMaximumAllowableReuseDuration: TimeInterval = 300

extension CheckedContinuation<Bool, any Error> {
  fileprivate func resume(success: Bool, error: (any Error)?) {
    if let error { resume(throwing: error) } else { resume(returning: success) }
  }
}

extension LAContext {
  /// The context in the store, with the caller's current settings.
  package func authenticationContext() throws(VaultError) -> AuthenticationContext {
    let (existing, invalidated) = state.withLock { ($0.context, $0.invalidated) }
    guard !invalidated else { throw .contextInvalidated }
    if let existing {
      existing.options = options
      return existing
    }
    let made = try store().makeContext(prompt: prompt)
    let kept = state.withLock { state in
      // Another thread may have made one meanwhile. Only the one that is kept is used.
      if state.context == nil { state.context = made }
      return (context: state.context ?? made, invalidated: state.invalidated)
    }
    guard !kept.invalidated else {
      kept.context.invalidate()
      throw .contextInvalidated
    }
    kept.context.options = options
    return kept.context
  }

  private var options: AuthenticationContext.Options {
    state.withLock { state in
      var options = AuthenticationContext.Options()
      options.interactionNotAllowed = state.interactionNotAllowed
      options.fallbackTitle = state.localizedFallbackTitle
      options.cancelTitle = state.localizedCancelTitle
      let longest = LATouchIDAuthenticationMaximumAllowableReuseDuration
      // NaN compares as false, so nothing is reused.
      options.reuseDuration =
        state.reuseDuration > 0 ? .milliseconds(Int64(min(state.reuseDuration, longest) * 1000)) : .zero
      return options
    }
  }

  /// Throws if the policy cannot be evaluated.
  func check(_ policy: LAPolicy) throws(LAError) {
    let wanted = AuthenticationPolicy(policy)
    let outcome: Result<Void, VaultError> = blocking { () async throws(VaultError) in
      let context = try self.authenticationContext()
      let biometry: Biometry
      do throws(VaultError) {
        biometry = try await context.biometry()
      } catch {
        self.state.withLock { $0.biometryType = .none }
        guard wanted == nil else { throw error }
        return
      }
      self.state.withLock { $0.biometryType = biometry.hasReader ? .touchID : .none }
      guard let wanted else { return }
      if let problem = biometry.problem(for: wanted) { throw problem }
      if wanted == .biometrics { self.note(biometry.state) }
    }
    if case .failure(let problem) = outcome { throw LAError(problem) }
    guard wanted != nil else { throw .noCompanion }
  }

  /// Replies that no companion is available, or that the context is invalid.
  func answerWithoutCompanion(_ handler: @escaping @Sendable (Bool, (any Error)?) -> Void) {
    let outcome = state.withLock { $0.invalidated } ? LAError(VaultError.contextInvalidated) : .noCompanion
    reply { handler(false, outcome) }
  }

  /// Runs an evaluation and calls the handler with its outcome. Keeps the context alive until then, even if the caller
  /// has released it.
  func answer(
    _ handler: @escaping @Sendable (Bool, (any Error)?) -> Void, reason: String,
    by evaluation: @escaping @Sendable (AuthenticationContext) async throws(VaultError) -> Void
  ) {
    let isValid = state.withLock { !$0.invalidated }
    Task(executorPreference: BackgroundThread.shared) {
      let outcome: LAError?
      do throws(VaultError) {
        let context = try self.authenticationContext()
        guard reason.contains(where: { !$0.isWhitespace }) else {
          throw .invalidRequest("an evaluation needs a reason to show")
        }
        try await evaluation(context)
        outcome = nil
      } catch .contextInvalidated where isValid && self.state.withLock({ $0.invalidated }) {
        // Invalidated after the call, and before this task has begun.
        outcome = LAError(VaultError.appCancelled)
      } catch {
        outcome = LAError(error)
      }
      reply { handler(outcome == nil, outcome) }
      LAEnvironment.currentUser.refresh()
    }
  }

  /// Stores the state of the enrolment set after a successful check or evaluation.
  func note(_ domainState: [UInt8]?) {
    guard let domainState else { return }
    state.withLock { $0.domainState = Data(domainState) }
  }
}

extension LAContext: AuthenticationContextHolder {
  package var keychainReason: String? {
    state.withLock { $0.localizedReason.isEmpty ? nil : $0.localizedReason }
  }
}

extension AuthenticationPolicy {
  /// Nil for a policy that only a companion satisfies. If a finger satisfies it as well, a finger is asked for.
  init?(_ policy: LAPolicy) {
    switch policy {
    case .deviceOwnerAuthenticationWithBiometrics, .deviceOwnerAuthenticationWithBiometricsOrCompanion:
      self = .biometrics
    case .deviceOwnerAuthentication: self = .deviceOwner
    case .deviceOwnerAuthenticationWithCompanion: return nil
    }
  }
}

/// Calls a program's completion handler on a thread of its own. The handler may block it, even in calls that wait for
/// the library's own threads, or for another handler.
func reply(_ handler: @escaping @Sendable () -> Void) {
  DispatchQueue(label: "whorl.reply").async { handler() }
}
