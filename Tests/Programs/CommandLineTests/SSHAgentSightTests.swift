import Foundation
import Glibc
import ProgramDriver
import SDBus
import Synchronization
import Testing

/// What setup and doctor say of ssh's agent, by what the programs of a desktop have. The desktop is a program that has the name
/// of a desktop's panel, and sleeps.
@Suite("The SSH agent that a new terminal has")
struct SSHAgentSightTests {
  private func with(_ body: (TestStore, UserServicesStandIn) async throws -> Void) async throws {
    try await TestStore.with { store in
      let services = try UserServicesStandIn(in: store.folder)
      try services.install("whorl-agent.socket", [])
      try services.install("whorl-agent.service", ["[Service]", "ExecStart=/usr/bin/whorl-agent"])
      try await store.whorl("ssh", "add", "work").mustSucceed()
      try await store.whorl("ssh", "enable", environment: services.environment()).mustSucceed()
      try await body(store, services)
    }
  }

  /// Runs the panel of a desktop.
  private func desktop(
    _ panel: String, in services: UserServicesStandIn, agent: String?, _ body: () async throws -> Void
  ) async throws {
    let program = "\(services.folder)/\(panel)"
    unlink(program)
    try #require(symlink("/bin/sleep", program) == 0)
    var environment = ["XDG_RUNTIME_DIR": "\(services.folder)/run"]
    environment["SSH_AUTH_SOCK"] = agent
    let running = try Invocation(program: program, arguments: ["1000"], environment: environment).start()
    defer {
      running.signal(SIGKILL)
      _ = running.finish { _, _ in }
    }
    try await body()
  }

  /// Marks when whorl-agent was enabled, as systemd's link does.
  private func enable(_ services: UserServicesStandIn, at moment: Int) throws {
    let folder = "\(services.folder)/config/systemd/user/sockets.target.wants"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let link = "\(folder)/whorl-agent.socket"
    unlink(link)
    try #require(symlink("/usr/lib/systemd/user/whorl-agent.socket", link) == 0)
    let times = [timespec(tv_sec: moment, tv_nsec: 0), timespec(tv_sec: moment, tv_nsec: 0)]
    try #require(utimensat(AT_FDCWD, link, times, AT_SYMLINK_NOFOLLOW) == 0)
  }

  /// The line about ssh of setup, and that of doctor, with the lines below them.
  private func told(
    _ store: TestStore, _ services: UserServicesStandIn, _ more: [String: String] = [:]
  ) async throws -> (setup: String, doctor: String) {
    let setup = try await store.whorl("setup", environment: services.environment(more)).text
    let doctor = try await store.whorl("doctor", environment: services.environment(more)).text
    let line = setup.components(separatedBy: "ssh       ").last ?? ""
    let mark = setup.components(separatedBy: "ssh       ").first?.suffix(6) ?? ""
    return (
      mark + line.split(separator: "\n").prefix(2).joined(separator: "\n"),
      doctor.split(separator: "\n").filter { $0.contains("  ssh: ") }.joined()
    )
  }

  private static let panels = [
    ("gnome-shell", "GNOME"), ("plasmashell", "Plasma"), ("xfce4-panel", "XFCE"), ("lxqt-panel", "LXQt"),
    ("mate-panel", "MATE"), ("cinnamon", "Cinnamon"), ("sway", "sway"),
  ]

  @Test("setup and doctor say that ssh uses whorl-agent only where the desktop's programs have it", arguments: panels)
  func compared(panel: String, desktop name: String) async throws {
    try await with { store, services in
      try enable(services, at: 1_000)
      try await desktop(panel, in: services, agent: "\(services.folder)/run/whorl-agent") {
        let told = try await told(store, services)
        #expect(told.setup.hasPrefix("ok    1 key in the vault, which ssh uses through whorl-agent"), "\(told)")
        #expect(told.doctor == "ok    ssh: ssh uses through whorl-agent", "\(told)")
      }
      try await desktop(panel, in: services, agent: "/tmp/ssh-abc/agent.7") {
        let told = try await told(store, services)
        let words = "a new terminal of \(name) has another SSH agent (/tmp/ssh-abc/agent.7)"
        #expect(told.setup.hasPrefix("warn  1 key in the vault, but \(words)\n"), "\(told)")
        let advice = name == "XFCE" ? "'whorl ssh enable' turns off the one that XFCE starts" : "look in ~/.profile, "
        #expect(told.setup.contains("                \(advice)"), "\(told)")
        #expect(told.doctor.hasPrefix("warn  ssh: \(words): \(advice)"), "\(told)")
      }
      // Such as sway, which was started from a console.
      try await desktop(panel, in: services, agent: nil) {
        let told = try await told(store, services)
        #expect(told.setup.contains("a new terminal of \(name) has no SSH agent\n"), "\(told)")
        #expect(told.doctor.contains("export SSH_AUTH_SOCK=$XDG_RUNTIME_DIR/whorl-agent"), "\(told)")
      }
    }
  }

