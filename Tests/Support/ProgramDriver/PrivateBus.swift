import Glibc
internal import SDBus

/// A `dbus-daemon` for one test, whose policy allows everything, with the limits of a session's bus.
package struct PrivateBus: Sendable {
  package let address: String
  /// The daemon; nil for one that something else has started.
  private let pid: pid_t?

  /// A daemon that runs already.
  package init(address: String) { self.init(address: address, nil) }

  private init(address: String, _ pid: pid_t?) { (self.address, self.pid) = (address, pid) }

  /// - Parameters:
  ///   - services: folders with files of services that it starts.
  ///   - environment: of these services.
  package static func with<Value>(
    services: [String] = [], environment: [String: String] = [:], _ body: (PrivateBus) async throws -> Value
  ) async throws -> Value {
    try await withFolder { folder in
      let address = "unix:path=\(folder)/bus"
      let configuration = "\(folder)/bus.conf"
      try writeConfiguration(of: address, services, to: configuration)
      let pid = try start(configuration, environment.map { "\($0)=\($1)" })
      let bus = PrivateBus(address: address, pid)
      defer {
        // With its services, and what they have started.
        kill(-pid, SIGKILL)
        waitpid(pid, nil, 0)
      }
      var tries = 0
      while !bus.answers {
        tries += 1
        guard tries < 2_000 else { throw SystemFailure("the bus did not start", ETIMEDOUT) }
        try await Task.sleep(for: .milliseconds(5))
      }
      return try await body(bus)
    }
  }

  /// Connects. The socket exists a moment before the daemon listens, so try again.
  private var answers: Bool {
    (try? BusConnection(busAddress: address, handlers: .init()))?.close() != nil
  }

  /// Stops the daemon, or lets it go on.
  package func signal(_ number: Int32) { if let pid { kill(pid, number) } }

  /// Makes the daemon read its service files again.
  package func reload() async throws {
    let connection = try BusConnection(busAddress: address, handlers: .init())
    defer { connection.close() }
    _ = try await connection.call(MessageBus.target, "ReloadConfig", [])
  }

  private static func writeConfiguration(of address: String, _ services: [String], to path: String) throws {
    let folders = services.map { "  <servicedir>\($0)</servicedir>\n" }.joined()
    let text = """
      <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
       "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig>
        <type>session</type>
        <listen>\(address)</listen>
      \(folders)
        <auth>EXTERNAL</auth>
        <policy context="default">
          <allow own="*"/>
          <allow send_destination="*" eavesdrop="false"/>
          <allow receive_sender="*"/>
        </policy>
        <limit name="max_incoming_bytes">1000000000</limit>
        <limit name="max_outgoing_bytes">1000000000</limit>
        <limit name="max_message_size">1000000000</limit>
        <limit name="max_completed_connections">100000</limit>
        <limit name="max_incomplete_connections">10000</limit>
        <limit name="max_connections_per_user">100000</limit>
        <limit name="max_match_rules_per_connection">50000</limit>
        <limit name="max_replies_per_connection">50000</limit>
      </busconfig>
      """
    try writeFile(path, Array(text.utf8))
  }

  private static func start(_ configuration: String, _ environment: [String]) throws -> pid_t {
    let words = ["/usr/bin/dbus-daemon", "--nofork", "--nosyslog", "--config-file=\(configuration)"]
    let arguments = words.map { strdup($0) }
    let variables = environment.map { strdup($0) }
    defer { for string in arguments + variables { free(string) } }
    // Discards the daemon's warning that it cannot raise its limit of open files. A service must not keep the output of
    // the test runner open.
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for descriptor: Int32 in 0...2 { posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0) }
    InheritedDescriptors.close(&actions)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    posix_spawnattr_setpgroup(&attributes, 0)
    var pid: pid_t = 0
    let failure = posix_spawn(&pid, words[0], &actions, &attributes, arguments + [nil], variables + [nil])
    guard failure == 0 else { throw SystemFailure(words[0], failure) }
    return pid
  }
}
