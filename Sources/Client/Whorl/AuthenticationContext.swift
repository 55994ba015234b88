internal import Executors
internal import Fingerprint
public import SecureMemory
internal import Synchronization
public import Vault

/// An authentication context in the vault. What it has been satisfied with serves its later calls, until it is
/// invalidated, the enrolment set changes, or its store goes away.
///
/// ```swift
/// let context = store.makeContext()
/// try await context.evaluate(.deviceOwner, reason: "show your cards")
/// let secrets = try await store.secrets(of: ids, using: context)  // no second touch
/// context.invalidate()
/// ```
public final class AuthenticationContext: Sendable {
  /// How the context asks.
  public struct Options: Sendable, Hashable {
    /// Nothing may be asked of the person: what would need it throws `interactionNotAllowed`.
    public var interactionNotAllowed = false
    /// A match by the same user this recently is accepted in place of a touch; 300 s at most count.
    public var reuseDuration: Duration = .zero
    /// How long a touch is waited for; nil for as long as the reader waits.
    public var timeout: Duration? = .seconds(60)
    /// The words on the fallback; nil for the usual ones, empty for no fallback. Under ``AuthenticationPolicy/biometrics``
    /// choosing it throws `userFallback`, otherwise the passcode is asked for.
    public var fallbackTitle: String?
    /// The words on cancelling; nil for the usual ones.
    public var cancelTitle: String?

    /// Apple's defaults.
    public init() {}
  }

  private struct State {
    var options = Options()
    var invalidated = false
    var password: PasswordChange?
    var isPasswordSet = false
    /// The vault's context, once something was asked of it.
    var opening: Task<Opened?, Never>?
  }

  /// The vault's context, and who follows its events.
  private struct Opened {
    let handle: ContextHandle
    let listener: PromptListener
  }

  private enum PasswordChange {
    case set(SecretHandover)
    case remove
  }

  private let vault: Vault
  private let prompt: any AuthenticationPrompt
  private let words = PromptWords()
  private let observers = Observers()
  private let state = Mutex(State())

  init(_ vault: Vault, _ prompt: any AuthenticationPrompt) {
    self.vault = vault
    self.prompt = prompt
  }

  deinit { end() }

  /// How the context asks; a change takes effect at the next call.
  public var options: Options {
    get { state.withLock { $0.options } }
    set { state.withLock { $0.options = newValue } }
  }

  /// What happens from now on, in order: touch wanted, retry and why, no match, matched. Everybody who asks gets a
  /// sequence of their own; it ends with the context. The prompt, not a reader of the events, answers what is asked.
  public var events: AsyncStream<AuthenticationEvent> { observers.makeStream() }

  /// Throws what keeps the policy from being evaluated now; asks for nothing.
  ///
  /// - Throws: `contextInvalidated`; for ``AuthenticationPolicy/biometrics`` `notEnrolled`, `biometryLockout` or what is
  ///   wrong with the reader; for ``AuthenticationPolicy/deviceOwner`` `passcodeNotSet`.
  public func canEvaluate(_ policy: AuthenticationPolicy) async throws(VaultError) {
    guard !state.withLock({ $0.invalidated }) else { throw .contextInvalidated }
    switch policy {
    case .biometrics: if let problem = await vault.biometryProblem() { throw problem }
    case .deviceOwner: guard try await vault.passcodeIsSet() else { throw .passcodeNotSet }
    }
  }

  /// Shows that the policy holds. A context that was satisfied before asks for nothing.
  ///
  /// - Throws: `authenticationFailed` after three touches that matched nobody (the device owner's policy goes on to the
  ///   passcode instead), `cancelled` by the person, `userFallback`, `appCancelled` by ``invalidate()``,
  ///   `systemCancelled`, `interactionNotAllowed`, `timedOut`, and what ``canEvaluate(_:)`` throws.
  public func evaluate(_ policy: AuthenticationPolicy, reason: String) async throws(VaultError) {
    try await perform(reason, callersFallback: policy == .biometrics) { handle throws(VaultError) in
      try await self.vault.evaluate(policy, reason: reason, in: handle)
    }
  }

  /// Shows what an access control asks for; see ``evaluate(_:reason:)``.
  public func evaluate(_ access: AccessControl, reason: String) async throws(VaultError) {
    try await perform(reason) { handle throws(VaultError) in
      try await self.vault.evaluate(access, reason: reason, in: handle)
    }
  }

  /// Ends the context: a running evaluation throws `appCancelled`, every later call `contextInvalidated`. Returns at once.
  public func invalidate() { close(reason: .appCancelled) }