  @Test("a desktop that began before whorl-agent was enabled has it from the next login on")
  func older() async throws {
    try await with { store, services in
      try await desktop("mate-panel", in: services, agent: "/tmp/ssh-abc/agent.7") {
        try enable(services, at: time(nil) + 5)
        let told = try await told(store, services)
        #expect(
          told.setup.hasPrefix("ok    1 key in the vault, which ssh uses in MATE from your next login on"), "\(told)")
        #expect(told.doctor == "ok    ssh: ssh uses in MATE from your next login on", "\(told)")
      }
    }
  }

  @Test("without a desktop, setup says what a terminal needs to find whorl-agent, unless it has it")
  func console() async throws {
    try await with { store, services in
      let told = try await told(store, services)
      #expect(told.setup.contains("after: export SSH_AUTH_SOCK=$XDG_RUNTIME_DIR/whorl-agent"), "\(told)")
      let given = try await self.told(store, services, ["SSH_AUTH_SOCK": "\(services.folder)/run/whorl-agent"])
      #expect(given.setup.contains("which ssh uses through whorl-agent in this terminal"), "\(given)")
      // Another user's desktop, or one in another session, is not this one.
      try await desktop("xfce4-panel", in: try UserServicesStandIn(in: "\(services.folder)/data"), agent: "/other") {
        let beside = try await self.told(store, services)
        #expect(beside.setup == told.setup)
      }
    }
  }

  @Test("the environment of the user's service manager counts too, from which GNOME starts terminals")
  func serviceManager() async throws {
    try await with { store, services in
      try await PrivateBus.with { bus in
        let manager = try await Settings(
          on: bus, named: "org.freedesktop.systemd1",
          [
            "Environment": .array(of: "s", [.string("A=b"), .string("SSH_AUTH_SOCK=/run/user/1/gcr/ssh")])
          ])
        defer { manager.close() }
        try await desktop("gnome-shell", in: services, agent: "\(services.folder)/run/whorl-agent") {
          let told = try await told(store, services, ["DBUS_SESSION_BUS_ADDRESS": bus.address])
          #expect(told.setup.contains("a new terminal of GNOME has another SSH agent (/run/user/1/gcr/ssh)"), "\(told)")
        }
      }
    }
  }

  @Test(
    "whorl ssh enable turns off the SSH agent that XFCE starts, and ssh disable turns on only what Whorl turned off")
  func xfce() async throws {
    try await with { store, services in
      try await PrivateBus.with { bus in
        let settings = try await Settings(on: bus, named: "org.xfce.Xfconf", [:])
        defer { settings.close() }
        let place = ["DBUS_SESSION_BUS_ADDRESS": bus.address]
        try enable(services, at: time(nil) + 5)
        // XFCE's session starts it again at each login.
        try await desktop("xfce4-panel", in: services, agent: "/tmp/ssh-abc/agent.7") {
          let told = try await told(store, services, place)
          #expect(told.setup.contains("'whorl ssh enable' turns off the one that XFCE starts"), "\(told)")
          let dry = try await store.whorl("ssh", "enable", "--dry-run", environment: services.environment(place))
          #expect(dry.diagnostics.contains("Would turn off the agent that XFCE starts"), "\(dry.diagnostics)")
          #expect(settings.all.isEmpty)
          let enabled = try await store.whorl("ssh", "enable", environment: services.environment(place))
          #expect(enabled.diagnostics.contains("Turned off the agent that XFCE starts"), "\(enabled.diagnostics)")
          let setting = "/startup/ssh-agent/enabled"
          #expect(settings.all == [setting: .boolean(false), "/startup/ssh-agent/whorl": .boolean(true)])
          let after = try await self.told(store, services, place)
          #expect(after.setup.contains("which ssh uses in XFCE from your next login on"), "\(after)")
          let disabled = try await store.whorl("ssh", "disable", environment: services.environment(place))
          #expect(disabled.diagnostics.contains("XFCE starts an agent of its own again"), "\(disabled.diagnostics)")
          #expect(settings.all.isEmpty)
          // Turned off by the person.
          settings.set([setting: .boolean(false)])
          for command in ["enable", "disable"] {
            let silent = try await store.whorl("ssh", command, environment: services.environment(place))
            #expect(silent.status == 0 && !silent.diagnostics.contains("XFCE"), "\(silent.diagnostics)")
          }
          #expect(settings.all == [setting: .boolean(false)])
        }
      }
    }
  }
}

/// The settings of XFCE, or the properties of the user's service manager, on a bus.
private final class Settings: Sendable {
  private final class Values: Sendable {
    let all: Mutex<[String: BusValue]>
    init(_ values: [String: BusValue]) { all = Mutex(values) }
  }

  private let values: Values
  private let connection: BusConnection

  init(on bus: PrivateBus, named name: String, _ given: [String: BusValue]) async throws {
    let values = Values(given)
    self.values = values
    connection = try BusConnection(busAddress: bus.address, handlers: .init(call: { Self.answer($0, values) }))
    let answer = try await connection.call(MessageBus.target, "RequestName", [.string(name), .uint32(0)])
    guard answer.first?.asUInt32 == 1 else { throw SystemFailure("the name \(name) is taken", EEXIST) }
  }

  func close() { connection.close() }

  var all: [String: BusValue] { values.all.withLock { $0 } }
  func set(_ given: [String: BusValue]) { values.all.withLock { $0 = given } }

  private static func answer(_ call: BusCall, _ values: Values) {
    let name = call.arguments.count > 1 ? call.arguments[1].asString ?? "" : ""
    values.all.withLock { all in
      switch (call.member, call.signature) {
      case ("Get", "ss"), ("GetProperty", "ss"):
        guard let value = all[name] else { return call.fail("org.xfce.Xfconf.Error.PropertyNotFound", name) }
        call.answer([.variant(value)])
      case ("PropertyExists", "ss"): call.answer([.boolean(all[name] != nil)])
      case ("SetProperty", "ssv"):
        all[name] = call.arguments[2].asVariant
        call.answer()
      case ("ResetProperty", "ssb"):
        all[name] = nil
        call.answer()
      default: call.fail("org.freedesktop.DBus.Error.UnknownMethod", call.member)
      }
    }
  }
}
