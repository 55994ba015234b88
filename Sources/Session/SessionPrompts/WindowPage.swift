internal import SDBus

/// A page of Whorl's window, which the desktop starts by its name on the session's bus if it does not run.
package enum WindowPage: String, Sendable {
  case secrets, passkeys, keys

  /// The name of the window's program on the bus, and of its desktop file.
  static let application = "org.whorl.Whorl"
  private static let target = BusTarget(
    destination: application, path: "/org/whorl/Whorl", interface: "org.freedesktop.Application")
  /// The longest wait for the bus, and for a window that starts.
  private static let limit = Duration.seconds(2)

  func isInstalled(on bus: BusConnection) async -> Bool {
    let names = try? await bus.call(MessageBus.target, "ListActivatableNames", within: Self.limit)
    return names?.first?.asArray?.contains(.string(Self.application)) ?? false
  }

  /// Shows the page in the window.
  ///
  /// - Parameter activationToken: of the desktop, lets the window take the keyboard.
  func open(on bus: BusConnection, activationToken: String?) async {
    var data: [String: BusValue] = [:]
    data["activation-token"] = activationToken.map { .string($0) }
    _ = try? await bus.call(
      Self.target, "ActivateAction", [.string(rawValue), .array(of: "v", []), .dictionary(data)], within: Self.limit)
  }
}
