import Glibc
import Primitives

/// A command that is measured as a whole process, from before it is spawned until it is reaped.
struct ChildProgram {
  var name: String
  var arguments: [String]
  var environment: [String] = []
  /// The contents of standard input.
  var input = ""
  /// The output that is expected. Nil if any output is accepted.
  var expected: Expected?

  enum Expected: ExpressibleByStringLiteral {
    case exactly(String)
    case beginning(String)

    init(stringLiteral text: String) { self = .exactly(text) }

    func matches(_ output: String) -> Bool {
      switch self {
      case .exactly(let text): output == text
      case .beginning(let text): output.hasPrefix(text)
      }
    }
  }

  /// The cost of one run.
  struct Run {
    var nanoseconds: UInt64
    /// The peak resident memory in KiB, of the program or of this process before `exec`, whichever is larger.
    var peakKiB: Int
  }

  /// Runs the command once. Fails if it fails.
  @discardableResult
  func run() throws(BenchFailure) -> Run {
    let (run, _) = try run(keepingOutput: false)
    return run
  }

  /// Runs the command once and compares its output with what is expected.
  func check() throws(BenchFailure) {
    let (_, output) = try run(keepingOutput: true)
    guard let expected, !expected.matches(output) else { return }
    throw BenchFailure("\(name) answered \(output.debugDescription) instead of \(expected)")
  }

  private func run(keepingOutput: Bool) throws(BenchFailure) -> (Run, String) {
    // Input and output are unnamed files, so that no wake-ups of pipes are measured.
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
    // secret-tool writes the attributes of the item to standard error.
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    // The copies made by strdup are freed below.
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

/// Why a measurement failed.
struct BenchFailure: Error {
  var text: String
  init(_ text: String) { self.text = text }
}

/// Measures programs in rounds. Each round runs every program once, in random order, so that other load on the machine
/// affects all of them equally.
struct Rounds {
  struct Entry {
    var program: ChildProgram
    /// Undoes the program's changes. Not measured.
    var undo: ChildProgram?
    /// Runs only in every Nth round, for a program that takes long.
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
