// SessionPrompts: how a program without a terminal asks the person, and who is asking. Begin with `AgentPrompt`, which uses a
// `Notification`, `Pinentry` or the terminal of the client (`ClientTerminal`), one request at a time (`PromptTurns`).
// `ClientProgram` is the program that asks, `ClientPlaces` limits how many may be connected.

internal import Primitives
package import Prompts
package import SecretModel
internal import Synchronization
package import Whorl

/// Asks for a touch with a desktop notification, and for the passcode with pinentry. Without notifications it writes
/// the request and the keys for Cancel and Passcode to the client's terminal, where pinentry asks, too. Every request
/// is also logged, since a touch works without desktop and terminal.
package final class AgentPrompt: AuthenticationPrompt {
  /// Selects the text that prompts show for a request.
  package enum Wording: Sendable {
    /// Only the reason, which names the items.
    case reason
    /// The items of the request, and the reason if there is one.
    case items
  }

  /// The user's session.
  package struct Surroundings: Sendable {
    /// The address of the session's message bus.
    package var bus: String
    /// As `NAME=value`.
    package var environment: [String]
    /// Writes a line for people.
    package var log: @Sendable (String) -> Void
    package var wording: Wording
    /// The page of Whorl's window that requests are about.
    package var page: WindowPage

    package init(
      bus: String, environment: [String], log: @escaping @Sendable (String) -> Void, wording: Wording = .reason,
      page: WindowPage = .secrets
    ) {
      (self.bus, self.environment, self.log, self.wording, self.page) = (bus, environment, log, wording, page)
    }
  }

  private struct State {
    var notification: Notification?
    /// What the running call asks for, as the words after "wants to"; nil before its first request.
    var act: String?
    /// The notification's text and actions.
    var text = ""
    /// The result of the last touch, which is shown before the text until the next touch.
    var result: String?
    var actions: [Notification.Action] = []
    /// Reads keys in place of the notification's actions.
    var keys: ClientTerminalKeys?
    /// Why the passcode is asked for instead of a finger.
    var unavailable: VaultError?
    var pinentry: Pinentry?
    /// Whether the client's terminal shows more of the program than its name.
    var hasDetailsShown = false
    var isOver = false
  }

  private let surroundings: Surroundings
  /// The program that asks, at the start of each prompt.
  private let asker: PromptAsker
  private let terminal: ClientTerminal?
  private let state = Mutex(State())

  /// - Parameters:
  ///   - asker: the program that asks.
  ///   - terminal: the client's terminal, used without a desktop.
  package init(in surroundings: Surroundings, asker: PromptAsker, for terminal: ClientTerminal? = nil) {
    (self.surroundings, self.asker, self.terminal) = (surroundings, asker, terminal)
  }

  /// Whether a desktop shows notifications, so that a person sees the prompt.
  ///
  /// - Parameter address: of the session's bus.
  package static func canBeShown(onBus address: String) async -> Bool {
    await Notification(onBus: address) != nil
  }

  package func handle(_ event: AuthenticationEvent, in session: PromptSession) async {
    switch event {
    case .touchWanted, .secretWanted:
      // A context may prompt for several calls, one after another.
      state.withLock { state in if state.isOver { (state.isOver, state.act) = (false, nil) } }
    default: break
    }
    switch event {
    case .touchWanted(let request): await ask(request, in: session)
    case .retry(let reason): await tell(PromptText.retry(reason))
    case .noMatch(let remaining): await tell(PromptText.noMatch(remaining: remaining))
    case .matched: await takeDown()
    case .fingerUnavailable(let error):
      surroundings.log(error.explanation.what)
      state.withLock { $0.unavailable = error }
    case .notice(.unanswered): await leave()
    case .notice(let notice): await mention(PromptText.notice(notice))
    case .secretWanted(let request): await answer(request, in: session)
    case .fingerPresent: state.withLock { $0.result = nil }
    case .enrolmentStage: break
    }
  }

  package func finished(in session: PromptSession) async {
    let pinentry = state.withLock { state in
      state.isOver = true
      return state.pinentry
    }
    pinentry?.stop()
    await takeDown()
  }

  // MARK: Touches

  private func ask(_ request: TouchRequest, in session: PromptSession) async {
    let act = self.act(of: PromptText.act(of: request), in: session)
    let text = "\(asker.wants(to: act)) \(PromptText.sentence(PromptText.touch(request)))"
    surroundings.log("\(text) (program: \(asker.details))")
    let actions: [Notification.Action] = request.passcodeInstead ? [.cancel, .passcode] : [.cancel]
    let isShown = state.withLock { state in
      defer { (state.act, state.text, state.actions) = (act, text, actions) }
      return state.result != nil && (state.text, state.actions) == (text, actions)
    }
    // After a touch that did not match, the request is on the display already, together with the result.
    if isShown { return }
    if state.withLock({ $0.notification == nil }) {
      let notification = await Notification(onBus: surroundings.bus, page: surroundings.page) { [weak self] action in
        Task(executorPreference: BackgroundThread.shared) { await self?.chosen(action, in: session) }
      } lost: { [weak self] in
        Task(executorPreference: BackgroundThread.shared) { await self?.goOnWithoutNotification(in: session) }
      }
      state.withLock { $0.notification = notification }
    }
    readKeys(in: session)
    await show()
  }

  /// What is asked for, as the words after "wants to".
  ///
  /// - Parameter request: the text in the request itself.
  private func act(of request: String?, in session: PromptSession) -> String {
    let said =
      switch surroundings.wording {
      case .reason: session.reason
      case .items: request ?? session.reason
      }
    return said ?? Text.of("use your secrets")
  }

  /// Reads keys at the client's terminal if there is no notification with actions.
  private func readKeys(in session: PromptSession) {
    let isWanted = state.withLock { $0.notification?.hasActions != true && $0.keys == nil && !$0.isOver }
    guard let terminal, isWanted else { return }
    let keys = ClientTerminalKeys(on: terminal) { [weak self] key in
      Task(executorPreference: BackgroundThread.shared) {
        await self?.chosen(key == .enter ? .passcode : .cancel, in: session)
      }
    }
    state.withLock { $0.keys = keys }
  }

  private func goOnWithoutNotification(in session: PromptSession) async {
    let notification = state.withLock { state in
      defer { state.notification = nil }
      return state.notification
    }
    guard let notification else { return }
    surroundings.log("the desktop does not show the notification")
    readKeys(in: session)
    await show()
    // It may show an earlier text.
    await notification.close()
  }

  /// Shows the result of a touch, followed by the request.
  private func tell(_ words: String) async {
    surroundings.log(words)
    state.withLock { $0.result = words }
    await show()
  }

  /// Shows a notice, such as that another program has the reader, until the next request for a touch.
  private func mention(_ notice: String) async {
    surroundings.log(notice)
    state.withLock { $0.result = nil }
    await show(after: notice)
  }

  /// - Parameter notice: a sentence to begin with, in place of the result of the last touch.
  private func show(after notice: String? = nil) async {
    let (isOver, notification, actions, hasKeys) = state.withLock { state in
      (state.isOver, state.notification, state.actions, state.keys != nil)
    }
    let text = state.withLock { state in
      [notice ?? state.result.map(PromptText.sentence), state.text].compactMap(\.self).joined(separator: " ")
    }
    // The call may have ended while the notification was made.
    if isOver { return await takeDown() }
    if let notification {
      await notification.show(
        Notification.Content(
          title: Text.of("Whorl asks for your finger"), text: "\(text)\n\(asker.detailsLine)", image: asker.icon,
          actions: notification.hasActions ? actions : []))
      if notification.hasActions { return }
    }
    let keys = PromptText.keys(
      fallback: actions.contains(.passcode) ? Text.of("passcode") : nil, cancel: Text.of("cancel"))
    terminal?.write(hasKeys ? "\(text) (\(keys))" : text)
    let isFirst = state.withLock { state in
      defer { state.hasDetailsShown = true }
      return !state.hasDetailsShown
    }
    if isFirst { terminal?.write(asker.detailsLine) }
  }

  /// Leaves a note about an unanswered request in the desktop's list of notifications.
  private func leave() async {
    stopKeys()
    let (shown, act) = state.withLock { state in
      defer { (state.notification, state.actions) = (nil, []) }
      return (state.notification, state.act)
    }
    // Without it there was no prompt.
    guard let act else { return }
    let text = asker.wanted(to: act)
    surroundings.log(text)
    // Pinentry may have been asking.
    var notification = shown
    if notification == nil { notification = await Notification(onBus: surroundings.bus, page: surroundings.page) }
    guard let notification else {
      terminal?.write(text)
      return
    }
    await notification.leave(
      Notification.Content(
        title: Text.of("Not answered"), text: "\(text)\n\(asker.detailsLine)", image: asker.icon, actions: []))
  }

  private func chosen(_ action: Notification.Action, in session: PromptSession) async {
    guard state.withLock({ $0.actions.contains(action) }) else { return }
    let notification = state.withLock { state in
      defer { state.notification = nil }
      return state.notification
    }
    // Before the client gets its answer and may use the terminal itself.
    stopKeys()
    switch action {
    case .cancel: await session.cancel()
    case .passcode: await session.chooseFallback()
    }
    // Some desktops keep showing a notification whose action was chosen.
    await notification?.close()
  }

  private func takeDown() async {
    stopKeys()
    let notification = state.withLock { state in
      defer { (state.notification, state.result) = (nil, nil) }
      return state.notification
    }
    await notification?.close()
  }

  private func stopKeys() {
    let keys = state.withLock { state in
      defer { state.keys = nil }
      return state.keys
    }
    keys?.stop()
  }

  // MARK: The passcode

  private func answer(_ request: SecretRequest, in session: PromptSession) async {
    await takeDown()
    let environment = await DisplayVariables.completed(surroundings.environment, onBus: surroundings.bus)
    guard case .passcode(let attempt) = request, let pinentry = Pinentry(environment: environment, terminal)
    else {
      surroundings.log("the passcode is wanted, and nobody can be asked for it: pinentry is not installed")
      return await session.decline()
    }
    let (isOver, act, why) = state.withLock { state in
      // A touch that was asked for before has named the items.
      let act = state.act ?? self.act(of: nil, in: session)
      (state.pinentry, state.act) = (pinentry, act)
      return (state.isOver, act, state.unavailable.map { PromptText.unavailable($0) + " " } ?? "")
    }
    guard !isOver else { return await session.decline() }
    let answer = await pinentry.ask(
      Pinentry.Question(
        heading: asker.wants(to: act), request: why + Text.of("Enter your Whorl passcode."),
        details: asker.detailsLine, problem: attempt > 1 ? Text.of("Wrong passcode") : nil))
    state.withLock { $0.pinentry = nil }
    switch answer {
    case .secret(let secret): await session.answer(secret.copy())
    case .cancelled: await session.cancel()
    case .unanswered: await session.expire()
    case .unavailable:
      surroundings.log("the passcode is wanted, and pinentry cannot ask for it")
      await session.decline()
    }
  }
}
