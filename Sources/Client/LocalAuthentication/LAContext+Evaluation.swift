internal import Executors
internal import Fingerprint
internal import KeychainServices
package import SecretModel
internal import Synchronization
package import Whorl

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
