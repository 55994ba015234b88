internal import SDBus

/// The environment variables with which a program finds the display of the desktop.
enum DisplayVariables {
  private static let names = ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"]
  private static let serviceManager = BusTarget(
    destination: "org.freedesktop.systemd1", path: "/org/freedesktop/systemd1",
    interface: "org.freedesktop.DBus.Properties")
  /// The longest wait for a service manager that does not answer.
  private static let limit = Duration.seconds(2)

  /// Whether an environment of `NAME=value` strings contains a display.
  static func nameADisplay(in environment: [String]) -> Bool {
    environment.contains { $0.hasPrefix("DISPLAY=") || $0.hasPrefix("WAYLAND_DISPLAY=") }
  }

  /// The environment, completed with the display of the user's service manager. A program that was started before the
  /// desktop has none itself.
  ///
  /// - Parameter address: of the session's bus.
  static func completed(_ environment: [String], onBus address: String) async -> [String] {
    guard !nameADisplay(in: environment) else { return environment }
    do throws(BusError) {
      let bus = try BusConnection(busAddress: address, handlers: .init())
      defer { bus.close() }
      let answer = try await bus.call(
        serviceManager, "Get", [.string("org.freedesktop.systemd1.Manager"), .string("Environment")], within: limit)
      let entries = answer.first?.asVariant?.asArray?.compactMap(\.asString) ?? []
      let display = entries.filter { entry in names.contains { entry.hasPrefix("\($0)=") } }
      guard nameADisplay(in: display) else { return environment }
      return environment.filter { entry in !names.contains { entry.hasPrefix("\($0)=") } } + display
    } catch {
      return environment
    }
  }
}
