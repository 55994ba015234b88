// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

internal import Dispatch
@_exported public import KeychainServices
internal import Synchronization
package import Whorl

/// Asks the person at the machine to prove who they are, by a finger or the passcode, and keeps what was proven for the
/// keychain calls it is passed to.
///
/// A context that has passed an evaluation serves later calls that its proof satisfies, without asking again, until it
/// is invalidated or let go, or the enrolled fingers change. Success unwraps nothing by itself: a secret comes out of
/// the store alone, and only for a proof the store has seen.
///
/// The store is the one the program finds (`config.json`), and prompts appear where its `defaultPrompt` shows them.
/// Every property and call may be used from any thread.
open class LAContext: NSObject {
  let store: @Sendable () throws(VaultError) -> SecretStore
  let prompt: (any AuthenticationPrompt)?
  let state = Mutex(State())
  /// Where replies are called: none of the caller's threads, and one after the other.
  let replies = DispatchQueue(label: "whorl.LAContext.reply")

  /// What the caller has set, and what was learnt.
  struct State {
    /// The context in the store; made when it is first needed.
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

  /// A context that has proven nothing yet. Nothing is opened before the first call.
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

  /// The words on the fallback, which appears after the first touch that matched nobody; nil for the usual ones, and an
  /// empty text hides it. Under a policy without a passcode choosing it ends the evaluation with `userFallback`.
  open var localizedFallbackTitle: String? {
    get { state.withLock { $0.localizedFallbackTitle } }
    set { state.withLock { $0.localizedFallbackTitle = newValue } }
  }

  /// The words on what cancels; nil for the usual ones.
  open var localizedCancelTitle: String? {
    get { state.withLock { $0.localizedCancelTitle } }
    set { state.withLock { $0.localizedCancelTitle = newValue } }
  }

  /// The reason shown when a keychain call asks through this context. Evaluations are given theirs.
  open var localizedReason: String {
    get { state.withLock { $0.localizedReason } }
    set { state.withLock { $0.localizedReason = newValue } }
  }

  // MARK: What is asked

  /// Nothing may be asked of the person: what would have to ask fails with `notInteractive`, and no reader is armed.
  open var interactionNotAllowed: Bool {
    get { state.withLock { $0.interactionNotAllowed } }
    set { state.withLock { $0.interactionNotAllowed = newValue } }
  }

  /// For how many seconds after a match of the same user that match is taken in place of a new touch: 0 unless set,
  /// and never more than ``LATouchIDAuthenticationMaximumAllowableReuseDuration``, whatever is set.
  open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
    get { state.withLock { $0.reuseDuration } }
    set { state.withLock { $0.reuseDuration = newValue } }
  }

  // MARK: What is known

  /// Whether there is a reader: `none` until ``canEvaluatePolicy(_:error:)`` was called, then `touchID` where one is
  /// attached, whatever the policy and whatever that call answered.
  open var biometryType: LABiometryType { state.withLock { $0.biometryType } }

  /// Stands for the fingers that were enrolled when the biometric policy last succeeded in this context, checked or
  /// evaluated; nil until then. The same 32 bytes until a finger is added, removed or replaced, and different ever after.
  open var evaluatedPolicyDomainState: Data? { state.withLock { $0.domainState } }

  /// The same in parts, as newer code asks for it.
  open var domainState: LADomainState {
    state.withLock { LADomainState(biometryType: $0.biometryType, stateHash: $0.domainState) }
  }

  // MARK: Evaluations

  /// Whether the policy could be evaluated now. Nothing is asked, and no reader is armed.
  ///
  /// May be called anywhere, in a reply too; it blocks its thread for as long as listing the readers takes.
  ///
  /// - Parameters:
  ///   - policy: what would be evaluated.
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

  /// Asks the person for the proof the policy wants. While a delay after wrong passcodes runs, one that needs the
  /// passcode fails with `authenticationFailed`, and the error's description and the prompt say how long it still runs.
  ///
  /// - Parameters:
  ///   - policy: which proof is wanted.
  ///   - localizedReason: why, in words for the person. Without any, the evaluation fails with `authenticationFailed`
  ///     before anything is asked (Apple's systems raise an exception).
  ///   - reply: called once, on a queue of the context's own: true, or false with an ``LAError``.
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

  /// Asks the person for the proof the policy wants: true, or an ``LAError`` is thrown.
  ///
  /// - Parameters:
  ///   - policy: which proof is wanted.
  ///   - localizedReason: as in ``evaluatePolicy(_:localizedReason:reply:)``.
  @discardableResult
  open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
    try await withCheckedThrowingContinuation { continuation in
      evaluatePolicy(policy, localizedReason: localizedReason) { continuation.resume(success: $0, error: $1) }
    }
  }

  /// Asks the person for what the access control wants; afterwards the context serves keychain calls on items under it.
  ///
  /// - Parameters:
  ///   - accessControl: what has to be proven. One without a constraint succeeds at once.
  ///   - operation: what the proof is wanted for. Every operation asks for the same here.
  ///   - localizedReason: as in ``evaluatePolicy(_:localizedReason:reply:)``.
  ///   - reply: called once, on a queue of the context's own: true, or false with an ``LAError``.
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

  /// Asks the person for what the access control wants: true, or an ``LAError`` is thrown.
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

  /// Supplies a credential, so that it is not asked for; nil takes it away again.
  ///
  /// - Returns: false where the type has no use here (`smartCardPIN`), the context is invalid or the store cannot be opened.
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

// Unchecked: its one stored variable is behind a lock. As on Apple's systems the class says nothing of it to older code,
// whose subclasses would have to restate it.
@available(swift, introduced: 6)
extension LAContext: @unchecked Sendable {}

/// The longest time a match may stand for a later touch, in seconds.
public let LATouchIDAuthenticationMaximumAllowableReuseDuration: TimeInterval = 300

extension CheckedContinuation<Bool, any Error> {
  fileprivate func resume(success: Bool, error: (any Error)?) {
    if let error { resume(throwing: error) } else { resume(returning: success) }
  }
}