  /// Gives the application password that is used in place of asking; nil takes it away.
  public func setApplicationPassword(_ password: consuming SecretBytes?) {
    let change: PasswordChange
    let isSet: Bool
    if let password {
      (change, isSet) = (.set(SecretHandover(password)), true)
    } else {
      (change, isSet) = (.remove, false)
    }
    state.withLock { ($0.password, $0.isPasswordSet) = (change, isSet) }
  }

  /// Whether ``setApplicationPassword(_:)`` has given one.
  public var isApplicationPasswordSet: Bool { state.withLock { $0.isPasswordSet } }

  /// Lets the context go without a word to anybody.
  func end() { close(reason: .cancelled) }

  private func close(reason: VaultError) {
    let opening = state.withLock { state in
      state.invalidated = true
      (state.password, state.isPasswordSet) = (nil, false)
      return state.opening
    }
    // Once the vault's context is open, its last event finishes them.
    guard let opening else { return observers.finish() }
    Task(executorPreference: BackgroundThread.shared) { [vault] in
      if let opened = await opening.value { await vault.closeContext(opened.handle, reason: reason) }
    }
  }

  /// Runs a call of the vault in this context, with the prompt's words for it.
  func perform<T>(
    _ reason: String?, callersFallback: Bool = false, _ call: (ContextHandle) async throws(VaultError) -> T
  ) async throws(VaultError) -> T {
    let opened = try await opened(callersFallback: callersFallback)
    let options = options
    words.begin(reason, options.fallbackTitle, options.cancelTitle)
    let session = PromptSession(vault: vault, handle: opened.handle, words: words)
    do throws(VaultError) {
      let value = try await call(opened.handle)
      await opened.listener.caughtUp()
      await end(session)
      return value
    } catch {
      // Where the call was ended from outside, the prompt may still wait for somebody.
      if !error.endsFromOutside { await opened.listener.caughtUp() }
      // Callers that only learn a status still have the prompt say how long the passcode is refused.
      if case .passcodeDelayed(let seconds) = error, !options.interactionNotAllowed {
        observers.yield(.notice(.passcodeDelay(seconds)))
        await prompt.handle(.notice(.passcodeDelay(seconds)), in: session)
      }
      await end(session)
      throw error
    }
  }

  private func end(_ session: PromptSession) async {
    words.end()
    await prompt.finished(in: session)
  }

  /// The vault's context, with the options as they are now.
  func handle() async throws(VaultError) -> ContextHandle { try await opened(callersFallback: false).handle }

  private func opened(callersFallback: Bool) async throws(VaultError) -> Opened {
    let (opening, options, password) = try state.withLock { (state) throws(VaultError) in
      guard !state.invalidated else { throw .contextInvalidated }
      let opening = state.opening ?? open()
      state.opening = opening
      let password = state.password
      state.password = nil
      return (opening, state.options, password)
    }
    guard let opened = await opening.value else { throw .internalError("no context can be opened") }
    let handle = opened.handle
    await vault.setOptions(Self.options(options, callersFallback: callersFallback), of: handle)
    switch password {
    case .set(let password): await vault.setApplicationPassword(password.take(), of: handle)
    case .remove: await vault.setApplicationPassword(nil, of: handle)
    case nil: break
    }
    return opened
  }

  private func open() -> Task<Opened?, Never> {
    Task(executorPreference: BackgroundThread.shared) { [vault, prompt, words, observers] in
      guard let (handle, events) = try? await vault.openContext(Self.options(Options(), callersFallback: false)) else {
        observers.finish()
        return nil
      }
      let listener = PromptListener(events)
      let session = PromptSession(vault: vault, handle: handle, words: words)
      // A prompt may block its thread, waiting for keys.
      Task(executorPreference: BackgroundThread()) {
        await listener.run { numbered in
          observers.yield(numbered.event)
          // Skip prompts whose call has already returned.
          if numbered.event.isQuestion, !session.isAsking { return }
          await prompt.handle(numbered.event, in: session.with(event: numbered.number))
        }
        observers.finish()
      }
      return Opened(handle: handle, listener: listener)
    }
  }

  private static func options(_ options: Options, callersFallback: Bool) -> ContextOptions {
    var asked = ContextOptions(interactionNotAllowed: options.interactionNotAllowed, timeout: options.timeout)
    asked.keepsEvidence = true
    asked.reuseDuration = options.reuseDuration
    asked.fallback =
      options.fallbackTitle == "" ? .never : callersFallback ? .callersAfterNoMatch : .afterNoMatch
    return asked
  }
}

extension VaultError {
  /// Whether somebody ended the call while it may have been asking.
  fileprivate var endsFromOutside: Bool {
    switch self {
    case .cancelled, .appCancelled, .systemCancelled: true
    default: false
    }
  }
}
