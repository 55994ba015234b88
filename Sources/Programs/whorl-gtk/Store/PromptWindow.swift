internal import CAdwaita
internal import Primitives
internal import Prompts
internal import SecretModel
internal import Whorl

/// Asks for the window's own requests in the window: for a touch, and at the same time for the passcode where it may be
/// given instead. It asks for one request at a time.
final class PromptWindow {
  private let parent: Widget
  private var interface: Interface?
  /// The request that the window shows, and how it is answered.
  private var request: WindowPrompt?
  private var session: PromptSession?
  /// Whether the vault waits for what is typed, and not for a touch.
  private var isQuestion = false
  /// Waits for a password that no request of the vault asks for.
  private var typing: CheckedContinuation<SharedSecret?, Never>?
  /// Whether that may be left empty.
  private var isOptional = false
  /// Ends an enrolment that no request of the vault makes, while it is shown.
  private var cancelEnrolment: (() -> Void)?
  /// What was typed while a touch was asked for. It answers the question for the passcode that follows.
  private var early: SharedSecret?

  init(over parent: Widget) { self.parent = parent }

  /// A prompt for the context of one request.
  func makePrompt() -> any AuthenticationPrompt { WindowPrompt(window: self) }

  /// Has the person type a password that no request of the vault asks for.
  ///
  /// - Parameters:
  ///   - what: such as "The login password".
  ///   - told: what the person should know before.
  ///   - isNew: whether it is typed twice.
  /// - Returns: nil if the person cancels, or something else is asked at the moment.
  func typed(_ what: String, told: String, isNew: Bool, isOptional: Bool) async -> SharedSecret? {
    guard !isBusy else { return nil }
    self.isOptional = isOptional
    let interface = open()
    interface["request"].set("label", what)
    interface["finger"].isVisible = false
    if !told.isEmpty { say(told) }
    interface["again"].isVisible = isNew
    interface["passcode"].set("placeholder-text", what)
    interface["passcode"].setSpokenName(what)
    interface["answer"].isSensitive = isOptional
    interface["passcode"].focus()
    return await withCheckedContinuation { typing = $0 }
  }

  private var isBusy: Bool { request != nil || typing != nil || cancelEnrolment != nil }

  // MARK: Enrolments in the desktop's settings

  /// Shows the touches of an enrolment that no request of the vault makes.
  ///
  /// - Parameters:
  ///   - words: what the person should know before the first touch.
  ///   - cancel: ends it.
  /// - Returns: false if something else is asked at the moment.
  func beginEnrolment(_ words: String, cancel: @escaping () -> Void) -> Bool {
    guard !isBusy else { return false }
    cancelEnrolment = cancel
    let interface = open()
    interface["request"].set("label", words)
    for name in ["passcode", "again", "answer"] { interface[name].isVisible = false }
    interface["progress"].isVisible = true
    interface["cancel"].focus()
    return true
  }

  func show(_ event: ScanEvent, of request: TouchRequest) {
    guard cancelEnrolment != nil, let interface else { return }
    switch event {
    case .fingerNeeded: interface["request"].set("label", PromptText.touch(request, keys: nil))
    case .stage(let completed, let count): show(stage: completed, of: count)
    case .retry(let reason): say(PromptText.retry(reason))
    case .fingerPossible, .fingerPresent, .fingerLifted: break
    }
  }

  func endEnrolment() {
    guard cancelEnrolment != nil else { return }
    cancelEnrolment = nil
    interface?.close()
    interface = nil
  }

  private func show(stage completed: Int, of count: Int) {
    say(PromptText.stage(completed: completed, of: count))
    guard let bar = interface?["progress"] else { return }
    gtk_progress_bar_set_fraction(bar.opaque, Double(completed) / Double(max(count, 1)))
  }

  private func finishTyping(_ answer: SharedSecret?) {
    guard let typing else { return }
    (self.typing, isOptional) = (nil, false)
    interface?.close()
    interface = nil
    typing.resume(returning: answer)
  }

