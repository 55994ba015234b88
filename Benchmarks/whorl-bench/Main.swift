import Glibc

/// Measures Whorl and comparable programs. `scripts/bench` prepares the stores and runs this program.
@main
enum Main {
  static let usage = """
    usage: whorl-bench fill DIR COUNT   make a store with COUNT items
           whorl-bench fill-large DIR COUNT              the same with secrets of 1 MiB
           whorl-bench fill-secrets DIR COUNT            the same as items of the Secret Service
           whorl-bench moving WORK                       export and import of the largest store alone
           whorl-bench measure WORK [--json FILE] [--rounds N] [--strict] [--baseline DIR]
           whorl-bench library WORK                      the calls of the library alone
           whorl-bench passkeys WORK                     stores with one and with 1,000 passkeys alone
           whorl-bench secret-service WORK               the Secret Services on the buses of WORK alone
           whorl-bench ssh WORK                          signatures of whorl-agent and of ssh-agent alone
           whorl-bench yardstick WORK                    a compile, an scrypt and an fsync: the machine itself
           whorl-bench service --rounds N [--items N]    the caller's own, empty store in the system service
           whorl-bench first-answer                      one item of that store, in milliseconds

    """

  static func main() async {
    do {
      try await run(Array(CommandLine.arguments.dropFirst()))
    } catch let failure as BenchFailure {
      fail(failure.text)
    } catch {
      fail("\(error)")
    }
  }

  private static func run(_ words: [String]) async throws {
    switch words.first {
    case "fill" where words.count == 3:
      guard let count = Int(words[2]), count > 0 else { fail(usage) }
      try await FilledStore.make(at: words[1], items: count)
    case "fill-large" where words.count == 3:
      guard let count = Int(words[2]), count > 0 else { fail(usage) }
      try await FilledStore.makeLarge(at: words[1], items: count)
    case "fill-secrets" where words.count == 3:
      guard let count = Int(words[2]), count > 0 else { fail(usage) }
      try await FilledStore.makeSecrets(at: words[1], items: count)
    case "passkeys" where words.count == 2:
      var report = Report()
      try await PasskeyTimes(folder: words[1], rounds: 100).measure(into: &report)
      print(report.text)
    case "secret-service" where words.count == 2:
      var report = Report()
      try await SecretServiceTimes(work: words[1]).measure(into: &report)
      print(report.text)
    case "ssh" where words.count == 2:
      var report = Report()
      try await Measurement(work: words[1], rounds: 1).signatures.measure(into: &report)
      print(report.text)
    case "yardstick" where words.count == 2:
      var report = Report()
      try Yardstick(folder: words[1]).measure(into: &report)
      print(report.text)
    case "moving" where words.count == 2:
      var report = Report()
      try Measurement(work: words[1], rounds: 1).moving.measure(into: &report)
      print(report.text)
    case "library" where words.count == 2:
      var report = Report()
      try LibraryTimes(work: words[1]).measure(into: &report)
      print(report.text)
    case "service" where words.count == 3 || words.count == 5 && words[3] == "--items":
      guard words[1] == "--rounds", let rounds = Int(words[2]), rounds > 0 else { fail(usage) }
      guard let items = words.count == 3 ? 100_000 : Int(words[4]), items >= 100 else { fail(usage) }
      print(try await ServiceTimes(rounds: rounds, upTo: items).report().text)
    case "first-answer" where words.count == 1:
      print(try await ServiceTimes.firstAnswer())
    case "measure" where words.count > 1:
      try await measure(Array(words[1...]))
    default: fail(usage)
    }
  }

  private static func measure(_ words: [String]) async throws {
    var json: String?
    var strict = false
    var baseline: String?
    var rounds = 30
    var rest = words.dropFirst()
    while let word = rest.popFirst() {
      switch word {
      case "--json": json = rest.popFirst()
      case "--strict": strict = true
      case "--baseline": baseline = rest.popFirst()
      case "--rounds":
        guard let count = rest.popFirst().flatMap(Int.init), count > 0 else { fail(usage) }
        rounds = count
      default: fail(usage)
      }
    }
    let report = try await Measurement(work: words[0], rounds: rounds, baseline: baseline).report()
    print(report.text)
    if let json { try report.writeJSON(to: json) }
    if strict, !report.promises.allSatisfy(\.isKept) { exit(1) }
  }

  private static func fail(_ text: String) -> Never {
    let line = text.hasPrefix("usage") ? text : "whorl-bench: \(text)\n"
    _ = Array(line.utf8).withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    exit(64)
  }
}
