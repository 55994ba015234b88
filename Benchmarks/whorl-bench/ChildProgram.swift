import Fingerprint
import Glibc

/// A command line to be measured as a whole process, from before it is spawned until it is reaped.
struct ChildProgram {
  var name: String
  var arguments: [String]
  var environment: [String] = []
  /// What it finds on standard input.
  var input = ""
  /// What it must answer; nil when that does not matter.
  var expected: String?

  /// What one run took.
  struct Run {
    var nanoseconds: UInt64
    /// The most memory it had resident, or its parent had before `exec`, whichever was more.
    var peakKiB: Int
  }

  /// Runs it once; fails when it does.
  @discardableResult
  func run() throws(BenchFailure) -> Run {
    let (run, _) = try run(keepingOutput: false)
    return run
  }

  /// Runs it once and holds its answer against what is expected.
  func check() throws(BenchFailure) {
    let (_, output) = try run(keepingOutput: true)
    guard let expected, output != expected else { return }
    throw BenchFailure("\(name) answered \(output.debugDescription) instead of \(expected.debugDescription)")
  }

  private func run(keepingOutput: Bool) throws(BenchFailure) -> (Run, String) {
    // Files without names: no pipe's wake-ups are measured.
    let input = Self.unnamedFile()
    let output = keepingOutput ? Self.unnamedFile() : open("/dev/null", O_WRONLY)
    defer {
      close(input)
      close(output)
    }
    guard self.input.utf8.withContiguousStorageIfAvailable({ write(input, $0.baseAddress, $0.count) }) ?? 0 >= 0 else {
      throw BenchFailure("cannot write the input of \(name)")
    }
    lseek(input, 0, SEEK_SET)
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    // secret-tool names what it finds there.
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    // strdup's copies are freed below.
    let words = arguments.map { strdup($0) } + [nil]
    let variables = environment.map { strdup($0) } + [nil]
    defer { for word in words + variables { free(word) } }
    var pid = pid_t()
    var status: CInt = 0
    var usage = rusage()
    let start = ScanClock.now()
    guard posix_spawn(&pid, arguments[0], &actions, nil, words, variables) == 0 else {
      throw BenchFailure("cannot start \(arguments[0])")
    }
    while wait4(pid, &status, 0, &usage) < 0 && errno == EINTR {}
    let end = ScanClock.now()
    guard status == 0 else { throw BenchFailure("\(name) ended with wait status \(status)") }
    return (Run(nanoseconds: end - start, peakKiB: usage.ru_maxrss), keepingOutput ? Self.text(of: output) : "")
  }

  private static func unnamedFile() -> CInt {
    var template = Array("/tmp/whorl-bench-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    unlink(template)
    return descriptor
  }

  private static func text(of descriptor: CInt) -> String {
    lseek(descriptor, 0, SEEK_SET)
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = read(descriptor, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }
}

/// Why nothing could be measured.
struct BenchFailure: Error {
  var text: String
  init(_ text: String) { self.text = text }
}

/// Measures programs in rounds, each once a round and in another order every time, so that what disturbs the machine
/// for a while disturbs them alike.
struct Rounds {
  struct Entry {
    var program: ChildProgram
    /// Puts back what the program changed; not measured.
    var undo: ChildProgram?
    /// Takes part in one of so many rounds, where one run takes long.
    var every = 1
  }

  private var entries: [Entry] = []

  var names: [String] { entries.map(\.program.name) }

  mutating func add(_ program: ChildProgram, undo: ChildProgram? = nil, every: Int = 1) {
    entries.append(Entry(program: program, undo: undo, every: every))
  }

  func run(_ count: Int) throws(BenchFailure) -> [String: Samples] {
    var samples = Dictionary(
      uniqueKeysWithValues: entries.map { ($0.program.name, Samples(name: $0.program.name)) })
    for entry in entries {
      try entry.program.check()
      try entry.undo?.run()
    }
    for round in 0..<count {
      for entry in entries.shuffled() where round % entry.every == 0 {
        samples[entry.program.name]?.nanoseconds.append(try entry.program.run().nanoseconds)
        try entry.undo?.run()
      }
    }
    return samples
  }
}