  fileprivate func handle(_ event: AuthenticationEvent, of request: WindowPrompt, in session: PromptSession) async {
    if self.request !== request {
      guard event.isQuestion else { return }
      guard !isBusy else {
        say(Text.of("Something else was asked meanwhile, and refused. Answer this first."))
        return await session.cancel()
      }
      self.request = request
    }
    switch event {
    case .touchWanted(var request):
      self.session = session
      isQuestion = false
      request.sayOnce()
      show(
        PromptText.touch(request, keys: nil), withFinger: true,
        typing: request.passcodeInstead ? .passcode(attempt: 1) : nil)
      if case .enroll = request.purpose { interface?["progress"].isVisible = true }
    case .secretWanted(let request):
      self.session = session
      isQuestion = true
      if case .passcode = request, let typed = early {
        early = nil
        return await session.answer(typed.copy())
      }
      show(PromptText.question(request, reason: session.reason), withFinger: false, typing: request)
    case .retry(let reason): say(PromptText.retry(reason))
    case .noMatch(let remaining): say(PromptText.noMatch(remaining: remaining))
    case .fingerUnavailable(let error): say(PromptText.unavailable(error))
    case .notice(let notice): say(PromptText.notice(notice))
    case .enrolmentStage(let completed, let count): show(stage: completed, of: count)
    case .matched, .fingerPresent: break
    }
  }

  fileprivate func finished(_ request: WindowPrompt) {
    guard self.request === request else { return }
    (self.request, session, early, isQuestion) = (nil, nil, nil, false)
    interface?.close()
    interface = nil
  }

  private func show(_ request: String, withFinger: Bool, typing: SecretRequest?) {
    let interface = open()
    interface["request"].set("label", request)
    interface["finger"].isVisible = withFinger
    interface["passcode"].isVisible = typing != nil
    let isNew = if case .newPasscode = typing { true } else { false }
    interface["again"].isVisible = isNew
    interface["answer"].isVisible = typing != nil
    guard let typing else { return interface["cancel"].focus() }
    let words =
      switch typing {
      case .passcode: Text.of("Passcode")
      case .newPasscode: Text.of("New passcode")
      case .recoveryKey: Text.of("Recovery key")
      case .applicationPassword: Text.of("Password of this secret")
      }
    interface["passcode"].set("placeholder-text", words)
    interface["passcode"].setSpokenName(words)
    interface["passcode"].focus()
  }

  private func say(_ result: String) {
    guard let label = interface?["result"] else { return }
    label.set("label", result)
    label.isVisible = true
  }

  private func open() -> Interface {
    if let interface { return interface }
    let interface = Interface(PackageResources.prompt_ui)
    self.interface = interface
    gtk_window_set_default_widget(interface["window"].typed(), interface["answer"].typed())
    let (entry, answer) = (interface["passcode"], interface["answer"])
    let again = interface["again"]
    for typed in [entry, again] {
      typed.on("changed") { [unowned self] in
        answer.isSensitive =
          (isOptional || !entry.isEmpty) && (!again.isVisible || entry.secret.constantTimeEquals(again.secret))
      }
    }
    answer.on("clicked") { [weak self] in self?.answer(entry) }
    // The window closes when the request has ended, and not before.
    interface.present(over: parent) { [weak self] in self?.cancel() }
    return interface
  }

  private func answer(_ entry: Widget) {
    let typed = SharedSecret(entry.secret)
    entry.text = ""
    interface?["again"].text = ""
    if typing != nil { return finishTyping(typed) }
    guard let session else { return }
    let isQuestion = isQuestion
    if !isQuestion { early = typed }
    MainLoop.begin {
      if isQuestion { await session.answer(typed.copy()) } else { await session.chooseFallback() }
    }
  }

  private func cancel() {
    if typing != nil { return finishTyping(nil) }
    if let cancelEnrolment { return cancelEnrolment() }
    guard let session else { return }
    MainLoop.begin { await session.cancel() }
  }
}

/// Passes the requests of a context to the window's thread.
private nonisolated final class WindowPrompt: AuthenticationPrompt {
  private let window: PromptWindow

  init(window: PromptWindow) { self.window = window }

  func handle(_ event: AuthenticationEvent, in session: PromptSession) async {
    await window.handle(event, of: self, in: session)
  }

  func finished(in session: PromptSession) async { await window.finished(self) }
}

extension TouchRequest {
  /// Leaves the names of the items to the reason if that has all of them, since the words of the window say what it does with
  /// which item.
  fileprivate mutating func sayOnce() {
    guard case .read(let items, let reason?) = purpose,
      items.allSatisfy({ reason.contains(PromptLabel.text($0.description)) })
    else { return }
    purpose = .evaluate(reason: reason)
  }
}

extension AuthenticationEvent {
  /// Whether it asks the person for something.
  nonisolated var isQuestion: Bool {
    switch self {
    case .touchWanted, .secretWanted: true
    default: false
    }
  }
}
