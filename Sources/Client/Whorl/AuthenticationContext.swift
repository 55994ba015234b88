public import Primitives
public import SecretModel
internal import Synchronization

/// An authentication context in the vault. Later calls with the context reuse what the person has shown in it, until it
/// is invalidated, the enrolment set changes, or its store is gone.
///
/// ```swift
/// let context = store.makeContext()
/// try await context.evaluate(.deviceOwner, reason: "show your cards")
/// let secrets = try await store.secrets(of: ids, using: context)  // no second touch
/// context.invalidate()
/// ```
public final class AuthenticationContext: Sendable {
  /// How the context asks the person.
  public struct Options: Sendable, Hashable {
    /// Whether calls throw `interactionNotAllowed` instead of asking the person.
    public var interactionNotAllowed = false
    /// How recent an earlier match of the same user may be to be accepted in place of a touch; at most 300 s.
    public var reuseDuration: Duration = .zero
    /// How long to wait for a touch; nil for as long as the reader waits.
    public var timeout: Duration? = .seconds(60)
    /// The title of the fallback; nil for the default one, empty for no fallback. Under
    /// ``AuthenticationPolicy/biometrics`` choosing it throws `userFallback`, otherwise the passcode is asked for.
    public var fallbackTitle: String?
    /// The title of the cancel action; nil for the default one.
    public var cancelTitle: String?
    /// Whether the fallback is offered before the first touch, and not only after one that did not match.
    package var offersFallbackAtOnce = false
    /// Whether to ask for the passcode instead of the finger if the item allows it.
    package var preferPasscode = false
    /// Whether a passcode that can be guessed in a day is accepted, because the person insists.
    package var allowsGuessablePasscode = false
    /// Whether later calls of the context reuse what the person has shown.
    package var keepsEvidence = true
    /// Whether the program itself tells the person why it asks and how a call has ended, so that the prompt leaves out the
    /// reason of an obvious question, and the delay after wrong passcodes.
    package var speaksForItself = false

    /// Apple's defaults.
    public init() {}

    /// The options of the vault's interface.
    package init(_ options: ContextOptions) {
      (interactionNotAllowed, timeout) = (options.interactionNotAllowed, options.timeout)
      (preferPasscode, allowsGuessablePasscode) = (options.preferPasscode, options.allowsGuessablePasscode)
      (keepsEvidence, reuseDuration) = (options.keepsEvidence, options.reuseDuration)
      offersFallbackAtOnce = options.fallback == .atOnce
    }
  }

  private struct State {
    var options = Options()
    var invalidated = false
    var password: PasswordChange?
    /// Passes the last change of the application password to the vault. Every call waits for it.
    var passing: Task<Void, Never>?
    var isPasswordSet = false
    /// Opens the vault's context; nil before the first call.
    var opening: Task<Result<Opened, VaultError>, Never>?
  }

  /// The vault's context, and the listener for its events.
  private struct Opened {
    let service: any VaultService
    let handle: ContextHandle
    let listener: PromptListener
  }

  private enum PasswordChange {
    case set(SharedSecret)
    case remove
  }

  private let store: StoreLink
  private let prompt: any AuthenticationPrompt
  private let words = PromptWords()
  private let observers = Observers()
  private let state = Mutex(State())

  init(_ store: StoreLink, _ prompt: any AuthenticationPrompt) {
    self.store = store
    self.prompt = prompt
  }

  deinit { close() }

  /// How the context asks the person. A change takes effect at the next call.
  public var options: Options {
    get { state.withLock { $0.options } }
    set { state.withLock { $0.options = newValue } }
  }

  /// The events from now on, in order: touch wanted, retry and why, no match, matched. Each access returns a new
  /// sequence, which ends with the context. Only the prompt answers questions; readers of the events observe.
  public var events: AsyncStream<AuthenticationEvent> { observers.makeStream() }

  /// Throws where the policy cannot be evaluated now. Asks for nothing.
  ///
  /// - Throws: `contextInvalidated`; for ``AuthenticationPolicy/biometrics`` `notEnrolled`, `biometryLockout` or what is
  ///   wrong with the reader; for ``AuthenticationPolicy/deviceOwner`` `passcodeNotSet`.
  public func canEvaluate(_ policy: AuthenticationPolicy) async throws(VaultError) {
    if let problem = try await biometry().problem(for: policy) { throw problem }
  }

  /// The state of fingers and passcode. Asks nobody.
  ///
  /// - Throws: `contextInvalidated`.
  package func biometry() async throws(VaultError) -> Biometry {
    guard !state.withLock({ $0.invalidated }) else { throw .contextInvalidated }
    return try await store.call { service throws(VaultError) in try await service.biometry() }
  }

  /// What decides how the person can authenticate now, as the vault of this context's connection says.
  package func surroundings() async throws(VaultError) -> Surroundings {
    try await consult { service, _ throws(VaultError) in try await service.surroundings(otherThan: nil) }
  }

