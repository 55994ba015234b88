import Fingerprint
import Glibc
import ProgramDriver
import ReaderClient
import Synchronization
import Testing

/// Does for one unit what systemd does: owns its socket, and starts the program when somebody connects, again and again.
final class UnitLauncher: Sendable {
  private struct State {
    var starts = 0
    var process: pid_t?
    var isOver = false
  }

  let path: String
  private let socket: Int32
  private let state = Mutex(State())

  private init(at path: String) throws {
    self.path = path
    // The program gets it as descriptor 3, so it must be another one here.
    let made = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    socket = fcntl(made, F_DUPFD_CLOEXEC, 10)
    close(made)
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
    let result = withUnsafePointer(to: &name) { name in
      name.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(result == 0 && listen(socket, 16) == 0)
  }

  /// Runs the body with a reader process that uses the unit.
  ///
  /// - Parameter peer: the name of the user whose programs the unit serves; nil for this one.
  static func with(
    _ selection: ReaderSelection, in folder: String, for peer: String? = nil, fprintd: FprintdPlace = .system,
    idleSeconds: Int = 30, _ body: (ReaderProcess, UnitLauncher) async throws -> Void
  ) async throws {
    var arguments = [
      try readerProgram(), "--reader", selection.description, "--unit-for", try peer ?? ownName(), "--idle-seconds",
      "\(idleSeconds)",
    ]
    if fprintd != .system {
      arguments += ["--fprintd-bus", fprintd.bus, "--fprintd-templates", fprintd.templates]
    }
    let launcher = try UnitLauncher(at: "\(folder)/unit")
    let words = arguments
    startThread { launcher.run(words) }
    let reader = ReaderProcess(unit: launcher.path, selection: selection, fprintd: fprintd, maker: getuid())
    do {
      try await body(reader, launcher)
    } catch {
      await reader.shutdown()
      launcher.end()
      throw error
    }
    await reader.shutdown()
    launcher.end()
  }

  static func ownName() throws -> String {
    String(cString: try #require(getpwuid(getuid())).pointee.pw_name)
  }

  var starts: Int { state.withLock { $0.starts } }
  var process: pid_t? { state.withLock { $0.process } }

  private func end() {
    let process = state.withLock { state in
      state.isOver = true
      return state.process
    }
    if let process { kill(process, SIGKILL) }
    unlink(path)
  }

  private func run(_ arguments: [String]) {
    while !state.withLock({ $0.isOver }) {
      var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, 50) > 0, let process = start(arguments) else { continue }
      let isOver = state.withLock { state in
        state.starts += 1
        state.process = process
        return state.isOver
      }
      if isOver { kill(process, SIGKILL) }
      waitpid(process, nil, 0)
      state.withLock { $0.process = nil }
    }
    close(socket)
  }

  /// The shell puts its own number, which the program takes over, into the environment.
  private func start(_ arguments: [String]) -> pid_t? {
    let words = ["/bin/sh", "-c", "LISTEN_PID=$$ LISTEN_FDS=1 exec \"$@\"", "sh"] + arguments
    let copies = words.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, socket, 3)
    var pid: pid_t = 0
    return posix_spawn(&pid, words[0], &actions, nil, copies + [nil], [nil]) == 0 ? pid : nil
  }
}
