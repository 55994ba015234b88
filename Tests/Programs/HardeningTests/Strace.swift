import Glibc
import ProgramDriver
import Testing

/// Runs a program under `strace`, which kills it, or lets a system call fail, at a chosen point.
struct Strace: Sendable {
  /// One system call to interfere with: its name or names, and its number among a thread's calls with that name.
  struct Point: Sendable, Hashable, CustomStringConvertible {
    var call: String
    var number: Int

    var description: String { "\(call) number \(number)" }
  }

  enum Fault {
    /// `kill -9`, before the call is carried out.
    case kill
    /// The call fails with this error, and with `lasting` so does every later one.
    case error(String, lasting: Bool = false)
  }

  /// The calls that change or lock files. A name with a question mark may not exist on this architecture.
  static let calls = [
    "pwrite64", "fdatasync", "fsync", "ftruncate", "flock", "?unlink,?unlinkat", "?rename,?renameat,?renameat2",
    "?mkdir,?mkdirat",
  ]

  /// Why strace cannot be used here; nil if it can.
  static let problem: String? = {
    guard access(program, X_OK) == 0 else { return "there is no \(program)" }
    var pid: pid_t = 0
    let words = [program, "-f", "-qq", "-o", "/dev/null", "-e", "inject=fsync:error=EIO", "/bin/true"]
    let argv = words.map { strdup($0) } + [nil]
    defer { for word in argv { free(word) } }
    guard posix_spawn(&pid, program, nil, nil, argv, environ) == 0 else { return "it cannot be started" }
    var status: Int32 = 0
    waitpid(pid, &status, 0)
    return status == 0 ? nil : "tracing is not permitted here"
  }()

  static var isUsable: Bool {
    if let problem { print("hardening: tests with strace are skipped: \(problem)") }
    return problem == nil
  }

  private static let program = "/usr/bin/strace"

  /// The same invocation with a fault. `log` gets the trace, including the calls in `watching`.
  static func traced(
    _ invocation: Invocation, _ fault: Fault? = nil, at point: Point? = nil, log: String = "/dev/null",
    watching: String? = nil
  ) throws -> Invocation {
    let watched = (calls + (watching.map { [$0] } ?? [])).joined(separator: ",")
    var words = ["-f", "-qq", "-o", log, "-e", "trace=\(watched)", "-e", "signal=none"]
    if let fault, let point {
      let what =
        switch fault {
        case .kill: "signal=KILL:when=\(point.number)"
        case .error(let error, let lasting): "error=\(error):when=\(point.number)\(lasting ? "+" : "")"
        }
      words += ["-e", "inject=\(point.call):\(what)"]
    }
    var traced = invocation
    traced.arguments = words + [try Programs.path(invocation.program)] + invocation.arguments
    traced.program = program
    // Use one thread for the vault's work, so that calls have the same numbers in each run.
    traced.environment["LIBDISPATCH_COOPERATIVE_POOL_STRICT"] = "1"
    return traced
  }

  /// Every point at which a program can be interfered with, from the trace of a normal run.
  static func points(in log: String) throws -> [Point] {
    var counts: [String: [Substring: Int]] = [:]
    for line in String(decoding: try readFile(log), as: UTF8.self).split(separator: "\n") {
      let fields = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
      guard fields.count == 2, let end = fields[1].firstIndex(of: "(") else { continue }
      // Short process ids are padded.
      let name = fields[1][..<end].drop { $0 == " " }
      guard let call = calls.first(where: { $0.split(separator: ",").contains { $0 == name || $0 == "?\(name)" } })
      else { continue }
      counts[call, default: [:]][fields[0], default: 0] += 1
    }
    return calls.flatMap { call in
      let most = counts[call]?.values.max() ?? 0
      return (0..<most).map { Point(call: call, number: $0 + 1) }
    }
  }
}