  /// Evaluates the policy. Asks for nothing where the context has satisfied it before.
  ///
  /// - Throws: `authenticationFailed` after three touches that matched nobody (the device owner's policy continues with
  ///   the passcode instead), `cancelled` by the person, `userFallback`, `appCancelled` by ``invalidate()``,
  ///   `systemCancelled`, `interactionNotAllowed`, `timedOut`, and what ``canEvaluate(_:)`` throws.
  public func evaluate(_ policy: AuthenticationPolicy, reason: String) async throws(VaultError) {
    _ = try await evaluate(.policy(policy), reason: reason)
  }

  /// Evaluates an access control; see ``evaluate(_:reason:)``.
  public func evaluate(_ access: AccessControl, reason: String) async throws(VaultError) {
    _ = try await evaluate(.access(access), reason: reason)
  }

  /// Evaluates a policy or an access control, and returns the digest of the enrolment set at that moment.
  package func evaluate(_ proof: Proof, reason: String) async throws(VaultError) -> [UInt8]? {
    try await perform(reason, callersFallback: proof == .policy(.biometrics)) { service, asking throws(VaultError) in
      try await service.evaluate(proof, asking)
    }
  }

  /// Ends the context: a running evaluation throws `appCancelled`, every later call `contextInvalidated`. Returns at once.
  public func invalidate() { close() }

  /// Sets the application password, which is then not asked for; nil removes it.
  public func setApplicationPassword(_ password: consuming SecretBytes?) {
    let change: PasswordChange
    let isSet: Bool
    if let password {
      (change, isSet) = (.set(SharedSecret(password)), true)
    } else {
      (change, isSet) = (.remove, false)
    }
    state.withLock { ($0.password, $0.isPasswordSet) = (change, isSet) }
  }

  /// Whether ``setApplicationPassword(_:)`` has set one.
  public var isApplicationPasswordSet: Bool { state.withLock { $0.isPasswordSet } }

  /// Opens the context in the vault, if no call has. Asks for nothing.
  package func begin() async throws(VaultError) { _ = try await opened() }

  /// Cancels the running call, for the person. Returns at once.
  package func cancel() {
    guard let opening = state.withLock({ $0.opening }) else { return }
    Task(executorPreference: BackgroundThread.shared) {
      if case .success(let opened) = await opening.value { await opened.service.respond(opened.handle, .cancel) }
    }
  }

  /// Ends the context because nobody has answered in time: a running call throws `timedOut`, and the prompt is
  /// notified.
  package func expire() { close(.time) }

  /// Ends the context. A running call throws the error of the reason, and for `program` `appCancelled`.
  func close(_ reason: ContextEnd = .program) {
    let opening = state.withLock { state in
      state.invalidated = true
      (state.password, state.isPasswordSet) = (nil, false)
      return state.opening
    }
    // An open context finishes the observers with its last event.
    guard let opening else { return observers.finish() }
    Task(executorPreference: BackgroundThread.shared) { [observers] in
      guard case .success(let opened) = await opening.value else { return observers.finish() }
      await opened.service.closeContext(opened.handle, reason: reason)
    }
  }

