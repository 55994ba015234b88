import FoundationEssentials
import Glibc
import Primitives
import Synchronization

/// Exports the largest filled store into a file and imports the file into an empty one, as whole processes.
struct MovingTimes {
  private static let passphrase = "a long passphrase\n"

  let whorl: String
  /// The store that is exported, and the number of its items.
  let store: String
  let items: Int
  /// A folder for the file and the other store, which are removed.
  let scratch: String

  /// Adds a promise for the speed and one for the memory of each direction.
  func measure(into report: inout Report) throws {
    let (file, other, empty) = ("\(scratch)/moving.age", "\(scratch)/moving", "\(scratch)/moving-empty")
    defer { for path in [file, other, empty] { try? FileManager.default.removeItem(atPath: path) } }
    // The KDF takes its time once in each direction: that of a store with one item is the whole of it.
    try make(empty)
    try run("set", ["set", "one", "--store", empty, "--access", "none"], input: "1").seconds(beside: 0)
    let derivation = try run("export of one item", ["export", file, "--store", empty] + given).nanoseconds
    try? FileManager.default.removeItem(atPath: file)
    try make(other)
    let exported = try run("export", ["export", file, "--store", store] + given)
    promise(&report, "export", exported, derivation)
    let imported = try run("import", ["import", file, "--yes", "--store", other] + given)
    promise(&report, "import", imported, derivation)
  }

  private var given: [String] { ["--passphrase-fd", "0"] }

  private func promise(_ report: inout Report, _ name: String, _ run: Run, _ derivation: UInt64) {
    let each = run.seconds(beside: derivation) / Double(items) * 1e6
    report.promise(
      "\(name) of \(items) items beside the KDF, each (\(Int(1e6 / each)) a second)", each, atMost: 50, "µs")
    report.promise("\(name), peak memory of whorl", Double(run.programKiB) / 1024, atMost: 64, "MiB")
    report.promise("\(name), peak memory of whorld", Double(run.vaultKiB) / 1024, atMost: 64, "MiB")
  }

  private func make(_ path: String) throws {
    try ChildProgram(
      name: "init",
      arguments: [
        "/bin/sh", "-c", #"exec "$0" init --no-passcode --recovery-fd 4 --store "$1" 4>/dev/null"#, whorl, path,
      ], environment: environment
    ).run()
  }

  private var environment: [String] { ["PATH=/usr/bin:/bin", "HOME=\(scratch)", "LANG=C.UTF-8"] }

  private struct Run {
    var nanoseconds: UInt64
    var programKiB: Int
    var vaultKiB: Int

    @discardableResult
    func seconds(beside derivation: UInt64) -> Double {
      Double(nanoseconds - min(nanoseconds, derivation)) / 1e9
    }
  }

  private func run(_ name: String, _ words: [String], input: String = passphrase) throws -> Run {
    let sampler = PeakSampler()
    defer { sampler.end() }
    let run = try ChildProgram(
      name: name, arguments: [whorl] + words, environment: environment, input: input
    ).run()
    return Run(nanoseconds: run.nanoseconds, programKiB: sampler.peaks.program, vaultKiB: sampler.peaks.vault)
  }
}

/// Follows the peak memory of this process's child and of that one's first child: `whorl`, and the `whorld` of the
/// store. The second `whorld`, which derives the key of a file, is not followed.
private final class PeakSampler: Sendable {
  private struct State {
    var isEnded = false
    var program = 0
    var vault = 0
  }

  private let state = Mutex(State())

  init() {
    Task.detached(executorPreference: BackgroundThread()) { [self] in
      while !state.withLock({ $0.isEnded }) {
        // Between fork and exec a child counts this process's own memory as its peak.
        for program in Self.children(of: getpid()) where !Self.runsThisProgram(program) {
          let (own, first) = (Self.peakKiB(program), Self.children(of: program).min().map(Self.peakKiB))
          state.withLock { state in
            state.program = max(state.program, own)
            state.vault = max(state.vault, first ?? 0)
          }
        }
        // Seldom enough to leave the processors to what is measured: a peak stays where it was.
        usleep(50_000)
      }
    }
  }

  var peaks: (program: Int, vault: Int) { state.withLock { ($0.program, $0.vault) } }

  func end() { state.withLock { $0.isEnded = true } }

  private static func children(of process: pid_t) -> [pid_t] {
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
    return tasks.flatMap { task in
      text("/proc/\(process)/task/\(task)/children").split(separator: " ").compactMap { pid_t($0) }
    }
  }

  private static func runsThisProgram(_ process: pid_t) -> Bool {
    let links = ["/proc/\(process)/exe", "/proc/self/exe"].map {
      try? FileManager.default.destinationOfSymbolicLink(atPath: $0)
    }
    return links[0] == links[1]
  }

  /// The peak resident memory (`VmHWM`).
  private static func peakKiB(_ process: pid_t) -> Int {
    let line = text("/proc/\(process)/status").split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line.flatMap { Int($0.split { $0 == " " || $0 == "\t" }[1]) } ?? 0
  }

  private static func text(_ path: String) -> String {
    (try? Data(contentsOf: URL(filePath: path))).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}
