internal import SDBus
import Synchronization

/// Replaces the notification service of a desktop on a private bus, and the person who sees it.
package final class DesktopStandIn: Sendable {
  package struct Shown: Sendable, Hashable {
    package var number: UInt32
    package var text: String
    package var actions: [String]
    package var title = ""
    /// 0 (low), 1 (normal) or 2 (critical); nil if not given.
    package var urgency: UInt8?
    package var image: String?
    /// Whether the desktop does not keep it after it has left the screen.
    package var isTransient = false
  }

  private struct State {
    var shown: [Shown] = []
    var closed: [UInt32] = []
    /// How many notifications are refused before one is shown.
    var refusals = 0
    /// Whether calls are not answered until ``goOn()``.
    var hangs = false
    var unanswered: [BusCall] = []
    var capabilities = ["actions", "body", "body-markup"]
  }

  private final class SharedState: Sendable {
    let value = Mutex(State())
  }

  private static let target = BusTarget(
    path: "/org/freedesktop/Notifications", interface: "org.freedesktop.Notifications")

  private let state: SharedState
  private let connection: BusConnection

  /// - Parameters:
  ///   - hasty: an action that the person chooses before the program learns the number of its notification.
  ///   - refusals: how many notifications are refused before one is shown.
  ///   - hangs: answers no call before ``goOn()``.
  ///   - hasActions: whether it shows actions.
  package init(
    on bus: PrivateBus, hasty: String? = nil, refusals: Int = 0, hangs: Bool = false, hasActions: Bool = true
  ) async throws {
    let state = SharedState()
    self.state = state
    state.value.withLock { state in
      (state.refusals, state.hangs) = (refusals, hangs)
      if !hasActions { state.capabilities.removeAll { $0 == "actions" } }
    }
    connection = try BusConnection(busAddress: bus.address, handlers: .init(call: { Self.answer($0, state, hasty) }))
    let answer = try await connection.call(
      MessageBus.target, "RequestName", [.string(Self.target.interface), .uint32(0)])
    guard answer.first?.asUInt32 == 1 else { throw SystemFailure("the name is taken", 0) }
  }

  package func close() { connection.close() }

  /// Answers the waiting calls, and all later ones.
  package func goOn() {
    let unanswered = state.value.withLock { state in
      state.hangs = false
      return state.unanswered
    }
    for call in unanswered { Self.answer(call, state, nil) }
  }

  package var shown: [Shown] { state.value.withLock { $0.shown } }
  package var closed: [UInt32] { state.value.withLock { $0.closed } }

  /// Waits for a notification; fails after half a minute.
  package func first() async throws -> Shown {
    for _ in 0..<6_000 {
      if let first = shown.first { return first }
      try await Task.sleep(for: .milliseconds(5))
    }
    throw SystemFailure("no notification", 110)
  }

  /// Waits for a notification with this text in it; fails after half a minute.
  package func first(with text: String) async throws -> Shown {
    for _ in 0..<6_000 {
      if let found = shown.first(where: { $0.text.contains(text) }) { return found }
      try await Task.sleep(for: .milliseconds(5))
    }
    throw SystemFailure("no notification with “\(text)”: \(shown)", 110)
  }

  /// Waits until a notification was closed; fails after half a minute.
  package func waitUntilClosed(_ number: UInt32) async throws {
    for _ in 0..<6_000 {
      if closed.contains(number) { return }
      try await Task.sleep(for: .milliseconds(5))
    }
    throw SystemFailure("the notification stays", 110)
  }

  /// - Parameter action: `default` is a click beside the buttons.
  package func choose(_ action: String, of number: UInt32) {
    connection.emit(Self.target, "ActionInvoked", [.uint32(number), .string(action)])
  }

  /// Gives what lets a window take the keyboard, as desktops do before an action.
  package func give(activationToken token: String, for number: UInt32) {
    connection.emit(Self.target, "ActivationToken", [.uint32(number), .string(token)])
  }

  /// The person closes it.
  package func dismiss(_ number: UInt32) {
    connection.emit(Self.target, "NotificationClosed", [.uint32(number), .uint32(2)])
  }

  private static func answer(_ call: BusCall, _ state: SharedState, _ hasty: String?) {
    let isHeld = state.value.withLock { state in
      if state.hangs { state.unanswered.append(call) }
      return state.hangs
    }
    if isHeld { return }
    switch call.member {
    case "Notify":
      guard call.arguments.count == 8, let replaced = call.arguments[1].asUInt32, let text = call.arguments[4].asString,
        let actions = call.arguments[5].asArray?.compactMap(\.asString),
        let title = call.arguments[3].asString, let hints = call.arguments[6].asDictionary
      else { return call.fail("org.freedesktop.DBus.Error.InvalidArgs", "unexpected") }
      let isRefused = state.value.withLock { state in
        defer { state.refusals = max(state.refusals - 1, 0) }
        return state.refusals > 0
      }
      // As Plasma does.
      if isRefused { return call.fail("\(target.interface).Error.ExcessNotificationGeneration", "too many") }
      let number = state.value.withLock { state in
        let number = replaced == 0 ? UInt32(state.shown.count + 1) : replaced
        var shown = Shown(number: number, text: text, actions: actions, title: title)
        shown.urgency = hints["urgency"].flatMap { if case .byte(let value) = $0 { value } else { nil } }
        shown.image = hints["image-path"]?.asString
        shown.isTransient = hints["transient"] != nil
        state.shown.append(shown)
        return number
      }
      if let hasty { call.connection.emit(target, "ActionInvoked", [.uint32(number), .string(hasty)]) }
      call.answer([.uint32(number)])
    case "GetCapabilities":
      call.answer([.array(of: "s", state.value.withLock { $0.capabilities.map { .string($0) } })])
    case "CloseNotification":
      state.value.withLock { $0.closed.append(call.arguments.first?.asUInt32 ?? 0) }
      call.answer()
    default: call.fail("org.freedesktop.DBus.Error.UnknownMethod", "unexpected")
    }
  }
}