  /// Runs a call of the vault in this context, with the reason that the prompt shows.
  ///
  /// - Parameter isObvious: whether somebody who has started the program knows the reason.
  /// - Throws: what the call throws. If the connection to the vault is lost, the running call throws `systemCancelled`
  ///   and every later call `contextInvalidated`.
  package func perform<Value: ~Copyable, Problem: RequestFailure>(
    _ reason: String?, isObvious: Bool = true, callersFallback: Bool = false, _ call: AskingRequest<Value, Problem>
  ) async throws(Problem) -> Value {
    let opened = try await Problem.of { () async throws(VaultError) in try await self.opened() }
    let options = options
    words.begin(options.speaksForItself && isObvious ? nil : reason, options.fallbackTitle, options.cancelTitle)
    let session = PromptSession(service: opened.service, handle: opened.handle, words: words)
    let asking = Asking(
      in: opened.handle, options: Self.options(options, callersFallback: callersFallback), reason: reason
    ).onBehalf
    do throws(Problem) {
      let value = try await call(opened.service, asking)
      await opened.listener.caughtUp()
      await end(session)
      return value
    } catch {
      // Do not wait for the prompt of a cancelled call: it may still wait for the person.
      if error.cause?.endsFromOutside != true { await opened.listener.caughtUp() }
      // Show the delay on the prompt: a caller of Keychain Services only gets a status code.
      if case .passcodeDelayed(let seconds)? = error.cause, !options.interactionNotAllowed, !options.speaksForItself {
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

  /// Runs a call that asks nobody, with what the person has shown in the context before.
  func consult<Value: ~Copyable>(
    _ call: (any VaultService, ContextHandle) async throws(VaultError) -> Value
  ) async throws(VaultError) -> Value {
    let opened = try await opened()
    return try await call(opened.service, opened.handle)
  }

  /// The vault's context, with the current application password.
  private func opened() async throws(VaultError) -> Opened {
    let (opening, passing) = try state.withLock { (state) throws(VaultError) in
      guard !state.invalidated else { throw .contextInvalidated }
      let opening = state.opening ?? open(state.options)
      state.opening = opening
      if let password = state.password {
        state.password = nil
        state.passing = pass(on: password, to: opening, after: state.passing)
      }
      return (opening, state.passing)
    }
    await passing?.value
    do throws(VaultError) {
      return try await opening.value.get()
    } catch {
      // The store may exist at the next call.
      state.withLock { state in if state.opening == opening { state.opening = nil } }
      throw error
    }
  }

  /// Sets or removes the application password in the vault, after an earlier change. Keeps it for the next call where the
  /// store cannot be opened.
  private func pass(
    on password: PasswordChange, to opening: Task<Result<Opened, VaultError>, Never>, after earlier: Task<Void, Never>?
  ) -> Task<Void, Never> {
    Task(executorPreference: BackgroundThread.shared) {
      await earlier?.value
      guard case .success(let opened) = await opening.value else {
        return self.state.withLock { state in
          if state.password == nil, !state.invalidated { state.password = password }
        }
      }
      switch password {
      case .set(let password): await opened.service.setApplicationPassword(password.copy(), of: opened.handle)
      case .remove: await opened.service.setApplicationPassword(nil, of: opened.handle)
      }
    }
  }

  private func open(_ options: Options) -> Task<Result<Opened, VaultError>, Never> {
    Task(executorPreference: BackgroundThread.shared) { [store, prompt, words, observers] in
      let service: any VaultService
      let context: (handle: ContextHandle, events: ContextEvents)
      do throws(VaultError) {
        (service, context) = try await store.call { service throws(VaultError) in
          (service, try await service.openContext(Self.options(options, callersFallback: false)))
        }
      } catch {
        return .failure(error)
      }
      let listener = PromptListener(context.events)
      let session = PromptSession(service: service, handle: context.handle, words: words)
      // A prompt may block its thread, waiting for keys.
      Task(executorPreference: BackgroundThread()) {
        await listener.run { numbered in
          observers.yield(numbered.event)
          // Skip prompts whose call has already returned.
          if numbered.event.isQuestion, !session.isAsking { return }
          let session = session.with(event: numbered.number)
          await prompt.handle(numbered.event, in: session)
          await session.shown(numbered.event)
        }
        observers.finish()
      }
      return .success(Opened(service: service, handle: context.handle, listener: listener))
    }
  }

  private static func options(_ options: Options, callersFallback: Bool) -> ContextOptions {
    var asked = ContextOptions(
      interactionNotAllowed: options.interactionNotAllowed, timeout: options.timeout,
      preferPasscode: options.preferPasscode)
    asked.allowsGuessablePasscode = options.allowsGuessablePasscode
    asked.keepsEvidence = options.keepsEvidence
    asked.reuseDuration = options.reuseDuration
    asked.fallback =
      options.fallbackTitle == ""
      ? .never
      : callersFallback
        ? .callersAfterNoMatch
        : options.offersFallbackAtOnce ? .atOnce : .afterNoMatch
    return asked
  }
}

extension VaultError {
  /// Whether the call was cancelled, perhaps while a prompt was shown.
  fileprivate var endsFromOutside: Bool {
    switch self {
    case .cancelled, .appCancelled, .systemCancelled: true
    default: false
    }
  }
}

extension Biometry {
  /// Why a policy cannot be evaluated now; nil where it can.
  package func problem(for policy: AuthenticationPolicy) -> VaultError? {
    switch policy {
    case .biometrics: problem
    case .deviceOwner: passcodeSet ? nil : .passcodeNotSet
    }
  }
}

/// The streams of events of a context.
private final class Observers: Sendable {
  private struct State {
    var streams: [Int: AsyncStream<AuthenticationEvent>.Continuation] = [:]
    var last = 0
    var finished = false
  }

  private let state = Mutex(State())

  /// The events from now on.
  func makeStream() -> AsyncStream<AuthenticationEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: AuthenticationEvent.self)
    let number = state.withLock { state -> Int? in
      guard !state.finished else { return nil }
      state.last += 1
      state.streams[state.last] = continuation
      return state.last
    }
    if let number {
      continuation.onTermination = { [weak self] _ in self?.remove(number) }
    } else {
      continuation.finish()
    }
    return stream
  }

  func yield(_ event: AuthenticationEvent) {
    for stream in state.withLock({ Array($0.streams.values) }) { stream.yield(event) }
  }

  func finish() {
    let streams = state.withLock { state in
      state.finished = true
      defer { state.streams = [:] }
      return Array(state.streams.values)
    }
    for stream in streams { stream.finish() }
  }

  private func remove(_ number: Int) { state.withLock { $0.streams[number] = nil } }
}
