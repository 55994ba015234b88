package import Glibc
internal import Synchronization

/// A program on a pseudoterminal: the test reads its output and types its input.
package final class PseudoTerminal: Sendable {
  package let pid: pid_t
  private let controller: Int32
  /// The program's end, kept open to read the terminal's settings after the program has ended.
  private let terminal: Int32
  private let seen = Mutex<[UInt8]>([])
  /// As waitpid(2) reports it.
  private let ended = Mutex<Int32?>(nil)
  package let start = ContinuousClock.now

  /// `output` leaves standard output to the terminal unless it names a file.
  package init(
    _ arguments: [String], program: String = "whorl", output: String? = nil, input: String? = nil,
    environment: [String: String] = [:], columns: UInt16? = nil
  ) throws {
    var (ours, theirs): (Int32, Int32) = (-1, -1)
    var buffer = [CChar](repeating: 0, count: 128)
    let made = spawning.withLock { _ in
      guard openpty(&ours, &theirs, &buffer, nil, nil) == 0 else { return false }
      for end in [ours, theirs] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      return true
    }
    guard made else { throw SystemFailure("a pseudoterminal") }
    if let columns {
      // A `struct winsize`, which Swift 6.2 finds in another module: rows and columns, and no pixels.
      var size: [UInt16] = [24, columns, 0, 0]
      guard ioctl(theirs, UInt(TIOCSWINSZ), &size) == 0 else { throw SystemFailure("a terminal's size") }
    }
    let name = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    controller = ours
    terminal = theirs
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // The first terminal a new session opens becomes its own.
    posix_spawn_file_actions_addopen(&actions, 2, name, O_RDWR, 0)
    posix_spawn_file_actions_addopen(&actions, 0, input ?? name, O_RDWR, 0)
    posix_spawn_file_actions_addopen(&actions, 1, output ?? name, O_RDWR, 0)
    InheritedDescriptors.close(&actions)
    let variables = ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "TERM": "xterm"].merging(environment) { $1 }
    // Signals at their default, as a shell starts programs: the test runner may ignore some.
    pid = try spawn(program, arguments, variables, &actions, POSIX_SPAWN_SETSIGDEF | posixSpawnSetsid)
    startThread { self.readAll() }
    startThread { self.reap() }
  }

  deinit {
    close(terminal)
    close(controller)
  }

  /// Everything shown so far.
  package var shown: String { seen.withLock { String(decoding: $0, as: UTF8.self) } }

  /// Whether echo is on.
  package var echoes: Bool { modes & tcflag_t(ECHO) != 0 }

  /// Whether echo and line mode are on, as a shell expects.
  package var isAsFound: Bool { modes & tcflag_t(ECHO | ICANON) == tcflag_t(ECHO | ICANON) }

  private var modes: tcflag_t {
    var settings = termios()
    tcgetattr(terminal, &settings)
    return settings.c_lflag
  }

  package func signal(_ number: Int32) { kill(pid, number) }

  /// Waits until echo is on or off.
  package func becomes(echoing: Bool, seconds: Int = 20) async throws {
    for _ in 0..<(seconds * 100) {
      if echoes == echoing { return }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw NotShown(text: echoing ? "what is typed" : "nothing of what is typed", shown: shown)
  }

  package func type(_ text: String) {
    let bytes = Array(text.utf8)
    _ = bytes.withUnsafeBytes { write(controller, $0.baseAddress, $0.count) }
  }

  /// Waits until the text has been shown `count` times.
  package func waits(for text: String, count: Int = 1, seconds: Int = 20) async throws {
    for _ in 0..<(seconds * 100) {
      if shown.ranges(of: text).count >= count { return }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw NotShown(text: text, shown: shown)
  }

  /// The status the program ended with, as a shell reports it.
  package func status(seconds: Int = 20) async throws -> Int32 {
    let (ending, signal) = (try await ending(seconds), try await endingSignal(seconds: seconds))
    return signal == 0 ? (ending >> 8) & 0xFF : 128 + signal
  }

  /// The signal the program ended by; 0 where it ended with a status.
  package func endingSignal(seconds: Int = 20) async throws -> Int32 { try await ending(seconds) & 0x7F }

  private func ending(_ seconds: Int) async throws -> Int32 {
    for _ in 0..<(seconds * 100) {
      if let ending = ended.withLock({ $0 }) { return ending }
      try await Task.sleep(for: .milliseconds(10))
    }
    kill(pid, SIGKILL)
    throw NotShown(text: "the end", shown: shown)
  }

  /// Answers every prompt until the program ends, and returns its status. `answer` gets the last line on the screen and
  /// returns what to type before Enter.
  ///
  /// - Throws: after this many answers, and after a minute.
  package func walks(answers limit: Int = 60, _ answer: (String) -> String) async throws -> Int32 {
    var (count, length, idle) = (0, -1, 0)
    for _ in 0..<6_000 where ended.withLock({ $0 == nil }) {
      try await Task.sleep(for: .milliseconds(10))
      let shown = shown
      idle = shown.utf8.count == length ? idle + 1 : 0
      length = shown.utf8.count
      // A prompt ends with a space and no newline. One that began after an answer was typed has dropped it.
      guard idle == 10 && shown.hasSuffix(" ") || idle > 0 && idle % 200 == 0 else { continue }
      count += 1
      guard count <= limit else { break }
      type(answer(shown.split(separator: "\r\n").last.map(String.init) ?? "") + "\n")
    }
    guard ended.withLock({ $0 != nil }) else {
      kill(pid, SIGKILL)
      throw NotShown(text: "the end", shown: shown)
    }
    return try await status()
  }

  package struct NotShown: Error {
    var text: String
    var shown: String
  }

  private func readAll() {
    var chunk = [UInt8](repeating: 0, count: 4096)
    while ended.withLock({ $0 }) == nil {
      var entry = pollfd(fd: controller, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, 50) > 0 else { continue }
      let count = read(controller, &chunk, chunk.count)
      if count > 0 { seen.withLock { $0 += chunk[..<count] } }
    }
  }

  private func reap() {
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    // The last output may not have arrived yet.
    usleep(100_000)
    ended.withLock { $0 = status }
  }
}
