import Glibc
import Processes
import ReaderClient

/// One run of all measurements, in a folder that `scripts/bench` has prepared:
///
///     whorl-100 whorl-1000 whorl-100000   stores
///     keyring-100 keyring-1000            GNOME keyrings: `bus` holds the address of their session bus, and `run` is
///                                         their runtime folder
///     secrets-100 and so on               the same for whorl-agent: `bus`, and the agent's process id in `agent-pid`
///     pass-100 pass-1000                  password stores, whose key is in `gnupg`
///     python                              an environment of Python with soft-webauthn, where it could be installed
struct Measurement {
  static let sizes = [100, 1_000, 100_000]
  static let peerSizes = [100, 1_000]
  static let touches = 30

  let work: String
  /// How often each program is measured.
  let rounds: Int
  /// The folder of an earlier build's programs, which are measured beside these.
  let baseline: String?
  private let whorl: String

  init(work: String, rounds: Int, baseline: String? = nil) throws(BenchFailure) {
    self.work = work
    self.rounds = rounds
    self.baseline = baseline
    let me = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
      // readlink writes no terminating NUL.
      count = buffer.baseAddress.map { max(0, readlink("/proc/self/exe", $0, buffer.count)) } ?? 0
    }
    guard let slash = me.lastIndex(of: UInt8(ascii: "/")) else {
      throw BenchFailure("cannot tell where the programs are")
    }
    whorl = String(decoding: me[..<slash], as: UTF8.self) + "/whorl"
    guard access(whorl, X_OK) == 0 else { throw BenchFailure("\(whorl) is not built") }
  }

  func report() async throws -> Report {
    var report = Report()
    // Measured first: a child is charged the memory that its parent had when it was spawned, and this program's memory
    // grows.
    let peak = try peak(get(100_000))
    try Yardstick(folder: work).measure(into: &report)
    let programs = try measurePrograms()
    for name in programs.order { if let samples = programs.samples[name] { report.add(samples) } }
    guard let reader = HelperPlaces.reader.locate() else { throw BenchFailure("whorl-reader is not built") }
    let touched = try await FromMatchToSecret(folder: work).samples(count: Self.touches)
    for samples in touched { report.add(samples) }
    for samples in try await GalleryTimes(folder: work, program: reader).samples() { report.add(samples) }
    for samples in try Floors.samples(database: "\(work)/whorl-100000/vault.db", scratch: "\(work)/floor.db") {
      report.add(samples)
    }
    promise(&report, programs.samples, touched)
    try await PasskeyTimes(folder: work, rounds: rounds).measure(into: &report)
    try await signatures.measure(into: &report)
    try LibraryTimes(work: work).measure(into: &report)
    try await SecretServiceTimes(work: work).measure(into: &report)
    try moving.measure(into: &report)
    report.promise("get, peak memory at 100,000 items", Double(peak) / 1024, atMost: 30, "MiB")
    return report
  }

  /// Signatures of the SSH agents.
  var signatures: SSHAgentTimes {
    SSHAgentTimes(folder: work, programs: String(whorl.dropLast("/whorl".count)))
  }

  /// Export and import of the largest store.
  var moving: MovingTimes {
    MovingTimes(whorl: whorl, store: store(100_000), items: 100_000, scratch: work)
  }

  private func promise(_ report: inout Report, _ samples: [String: Samples], _ touched: [Samples]) {
    func median(_ name: String) -> Double { samples[name]?.median ?? .nan }
    for samples in touched {
      report.promise(samples.name, samples.median / 1e6, atMost: 3, "ms")
    }
    if baseline != nil {
      for size in Self.sizes {
        for command in ["get", "set"] {
          report.promise(
            "\(command) at \(size): of the baseline",
            median("whorl \(command), \(size)") / median("baseline whorl \(command), \(size)"), atMost: 1.2)
        }
      }
    }
    report.promise(
      "get at 100: of secret-tool lookup", median("whorl get, 100") / median("secret-tool lookup, 100"), atMost: 1.2)
    report.promise(
      "get: 100,000 of 100", median("whorl get, 100000") / median("whorl get, 100"), atMost: 1.2)
    report.promise(
      "set: 100,000 of 100", median("whorl set, 100000") / median("whorl set, 100"), atMost: 1.5)
    report.promise(
      "set at 1,000: of secret-tool store", median("whorl set, 1000") / median("secret-tool store, 1000"), atMost: 0.4)
    report.promise(
      "ls one hit: 100,000 of 100", median("whorl ls, 100000") / median("whorl ls, 100"), atMost: 1.5)
    report.promise(
      "ls at 100,000: of secret-tool search at 100", median("whorl ls, 100000") / median("secret-tool search, 100"),
      atMost: 1)
  }

  // MARK: Whole processes

  private func measurePrograms() throws(BenchFailure) -> (order: [String], samples: [String: Samples]) {
    var rounds = Rounds()
    rounds.add(ChildProgram(name: "an empty program", arguments: ["/bin/true"]))
    rounds.add(ChildProgram(name: "whorl --version", arguments: [whorl, "--version"]))
    for size in Self.sizes {
      rounds.add(get(size))
      rounds.add(
        ChildProgram(
          name: "whorl ls, \(size)", arguments: [whorl, "ls", "service-7/me", "--store", store(size)],
          environment: environment, expected: .beginning("service-7/me\t")))
      addSet(size, to: &rounds)
      if let baseline {
        rounds.add(get(size, "baseline whorl", "\(baseline)/whorl"))
        addSet(size, "baseline whorl", "\(baseline)/whorl", to: &rounds)
      }
    }
    for size in Self.peerSizes {
      try addKeyring(size, to: &rounds)
      addPass(size, to: &rounds)
    }
    return (rounds.names, try rounds.run(self.rounds))
  }

  private func addKeyring(_ size: Int, to rounds: inout Rounds) throws(BenchFailure) {
    let folder = "\(work)/keyring-\(size)"
    let environment =
      environment + [
        "DBUS_SESSION_BUS_ADDRESS=\(try text(of: "\(folder)/bus"))", "XDG_RUNTIME_DIR=\(folder)/run",
      ]
    func tool(_ name: String, _ words: [String], input: String = "", expected: ChildProgram.Expected? = nil)
      -> ChildProgram
    {
      ChildProgram(
        name: "secret-tool \(name), \(size)", arguments: ["/usr/bin/secret-tool"] + words, environment: environment,
        input: input, expected: expected)
    }
    rounds.add(tool("lookup", ["lookup", "service", "service-7", "account", "me"], expected: "secret-7"))
    rounds.add(tool("search", ["search", "service", "service-7", "account", "me"]))
    rounds.add(
      tool("store", ["store", "--label=new", "service", "new", "account", "me"], input: "new secret"),
      undo: tool("clear", ["clear", "service", "new", "account", "me"]), every: size > 100 ? 4 : 2)
  }

  private func addPass(_ size: Int, to rounds: inout Rounds) {
    let environment = environment + ["PASSWORD_STORE_DIR=\(work)/pass-\(size)", "GNUPGHOME=\(work)/gnupg"]
    func pass(_ name: String, _ words: [String], input: String = "", expected: ChildProgram.Expected? = nil)
      -> ChildProgram
    {
      ChildProgram(
        name: "pass \(name), \(size)", arguments: ["/usr/bin/pass"] + words, environment: environment, input: input,
        expected: expected)
    }
    rounds.add(pass("show", ["show", "service-7/me"], expected: "secret-7\n"), every: 2)
    rounds.add(pass("insert", ["insert", "--force", "--echo", "new/me"], input: "new secret\n"), every: 2)
  }

  private func get(_ size: Int, _ name: String = "whorl", _ program: String? = nil) -> ChildProgram {
    ChildProgram(
      name: "\(name) get, \(size)", arguments: [program ?? whorl, "get", "service-7/me", "--store", store(size)],
      environment: environment, expected: "secret-7")
  }

  private func addSet(_ size: Int, _ name: String = "whorl", _ program: String? = nil, to rounds: inout Rounds) {
    let program = program ?? whorl
    rounds.add(
      ChildProgram(
        name: "\(name) set, \(size)",
        arguments: [program, "set", "new/me", "--access", "none", "--store", store(size)], environment: environment,
        input: "new secret"),
      undo: ChildProgram(
        name: "\(name) rm", arguments: [program, "rm", "new/me", "--store", store(size)], environment: environment))
  }

  /// The peak memory of a program in KiB.
  private func peak(_ program: ChildProgram) throws(BenchFailure) -> Int {
    var peaks: [Int] = []
    for _ in 0..<5 { peaks.append(try program.run().peakKiB) }
    return peaks.sorted()[2]
  }

  private func store(_ size: Int) -> String { "\(work)/whorl-\(size)" }

  private var environment: [String] { ["PATH=/usr/bin:/bin", "HOME=\(work)", "LANG=C.UTF-8"] }

  private func text(of path: String) throws(BenchFailure) -> String {
    let descriptor = open(path, O_RDONLY)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = read(descriptor, &bytes, bytes.count)
    guard count > 0 else { throw BenchFailure("cannot read \(path)") }
    return String(decoding: bytes.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }
}
