package import Glibc
package import Synchronization

/// One run of a program as a user would start it: its arguments, environment and standard streams, and descriptors from
/// 3 upwards with input, as a script would open them.
package struct Invocation: Sendable {
  package var program = "whorl"
  package var arguments: [String]
  /// The contents of standard input. Nil means `/dev/null`.
  package var input: [UInt8]?
  /// The contents of descriptors 3, 4 and so on.
  package var descriptors: [String] = []
  /// Whether the program can write to descriptor 9. The result has the output.
  package var readsDescriptor9 = false
  package var environment: [String: String] = [:]
  /// Whether to start a new session, so that the program cannot reach the test runner's controlling terminal.
  package var newSession = true
  /// Standard streams that are closed in the program.
  package var closed: [Int32] = []

  package init(
    program: String = "whorl", arguments: [String], input: [UInt8]? = nil, descriptors: [String] = [],
    readsDescriptor9: Bool = false, environment: [String: String] = [:], newSession: Bool = true
  ) {
    (self.program, self.arguments, self.input, self.descriptors) = (program, arguments, input, descriptors)
    (self.readsDescriptor9, self.environment, self.newSession) = (readsDescriptor9, environment, newSession)
  }

  package struct Result: Sendable {
    /// The exit status as a shell reports it: 128 plus the signal for a killed program.
    package var status: Int32
    package var output: [UInt8]
    package var diagnostics: String
    package var descriptor9: String
    package var duration: Duration

    package var text: String { String(decoding: output, as: UTF8.self) }
    /// The last line of standard error, which holds the error message.
    package var failure: String { diagnostics.split(separator: "\n").last.map(String.init) ?? "" }
  }

  /// Runs the program until it exits. `heard` gets each line of standard error as it is written.
  package func run(heard: @escaping @Sendable (String, RunningProgram) -> Void = { _, _ in }) async throws -> Result {
    let running = try start()
    return await withCheckedContinuation { continuation in
      startThread {
        continuation.resume(returning: running.finish(heard: heard))
      }
    }
  }

  package func start() throws -> RunningProgram {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    let output = try Pipe()
    let diagnostics = try Pipe()
    let ninth = try Pipe()
    var toClose = [output.write, diagnostics.write, ninth.write]
    // `Pipe` numbers its ends so that they do not collide with the descriptors the child is given.
    if let input {
      let pipe = try Pipe()
      posix_spawn_file_actions_adddup2(&actions, pipe.read, 0)
      toClose.append(pipe.read)
      startThread { writeAndClose(input, pipe.write) }
    } else {
      posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    }
    posix_spawn_file_actions_adddup2(&actions, output.write, 1)
    posix_spawn_file_actions_adddup2(&actions, diagnostics.write, 2)
    for (index, text) in descriptors.enumerated() {
      let pipe = try Pipe()
      posix_spawn_file_actions_adddup2(&actions, pipe.read, Int32(3 + index))
      toClose.append(pipe.read)
      startThread { writeAndClose(Array(text.utf8), pipe.write) }
    }
    if readsDescriptor9 { posix_spawn_file_actions_adddup2(&actions, ninth.write, 9) }
    InheritedDescriptors.close(
      &actions, except: Set((0..<Int32(3 + descriptors.count)) + (readsDescriptor9 ? [9] : [])))
    for stream in closed { posix_spawn_file_actions_addclose(&actions, stream) }
    let variables = ["PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent"].merging(environment) { $1 }
    let start = ContinuousClock.now
    defer { for descriptor in toClose { close(descriptor) } }
    let pid = try spawn(program, arguments, variables, &actions, newSession ? posixSpawnSetsid : 0)
    return RunningProgram(
      pid: pid, output: output.read, diagnostics: diagnostics.read, ninth: ninth.read, start: start)
  }
}

