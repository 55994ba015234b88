internal import SDBus
internal import Whorl

/// The SSH agent that XFCE's session starts for its terminals, whatever agent they were given before. A setting of the user's
/// turns it off; another setting beside it says that Whorl did so.
package struct XFCEAgent {
  package enum State {
    case on
    case offByWhorl
    case offByUser
  }

  private static let channel = "xfce4-session"
  private static let (setting, mark) = ("/startup/ssh-agent/enabled", "/startup/ssh-agent/whorl")
  private static let settings = BusTarget(
    destination: "org.xfce.Xfconf", path: "/org/xfce/Xfconf", interface: "org.xfce.Xfconf")

  private let bus: BusConnection

  /// The settings of XFCE on the session's bus, which starts the program that has them; nil without a bus.
  package init?() {
    guard let bus = try? BusConnection(busAddress: BaseDirectories.sessionBus, handlers: .init()) else { return nil }
    self.bus = bus
  }

  package func close() { bus.close() }

  /// Nil where XFCE is not installed.
  package func state() async -> State? {
    guard let isSet = await exists(Self.setting) else { return nil }
    guard isSet, await value(Self.setting) == false else { return .on }
    return await exists(Self.mark) == true ? .offByWhorl : .offByUser
  }

  /// Turns it off from the next login on.
  ///
  /// - Returns: whether it was on.
  package func turnOff() async -> Bool {
    guard await state() == .on else { return false }
    // The mark first: without it, turning it on again would leave the setting.
    guard await set(Self.mark, true) else { return false }
    return await set(Self.setting, false)
  }

  /// Turns it on again, if Whorl has turned it off.
  ///
  /// - Returns: whether it did.
  package func turnOn() async -> Bool {
    guard await exists(Self.mark) == true else { return false }
    for name in [Self.setting, Self.mark] {
      guard await call("ResetProperty", [.string(name), .boolean(false)]) != nil else { return false }
    }
    return true
  }

  private func exists(_ name: String) async -> Bool? {
    await call("PropertyExists", [.string(name)])?.first?.asBoolean
  }

  private func value(_ name: String) async -> Bool? {
    await call("GetProperty", [.string(name)])?.first?.asVariant?.asBoolean
  }

  private func set(_ name: String, _ value: Bool) async -> Bool {
    await call("SetProperty", [.string(name), .variant(.boolean(value))]) != nil
  }

  private func call(_ member: String, _ arguments: [BusValue]) async -> [BusValue]? {
    try? await bus.call(Self.settings, member, [.string(Self.channel)] + arguments)
  }
}
