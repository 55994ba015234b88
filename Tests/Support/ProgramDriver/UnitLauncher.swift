package import Glibc
package import Primitives
package import ReaderClient
import Synchronization

/// Replaces systemd for one unit: owns its socket, and starts `whorl-reader` each time a client connects.
package final class UnitLauncher: Sendable {
  private struct State {
    var starts = 0
    var process: pid_t?
    var isOver = false
  }

  /// Where the unit listens.
  package let path: String
  private let socket: Int32
  private let state = Mutex(State())

  private init(at path: String) throws {
    self.path = path
    // The program gets the socket as descriptor 3, so it must have another number here.
    let made = try Self.listen(at: path)
    socket = fcntl(made, F_DUPFD_CLOEXEC, 10)
    close(made)
  }

  /// A socket that listens at this path. The caller owns it.
  package static func listen(at path: String) throws -> Int32 {
    let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
    let result = withUnsafePointer(to: &name) { name in
      name.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0, Glibc.listen(socket, 16) == 0 else { throw SystemFailure(path) }
    return socket
  }

  /// Runs the body with a reader process that uses the unit.
  ///
  /// - Parameters:
  ///   - name: the name of its socket.
  ///   - peer: the name of the user whose programs the unit serves; nil for this one.
  package static func with(
    _ selection: ReaderSelection, in folder: String, name: String = "unit", for peer: String? = nil,
    fprintd: FprintdPlace = .system, idleSeconds: Int = 30, _ body: (ReaderProcess, UnitLauncher) async throws -> Void
  ) async throws {
    var arguments = [
      try Programs.path("whorl-reader"), "--reader", selection.description, "--unit-for", try peer ?? ownName(),
      "--idle-seconds", "\(idleSeconds)",
    ]
    if fprintd != .system {
      arguments += ["--fprintd-bus", fprintd.bus, "--fprintd-templates", fprintd.templates]
    }
    try await with(program: arguments, at: "\(folder)/\(name)") { launcher in
      let reader = ReaderProcess(unit: launcher.path, selection: selection, fprintd: fprintd, maker: getuid())
      do {
        try await body(reader, launcher)
      } catch {
        await reader.shutdown()
        throw error
      }
      await reader.shutdown()
    }
  }

  /// Runs the body while this program is started for each connection to the socket at this path.
  package static func with(
    program arguments: [String], at path: String, _ body: (UnitLauncher) async throws -> Void
  ) async throws {
    let launcher = try UnitLauncher(at: path)
    startThread { launcher.run(arguments) }
    defer { launcher.end() }
    try await body(launcher)
  }

  /// The name of this user.
  package static func ownName() throws -> String {
    // getpwuid: the entry belongs to libc and is valid until the next call.
    guard let entry = getpwuid(getuid()) else { throw SystemFailure("the name of this user") }
    return String(cString: entry.pointee.pw_name)
  }

  /// How often the program was started.
  package var starts: Int { state.withLock { $0.starts } }
  /// The program that runs.
  package var process: pid_t? { state.withLock { $0.process } }

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
      guard poll(&waiting, 1, 50) > 0 else { continue }
      // Under the lock, since the program may answer before this thread continues.
      let process: pid_t? = state.withLock { state in
        guard !state.isOver, let process = start(arguments) else { return nil }
        state.starts += 1
        state.process = process
        return process
      }
      guard let process else { continue }
      waitpid(process, nil, 0)
      state.withLock { $0.process = nil }
    }
    close(socket)
  }

  /// The shell puts its process ID into the environment; `exec` keeps that ID.
  private func start(_ arguments: [String]) -> pid_t? {
    let words = ["/bin/sh", "-c", "LISTEN_PID=$$ LISTEN_FDS=1 exec \"$@\"", "sh"] + arguments
    let copies = words.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, socket, 3)
    InheritedDescriptors.close(&actions, except: [3])
    var pid: pid_t = 0
    return posix_spawn(&pid, words[0], &actions, nil, copies + [nil], [nil]) == 0 ? pid : nil
  }
}