/// A started program. Its pid is valid until ``finish(heard:)`` has returned.
package final class RunningProgram: Sendable {
  package let pid: pid_t
  private let output: Int32
  private let diagnostics: Int32
  private let ninth: Int32
  private let start: ContinuousClock.Instant
  private let over = Mutex(false)

  /// Whether the program has not been reaped yet.
  package var isRunning: Bool { over.withLock { !$0 } }

  init(pid: pid_t, output: Int32, diagnostics: Int32, ninth: Int32, start: ContinuousClock.Instant) {
    (self.pid, self.output, self.diagnostics, self.ninth, self.start) = (pid, output, diagnostics, ninth, start)
  }

  package func signal(_ number: Int32) { kill(pid, number) }

  /// Reads all output and reaps the program.
  package func finish(heard: @Sendable (String, RunningProgram) -> Void) -> Invocation.Result {
    var collected: [Int32: [UInt8]] = [output: [], diagnostics: [], ninth: []]
    var open = [output, diagnostics, ninth]
    var line: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while !open.isEmpty {
      var entries = open.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      poll(&entries, nfds_t(entries.count), -1)
      for entry in entries where entry.revents != 0 {
        let count = read(entry.fd, &chunk, chunk.count)
        guard count > 0 else {
          close(entry.fd)
          open.removeAll { $0 == entry.fd }
          continue
        }
        collected[entry.fd, default: []] += chunk[..<count]
        guard entry.fd == diagnostics else { continue }
        for byte in chunk[..<count] {
          guard byte == UInt8(ascii: "\n") else {
            line.append(byte)
            continue
          }
          heard(String(decoding: line, as: UTF8.self), self)
          line = []
        }
      }
    }
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    over.withLock { $0 = true }
    let signal = status & 0x7F
    return Invocation.Result(
      status: signal == 0 ? (status >> 8) & 0xFF : 128 + signal, output: collected[output] ?? [],
      diagnostics: String(decoding: collected[diagnostics] ?? [], as: UTF8.self),
      descriptor9: String(decoding: collected[ninth] ?? [], as: UTF8.self), duration: ContinuousClock.now - start)
  }
}

/// `POSIX_SPAWN_SETSID`, which Glibc does not export to Swift.
package let posixSpawnSetsid: Int32 = 0x80

/// Held while descriptors without `FD_CLOEXEC` exist, and while a child is started.
package let spawning = Mutex(())

/// Starts a program with every signal unblocked.
///
/// - Parameters:
///   - environment: the whole one.
///   - actions: what the program gets as its descriptors.
///   - flags: further ones of posix_spawn. With `POSIX_SPAWN_SETSIGDEF` every signal is at its default, too.
func spawn(
  _ program: String, _ arguments: [String], _ environment: [String: String],
  _ actions: inout posix_spawn_file_actions_t, _ flags: Int32
) throws -> pid_t {
  var attributes = posix_spawnattr_t()
  posix_spawnattr_init(&attributes)
  defer { posix_spawnattr_destroy(&attributes) }
  var (none, all) = (sigset_t(), sigset_t())
  sigemptyset(&none)
  sigfillset(&all)
  posix_spawnattr_setsigmask(&attributes, &none)
  posix_spawnattr_setsigdefault(&attributes, &all)
  posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | flags))
  let path = try Programs.path(program)
  let argv = ([path] + arguments).map { strdup($0) } + [nil]
  let envp = environment.map { strdup("\($0)=\($1)") } + [nil]
  defer { for string in argv + envp { free(string) } }
  var pid: pid_t = 0
  let code = spawning.withLock { _ in posix_spawn(&pid, path, &actions, &attributes, argv, envp) }
  guard code == 0 else { throw SystemFailure("cannot start \(path)", code) }
  return pid
}

/// A pipe whose ends are not inherited by other children.
private struct Pipe {
  let read: Int32
  let write: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    // No child may be started before both ends have `FD_CLOEXEC`.
    let made = spawning.withLock { _ in
      guard pipe(&ends) == 0 else { return false }
      // Move the ends above the descriptor numbers that a child is given.
      for index in ends.indices {
        let low = ends[index]
        ends[index] = fcntl(low, F_DUPFD_CLOEXEC, 20)
        close(low)
      }
      return true
    }
    guard made else { throw SystemFailure("no pipe") }
    (read, write) = (ends[0], ends[1])
  }
}

private func writeAndClose(_ bytes: [UInt8], _ descriptor: Int32) {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    // The program may have ended without reading everything.
    guard count > 0 else { break }
    rest = rest.dropFirst(count)
  }
  close(descriptor)
}

/// Runs blocking work on a new thread.
package func startThread(_ body: @escaping @Sendable () -> Void) {
  let box = Unmanaged.passRetained(ThreadBody(body))
  var thread = pthread_t()
  let code = pthread_create(
    &thread, nil,
    { argument in
      guard let argument else { return nil }
      signal(SIGPIPE, SIG_IGN)
      Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().body()
      return nil
    }, box.toOpaque())
  precondition(code == 0)
  pthread_detach(thread)
}

private final class ThreadBody {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

extension Invocation.Result {
  /// Fails unless the program succeeded. For the preparations of a test.
  package func mustSucceed() throws {
    guard status == 0 else { throw Unsuccessful(status: status, diagnostics: diagnostics) }
  }

  private struct Unsuccessful: Error {
    var status: Int32
    var diagnostics: String
  }
}
