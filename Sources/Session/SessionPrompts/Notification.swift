internal import Primitives
internal import SDBus
internal import Synchronization

/// One notification of the desktop (`org.freedesktop.Notifications`), with actions.
///
/// Another program of the user can close it, read it or press its actions, which grants nothing. A click on it opens Whorl's
/// window, where that is installed, and it is shown again while it asks for something.
final class Notification: Sendable {
  enum Action: String, CaseIterable, Sendable {
    case cancel, passcode

    var title: String {
      switch self {
      case .cancel: Text.of("Cancel")
      case .passcode: Text.of("Passcode")
      }
    }
  }

  /// What it says.
  struct Content: Sendable {
    var title: String
    var text: String
    /// The name or the path of a picture beside the text; nil for none.
    var image: String?
    var actions: [Action]
  }

  private static let name = "org.freedesktop.Notifications"
  /// The action of a click beside the buttons.
  private static let click = "default"
  /// The longest wait for a desktop that does not answer.
  private static let limit = Duration.seconds(2)
  /// How often a notification that the desktop refused is sent, and the pause before sending it again. Plasma refuses a
  /// repeated text for a second.
  private static let attempts = 3
  private static let pause = Duration.milliseconds(1_100)

  private struct State {
    /// What is shown; nil before.
    var content: Content?
    /// What lets the window take the keyboard when it is opened; nil if the desktop gives none.
    var activationToken: String?
    /// The number that the desktop gave the notification; 0 before.
    var number: UInt32 = 0
    /// Counts the texts, so that an earlier one is not sent again.
    var version = 0
    var isClosing = false
    /// Whether it stays after this program's last request.
    var isLeft = false
    /// Actions that arrived before the desktop's answer with the notification's number, by number.
    var early: [UInt32: Action] = [:]
  }

  /// The most early actions to store, since they may belong to notifications of other programs.
  private static let earlyLimit = 64

  /// The last ones that stay after a request, oldest first, with their connections: they hear of the click, and GNOME removes
  /// what a program with a desktop file has shown when its connection ends.
  private static let left = Mutex<[Notification]>([])
  private static let leftLimit = 3

  private let bus: BusConnection
  /// The unique name of the desktop's service.
  private let owner: String
  /// Whether the desktop shows actions; assumed if it does not answer.
  let hasActions: Bool
  /// The window with the page that a click opens; nil if it is not installed.
  private let window: WindowPage?
  private let state: Mutex<State>
  private let chosen: @Sendable (Action) -> Void
  private let lost: @Sendable () -> Void

  /// Connects to the service, which the bus starts if possible. Nil if there is none.
  ///
  /// - Parameters:
  ///   - address: of the session's bus.
  ///   - page: the page of Whorl's window that a click opens.
  ///   - chosen: called when the person has chosen an action, or closed the notification, which counts as cancelling.
  ///   - lost: called when a text cannot be shown: the desktop does not answer, or refuses it every time.
  init?(
    onBus address: String, page: WindowPage? = nil, chosen: @escaping @Sendable (Action) -> Void = { _ in },
    lost: @escaping @Sendable () -> Void = {}
  ) async {
    (self.chosen, self.lost) = (chosen, lost)
    let relay = SignalRelay()
    do throws(BusError) {
      bus = try BusConnection(busAddress: address, handlers: .init(signal: { relay.handle($0) }))
    } catch {
      return nil
    }
    state = Mutex(State())
    do throws(BusError) {
      if try await bus.owner(of: Self.name) == nil {
        // 0: no flags
        _ = try await bus.call(
          MessageBus.target, "StartServiceByName", [.string(Self.name), .uint32(0)], within: Self.limit)
      }
      guard let owner = try await bus.owner(of: Self.name) else { throw .disconnected }
      self.owner = owner
      let answer = try? await bus.call(Self.target(owner), "GetCapabilities", within: Self.limit)
      hasActions = answer?.first?.asArray?.contains(.string("actions")) ?? true
      window = if let page, await page.isInstalled(on: bus) { page } else { nil }
      try await bus.subscribe(of: Self.target(owner))
    } catch {
      bus.close()
      return nil
    }
    relay.listen { [weak self] in self?.handle($0) }
  }

