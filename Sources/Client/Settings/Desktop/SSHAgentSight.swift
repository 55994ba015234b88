internal import CLinux
internal import Glibc
internal import Primitives
internal import Processes
internal import SDBus
internal import Whorl

/// Which SSH agent the programs of this user find: by the variable that they really have in their environment, and not by
/// what Whorl has set. For messages alone; nothing else depends on it.
struct SSHAgentSight {
  /// What new programs will find.
  package enum Finding: Equatable {
    /// whorl-agent: in the desktop of this name, or in this terminal if no desktop runs.
    case agent(of: String?)
    /// whorl-agent, but only from the next login on: the desktop of this name is older than the setting.
    case fromNextLogin(String)
    /// Another agent, or none, in the desktop of this name.
    case other(String?, in: String)
    /// None: no desktop runs, and this terminal was given no agent, or another one.
    case console
  }

  /// A program that starts others: a desktop's panel or shell.
  private struct Starter {
    let desktop: String
    let socket: String?
    /// When it was started, in seconds since 1970.
    let began: Int
  }

  /// The programs of which a person's terminals and other programs are children, by their names as the kernel has them.
  private static let desktops = [
    "gnome-shell": "GNOME", "plasmashell": "Plasma", "xfce4-panel": xfce, "xfdesktop": xfce, "lxqt-panel": "LXQt",
    "mate-panel": "MATE", "cinnamon": "Cinnamon", "budgie-panel": "Budgie", "lxpanel": "LXDE", "sway": "sway",
    "i3": "i3", "labwc": "labwc", "wayfire": "Wayfire", "Hyprland": "Hyprland", "niri": "niri", "openbox": "Openbox",
  ]
  package static let xfce = "XFCE"

  /// The socket at which whorl-agent listens.
  static var ownSocket: String { "\(BaseDirectories.runtime)/whorl-agent" }

  /// - Parameter changed: when the settings were last changed, in seconds since 1970.
  package static func finding(changed: Int) async -> Finding {
    let starters = runningStarters()
    if let wrong = starters.first(where: { $0.socket != ownSocket }) {
      let isOlder = wrong.began <= changed
      guard isOlder, await !isTakenAgain(by: wrong) else { return .other(wrong.socket, in: wrong.desktop) }
      return .fromNextLogin(wrong.desktop)
    }
    if let desktop = starters.first?.desktop {
      // GNOME and others have the user's service manager start their terminals.
      guard let given = await socketOfServiceManager(), given != ownSocket else { return .agent(of: desktop) }
      return .other(given, in: desktop)
    }
    return UserEnvironment.variable("SSH_AUTH_SOCK") == ownSocket ? .agent(of: nil) : .console
  }

  /// The desktop's programs of this user's session. Another user's session has another runtime folder.
  private static func runningStarters() -> [Starter] {
    guard let folder = opendir("/proc") else { return [] }
    defer { closedir(folder) }
    var found: [Starter] = []
    while let entry = readdir(folder) {
      // The name is an array in the entry, which is valid until the next call.
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      var status = stat()
      guard let pid = Int32(name), stat("/proc/\(pid)", &status) == 0, status.st_uid == geteuid(),
        let program = text(of: pid, "comm")?.split(separator: "\n").first.map(String.init),
        let desktop = desktops[program], let environment = text(of: pid, "environ")
      else { continue }
      let entries = environment.split(separator: "\0")
      func variable(_ name: String) -> String? {
        entries.first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
      }
      guard variable("XDG_RUNTIME_DIR") == BaseDirectories.runtime, let began = began(pid) else { continue }
      let socket = variable("SSH_AUTH_SOCK").flatMap { $0.isEmpty ? nil : $0 }
      found.append(Starter(desktop: desktop, socket: socket, began: began))
    }
    return found
  }

  /// Whether the desktop will start an agent of its own again.
  private static func isTakenAgain(by starter: Starter) async -> Bool {
    guard starter.desktop == xfce, let agent = XFCEAgent() else { return false }
    defer { agent.close() }
    return await agent.state() == .on
  }

  private static func text(of pid: Int32, _ file: String) -> String? {
    let descriptor = open("/proc/\(pid)/\(file)", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16_384)
    while bytes.count < 1 << 20 {
      // read: writes at most as many bytes as it is told
      let count = read(descriptor, &chunk, chunk.count)
      guard count > 0 else { break }
      bytes += chunk[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// When a process was started, in seconds since 1970.
  private static func began(_ pid: Int32) -> Int? {
    guard let ticks = ProcessHandle.start(of: pid) else { return nil }
    let boot =
      Int(SystemClock.calendar.nanoseconds / 1_000_000_000)
      - Int(SystemClock.sinceBoot.nanoseconds / 1_000_000_000)
    return boot + Int(ticks / UInt64(max(1, sysconf(Int32(_SC_CLK_TCK)))))
  }

  /// The variable that the user's service manager gives to what it starts; nil if it has none, or cannot be asked.
  private static func socketOfServiceManager() async -> String? {
    guard let bus = try? BusConnection(busAddress: BaseDirectories.sessionBus, handlers: .init()) else { return nil }
    defer { bus.close() }
    let manager = BusTarget(
      destination: "org.freedesktop.systemd1", path: "/org/freedesktop/systemd1",
      interface: "org.freedesktop.DBus.Properties")
    let asked = [BusValue.string("org.freedesktop.systemd1.Manager"), .string("Environment")]
    let entries = try? await bus.call(manager, "Get", asked).first?.asVariant?.asArray
    let name = "SSH_AUTH_SOCK="
    return entries?.compactMap(\.asString).first { $0.hasPrefix(name) }.map { String($0.dropFirst(name.count)) }
  }
}

extension SSHAgentSight.Finding {
  /// What is wrong, and what to do; nil if new programs find whorl-agent, or will.
  package var problem: (words: String, advice: String)? {
    guard case .other(let socket, let desktop) = self else { return nil }
    let export = "export SSH_AUTH_SOCK=$XDG_RUNTIME_DIR/whorl-agent"
    guard let socket else {
      return (
        "a new terminal of \(desktop) has no SSH agent",
        "put this line into ~/.profile, and log in anew: \(export)"
      )
    }
    let words = "a new terminal of \(desktop) has another SSH agent (\(socket))"
    guard desktop != SSHAgentSight.xfce else { return (words, "'whorl ssh enable' turns off the one that XFCE starts") }
    return (
      words,
      "look in ~/.profile, ~/.xsessionrc and ~/.config/environment.d for what sets SSH_AUTH_SOCK, and replace it by: "
        + export
    )
  }

  /// How ssh finds the keys, as the words after "which ssh"; for findings without a problem.
  package var words: String {
    switch self {
    case .agent(_?), .other: "uses through whorl-agent"
    case .agent(nil): "uses through whorl-agent in this terminal"
    case .fromNextLogin(let desktop): "uses in \(desktop) from your next login on"
    case .console:
      "uses on a desktop, and in a terminal like this after: export SSH_AUTH_SOCK=$XDG_RUNTIME_DIR/whorl-agent"
    }
  }
}
