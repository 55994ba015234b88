internal import Dispatch
package import Primitives
package import Prompts
package import SecretModel
internal import Synchronization

/// The dialogue of one context at the terminal, from its first event to the end of the call.
final class TerminalDialogue: Sendable {
  private struct State: ~Copyable {
    var line: ProgressLine
    /// The result of the last touch, for the prompt of the next one.
    var lastTouch: String?
    /// Why the passcode is asked for instead of a finger.
    var unavailable: VaultError?
    /// Rejects the request that is using the reader, while this one waits.
    var ahead: PromptSession?
    /// Waits for Enter, Esc and Ctrl-R.
    var keys: KeyWatch?
    /// Withdraws the question that is being asked.
    var question: Stopper?
    /// Whether the details of the program that asks are already shown.
    var hasDetailsShown = false
    var isOver = false
  }

  private let session: PromptSession
  private let style: TerminalPromptStyle
  private let terminal: Terminal?
  /// Whether the wanted touch has a fallback. Read by the thread that watches the keys.
  private let isFallbackOffered = Atomic(false)
  private let state: Mutex<State>

  init(_ session: PromptSession, _ style: TerminalPromptStyle) {
    (self.session, self.style) = (session, style)
    let terminal = Terminal()
    self.terminal = terminal
    let line =
      switch style.output {
      case .terminal: ProgressLine(descriptor: terminal?.descriptor ?? -1, live: false)
      case .standardError: ProgressLine.onStandardError()
      }
    state = Mutex(State(line: line))
  }

  func handle(_ event: AuthenticationEvent, in session: PromptSession) async {
    if case .secretWanted(let request) = event { return await answer(request, in: session) }
    state.withLock { state in
      guard !state.isOver else { return }
      switch event {
      case .touchWanted(let request):
        state.ahead = nil
        ask(request, &state)
      case .retry(let reason): tell(PromptText.retry(reason), &state)
      case .noMatch(let remaining): tell(PromptText.noMatch(remaining: remaining), &state)
      case .matched:
        isFallbackOffered.store(false, ordering: .relaxed)
        state.line.finish()
        state.lastTouch = nil
      case .enrolmentStage(let completed, let count):
        tell(PromptText.stage(completed: completed, of: count), &state)
        // The confirming touch starts afresh.
        if completed == count { state.lastTouch = nil }
      case .fingerUnavailable(let error):
        isFallbackOffered.store(false, ordering: .relaxed)
        state.unavailable = error
      case .notice(let notice): tell(notice, in: session, &state)
      case .fingerPresent, .secretWanted: break
      }
    }
  }

  /// Restores the terminal, and withdraws a question that is still asked.
  func end() {
    let keys = state.withLock { state -> KeyWatch? in
      state.isOver = true
      state.line.finish()
      state.question?.stop()
      defer { state.keys = nil }
      return state.keys
    }
    keys?.stop()
  }

  // MARK: Touches

  private func ask(_ request: TouchRequest, _ state: inout State) {
    isFallbackOffered.store(request.passcodeInstead, ordering: .relaxed)
    watchKeys(&state)
    let fallback = request.passcodeInstead ? session.fallbackTitle ?? "go on without a finger" : nil
    let keys = PromptText.keys(fallback: fallback, cancel: session.cancelTitle ?? "cancel")
    let text = PromptText.touch(request, for: style.asker, keys: state.keys == nil ? nil : keys)
    switch (request.purpose, state.lastTouch) {
    // Between the stages of an enrolment the line of the last stage says what to do.
    case (.enroll, .some): break
    case (_, let last?): state.line.show("\(last). \(text)")
    case (_, nil): state.line.show(text)
    }
    guard let asker = style.asker, !state.hasDetailsShown else { return }
    state.hasDetailsShown = true
    state.line.keep(asker.detailsLine)
  }

  private func tell(_ words: String, _ state: inout State) {
    state.line.tell(words)
    state.lastTouch = words
  }

  private func tell(_ notice: Notice, in session: PromptSession, _ state: inout State) {
    // The caller reports how the call has ended.
    if case .unanswered = notice { return }
    let text = PromptText.notice(notice)
    guard case .readerInUse(let use) = notice else { return state.line.keep(text) }
    watchKeys(&state)
    let canReject = if case .program = use { state.keys != nil } else { false }
    state.ahead = canReject ? session : nil
    state.line.keep(canReject ? "\(text) (\(PromptText.rejectKeys))" : text)
  }

  /// Watches for Enter, Esc and Ctrl-R until the call ends or a question is asked, also while a passcode is checked.
  private func watchKeys(_ state: inout State) {
    guard !state.isOver, state.keys == nil, let terminal else { return }
    state.keys = KeyWatch(on: terminal) { [weak self] key in self?.pressed(key) }
  }