  deinit { bus.close() }

  private static func target(_ owner: String) -> BusTarget {
    BusTarget(destination: owner, path: "/org/freedesktop/Notifications", interface: name)
  }

  /// Shows the text. Replaces the text that is shown already. Returns after the first attempt.
  func show(_ content: Content) async {
    let version = state.withLock { state in
      state.version += 1
      state.content = content
      return state.version
    }
    await show(content, version, attemptsLeft: Self.attempts)
  }

  /// Shows a last text, which the desktop keeps in its list. Nothing can be chosen any more. A click opens the window, until
  /// this program ends or has left some more.
  func leave(_ content: Content) async {
    state.withLock { $0.isLeft = true }
    if window != nil { Self.left.withLock { $0 = $0.suffix(Self.leftLimit - 1) + [self] } }
    await show(content)
  }

  private func show(_ content: Content, _ version: Int, attemptsLeft: Int) async {
    let (number, isLeft) = state.withLock { ($0.number, $0.isLeft) }
    // A prompt stays until it is closed: urgency "critical" and a timeout of 0. A note for later moves to the list
    // after a while, so it must not be transient.
    var hints: [String: BusValue] = ["urgency": .byte(isLeft ? 1 : 2), "category": .string("device")]
    hints["image-path"] = content.image.map { .string($0) }
    if window != nil { hints["desktop-entry"] = .string(WindowPage.application) }
    let click = window != nil && hasActions ? [BusValue.string(Self.click), .string("Whorl")] : []
    let arguments: [BusValue] = [
      .string("Whorl"), .uint32(number), .string("dialog-password"), .string(content.title),
      .string(Self.escaped(content.text)),
      .array(of: "s", content.actions.flatMap { [.string($0.rawValue), .string($0.title)] } + click),
      .dictionary(hints), .int32(isLeft ? -1 : 0),
    ]
    let shown: UInt32
    switch await offer(arguments) {
    case .shown(let number): shown = number
    case .unanswered: return lost()
    case .refused:
      guard attemptsLeft > 1 else { return lost() }
      // Runs in the background: the touch works without a notification.
      _ = LoopTimer(after: Self.pause) { [weak self] in
        guard let self, state.withLock({ $0.version == version }) else { return }
        Task(executorPreference: LoopTasks.shared) {
          await self.show(content, version, attemptsLeft: attemptsLeft - 1)
        }
      }
      return
    }
    let (isLate, early) = state.withLock { state in
      state.number = shown
      defer { state.early = [:] }
      return (state.isClosing, state.early[shown])
    }
    if let early { choose(early) } else if isLate { await take(shown) }
  }

  private enum Answer: Sendable {
    case shown(UInt32)
    case refused
    /// There was none in time. After a late one the notification is closed.
    case unanswered
  }

  private func offer(_ arguments: [BusValue]) async -> Answer {
    await withCheckedContinuation { continuation in
      let first = FirstAnswer(continuation)
      _ = LoopTimer(after: Self.limit) { _ = first.give(.unanswered) }
      bus.call(Self.target(owner), "Notify", arguments) { answer in
        let number = (try? answer.get())?.first?.asIdentifier(UInt32.self)
        guard !first.give(number.map { .shown($0) } ?? .refused), let number else { return }
        // Keeps the connection until then.
        Task(executorPreference: LoopTasks.shared) { await self.take(number) }
      }
    }
  }

  /// Keeps the first of two answers.
  private final class FirstAnswer: Sendable {
    private let continuation: Mutex<CheckedContinuation<Answer, Never>?>

    init(_ continuation: CheckedContinuation<Answer, Never>) { self.continuation = Mutex(continuation) }

