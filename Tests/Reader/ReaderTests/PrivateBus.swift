import Glibc
import SDBus
import Testing

/// A `dbus-daemon` for one test, which lets every member own any name and send anything.
struct PrivateBus {
  let address: String

  static func with<Value>(_ body: (PrivateBus) async throws -> Value) async throws -> Value {
    try await withTemporaryFolder { folder in
      let bus = PrivateBus(address: "unix:path=\(folder)/bus")
      let configuration = "\(folder)/bus.conf"
      try bus.writeConfiguration(to: configuration)
      let pid = try start(configuration)
      defer {
        kill(pid, SIGKILL)
        waitpid(pid, nil, 0)
        unlink("\(folder)/bus")
        unlink(configuration)
      }
      try #require(try await eventually { bus.answers }, "the bus did not start")
      return try await body(bus)
    }
  }

  /// Connects. The socket exists a moment before the daemon listens, so try again.
  private var answers: Bool {
    (try? BusConnection(busAddress: address, handlers: .init()))?.close() != nil
  }

  private func writeConfiguration(to path: String) throws {
    let text = """
      <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
       "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig>
        <listen>\(address)</listen>
        <auth>EXTERNAL</auth>
        <policy context="default">
          <allow own="*"/>
          <allow send_destination="*" eavesdrop="false"/>
          <allow receive_sender="*"/>
        </policy>
      </busconfig>
      """
    let file = try #require(fopen(path, "w"))
    fputs(text, file)
    fclose(file)
  }

  private static func start(_ configuration: String) throws -> pid_t {
    let words = ["/usr/bin/dbus-daemon", "--nofork", "--nosyslog", "--config-file=\(configuration)"]
    let arguments = words.map { strdup($0) }
    defer { for string in arguments { free(string) } }
    // It warns that it may not raise its limit of open files.
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    defer { posix_spawn_file_actions_destroy(&actions) }
    var pid: pid_t = 0
    try #require(posix_spawn(&pid, words[0], &actions, nil, arguments + [nil], [nil]) == 0, "no dbus-daemon")
    return pid
  }
}