  private func pressed(_ key: Key) {
    let session = session
    switch key {
    case .cancel: Task(executorPreference: BackgroundThread.shared) { await session.cancel() }
    case .enter:
      guard isFallbackOffered.load(ordering: .relaxed) else { return }
      Task(executorPreference: BackgroundThread.shared) { await session.chooseFallback() }
    case KeyWatch.reject:
      guard let ahead = state.withLock({ $0.ahead }) else { return }
      Task(executorPreference: BackgroundThread.shared) { await ahead.rejectRequestAhead() }
    default: break
    }
  }

  // MARK: Secrets

  private func answer(_ request: SecretRequest, in session: PromptSession) async {
    isFallbackOffered.store(false, ordering: .relaxed)
    let unavailable = state.withLock { state in
      state.line.finish()
      state.lastTouch = nil
      return state.unavailable
    }
    switch await Self.onOwnThread({ self.reply(request, unavailable) }) {
    case .secret(let secret): await session.answer(secret.copy())
    case .cancelled: await session.cancel()
    case .none: await session.decline()
    }
  }

  private enum Reply {
    case secret(SharedSecret)
    case cancelled
    case none
  }

  private func reply(_ request: SecretRequest, _ unavailable: VaultError?) -> Reply {
    switch style.answers?.answer(request, unavailable: unavailable) ?? .ask(twice: false) {
    case .secret(let secret):
      explain(unavailable)
      return .secret(secret)
    case .none: return .none
    case .ask(let twice):
      do throws(Unanswered) {
        explain(unavailable)
        return .secret(SharedSecret(try ask(request, twice: twice)))
      } catch {
        if case .cancelled = error { return .cancelled }
        style.answers?.unanswered(error)
        return .none
      }
    }
  }

  /// Shows why the passcode is asked for instead of a finger.
  private func explain(_ unavailable: VaultError?) {
    guard let unavailable else { return }
    state.withLock { state in
      state.line.keep(PromptText.unavailable(unavailable))
      state.unavailable = nil
    }
  }

  private func ask(_ request: SecretRequest, twice: Bool) throws(Unanswered) -> SecretBytes {
    guard let terminal else { throw .noTerminal }
    let stopper = Stopper()
    let (isOver, watch) = state.withLock { state -> (Bool, KeyWatch?) in
      state.question = state.isOver ? nil : stopper
      defer { state.keys = nil }
      return (state.isOver, state.keys)
    }
    guard !isOver else { throw .withdrawn }
    // Echo stays off from before the watch ends until the next one begins, so that nothing typed in between is shown.
    guard terminal.beginKeys() else { throw .noTerminal }
    defer { terminal.endKeys() }
    watch?.stop()
    defer {
      state.withLock { state in
        state.question = nil
        watchKeys(&state)
      }
    }
    switch request {
    case .newPasscode: return try terminal.readNewSecret("passcode", stopper: stopper)
    case .applicationPassword(let name) where twice:
      return try terminal.readNewSecret(
        "application password of \(PromptLabel.text(name.description))", stopper: stopper)
    default:
      let question = PromptText.question(request, reason: session.reason, for: style.asker)
      return
        if case .recoveryKey = request
      { try terminal.readRecoveryKey(question, stopper: stopper) } else {
        try terminal.readSecret(question, stopper: stopper)
      }
    }
  }

  /// Reading blocks until the person types, so it must not run on a thread of the task pool.
  private static func onOwnThread(_ body: @escaping @Sendable () -> Reply) async -> Reply {
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "whorl.question").async { continuation.resume(returning: body()) }
    }
  }
}

/// How a program may configure a terminal prompt.
package struct TerminalPromptStyle: Sendable {
  package enum Output: Sendable {
    /// Lines on the terminal.
    case terminal
    /// Lines on standard error; if that is a terminal, the last line is replaced.
    case standardError
  }

  package var output = Output.terminal
  /// The other program for which this one asks; nil if it asks for itself.
  package var asker: PromptAsker?
  /// Answers that the program has without asking the person.
  package var answers: (any PreparedAnswers)?

  package init() {}
}

/// Answers that a program has without asking the person, such as those read from descriptors.
package protocol PreparedAnswers: Sendable {
  /// The answer to a request. May block. `unavailable` says why the passcode is asked for in place of a finger.
  func answer(_ request: SecretRequest, unavailable: VaultError?) -> PreparedAnswer

  /// Called when the person was asked and did not answer, for a reason other than cancelling.
  func unanswered(_ reason: Unanswered)
}

package enum PreparedAnswer: Sendable {
  case secret(SharedSecret)
  /// Ask the person. Ask twice if a mistyped answer could not be noticed later.
  case ask(twice: Bool)
  /// There is no answer, and nobody may be asked.
  case none
}