    /// False if there was an answer before.
    func give(_ answer: Answer) -> Bool {
      let waiting = continuation.withLock { continuation in
        defer { continuation = nil }
        return continuation
      }
      waiting?.resume(returning: answer)
      return waiting != nil
    }
  }

  /// Closes the notification.
  func close() async {
    let number = state.withLock { state in
      state.isClosing = true
      return state.number
    }
    if number != 0 { await take(number) }
  }

  private func take(_ number: UInt32) async {
    // In a new task: this one may be cancelled, and a cancelled task sends no calls.
    await Task(executorPreference: LoopTasks.shared) { [bus, owner] in
      _ = try? await bus.call(Self.target(owner), "CloseNotification", [.uint32(number)], within: Self.limit)
    }.value
  }

  private func handle(_ signal: BusSignal) {
    guard signal.sender == owner, let number = signal.arguments.first?.asIdentifier(UInt32.self) else { return }
    let word = signal.arguments.dropFirst().first?.asString
    switch (signal.member, word) {
    case ("ActivationToken", let token?):
      return state.withLock { if $0.number == number { $0.activationToken = token } }
    case ("ActionInvoked", Self.click): return openWindow(from: number)
    default: break
    }
    guard let action = Self.action(of: signal) else { return }
    let isMine = state.withLock { state in
      if state.number == 0, state.early.count < Self.earlyLimit { state.early[number] = action }
      return state.number == number && number != 0
    }
    if isMine { choose(action) }
  }

  /// Opens the window, and shows a prompt again, since most desktops close what is clicked.
  private func openWindow(from number: UInt32) {
    // Some desktops report a click that no action was offered for.
    guard let window else { return }
    let (isMine, token) = state.withLock { state -> (Bool, String?) in
      guard number != 0, state.number == number, !state.isClosing else { return (false, nil) }
      // From now on the closing of the old one means nothing.
      state.number = 0
      defer { state.activationToken = nil }
      return (true, state.activationToken)
    }
    guard isMine else { return }
    Task(executorPreference: LoopTasks.shared) {
      await window.open(on: self.bus, activationToken: token)
      await self.take(number)
      // Not if another text was shown meanwhile.
      let content = self.state.withLock { $0.number == 0 && !$0.isClosing && !$0.isLeft ? $0.content : nil }
      if let content { await self.show(content) }
    }
  }

  /// The action in a signal; nil for other signals. Closing the notification counts as Cancel.
  private static func action(of signal: BusSignal) -> Action? {
    switch signal.member {
    case "ActionInvoked": signal.arguments.dropFirst().first?.asString.flatMap(Action.init)
    case "NotificationClosed": .cancel
    default: nil
    }
  }

  /// Only the first choice counts: the desktop may close the notification after an action.
  private func choose(_ action: Action) {
    let isFirst = state.withLock { state in
      defer { state.isClosing = true }
      return !state.isClosing && !state.isLeft
    }
    if isFirst { chosen(action) }
  }

  /// Escapes text, since the desktop may parse the body as markup.
  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for character in text {
      switch character {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      default: escaped.append(character)
      }
    }
    return escaped
  }
}

/// Passes the signals of a connection to a listener that is set later.
private final class SignalRelay: Sendable {
  private let listener = Mutex<(@Sendable (BusSignal) -> Void)?>(nil)

  func listen(_ listener: @escaping @Sendable (BusSignal) -> Void) { self.listener.withLock { $0 = listener } }

  func handle(_ signal: BusSignal) { listener.withLock { $0 }?(signal) }
}

/// A note to the person, which the desktop keeps in its list of notifications. Nothing is asked.
package enum DesktopNote {
  /// Shows it. Does nothing if no desktop shows notifications.
  ///
  /// - Parameter address: of the session's bus.
  package static func leave(_ title: String, _ text: String, onBus address: String) async {
    guard let notification = await Notification(onBus: address) else { return }
    await notification.leave(Notification.Content(title: title, text: text, image: nil, actions: []))
  }
}
