import Glibc
import Primitives
import SDBus
import SecretModel
import VaultBus
import Whorl

/// The time of programs and of calls on the system service, beside GNOME Keyring in the same session. The caller has an
/// empty store in the service and an unlocked, empty keyring: `Benchmarks/service-speed.story` makes both.
struct ServiceTimes {
  /// A keyring takes seconds for each item where there are many.
  private static let peerSizes = [100, 1_000]
  private static let callsInTurn = 2_000
  private static let inFlight = 8

  private let rounds: Int
  private let sizes: [Int]
  private let name: ItemName

  /// - Parameter most: how many items there are in the end.
  init(rounds: Int, upTo most: Int) throws {
    self.rounds = rounds
    sizes = [100, 1_000, 100_000].filter { $0 <= most }
    name = try ItemName(parsing: "service-7/me")
  }

  func report() async throws -> Report {
    var report = Report()
    let connection = try await VaultConnector.connect(to: .own, Configuration())
    let service = try await connection.open(.own)
    let hello = try await HelloCalls()
    var programs: [String: Samples] = [:]
    var calls: [Int: Calls] = [:]
    var filled = 0
    for size in sizes {
      try await fill(service, from: filled, to: size)
      filled = size
      for (name, samples) in try measurePrograms(size) {
        programs[name] = samples
        report.add(samples)
      }
      let measured = try await measureCalls(service, hello, size)
      calls[size] = measured
      for samples in [measured.hellos, measured.gets] { report.add(samples) }
    }
    await connection.close()
    promise(&report, programs, calls)
    return report
  }

  private func promise(_ report: inout Report, _ programs: [String: Samples], _ calls: [Int: Calls]) {
    func ratio(_ promise: String, _ name: String, _ other: String, atMost limit: Double) {
      guard let median = programs[name]?.median, let other = programs[other]?.median else { return }
      report.promise(promise, median / other, atMost: limit)
    }
    ratio("get at 100: of secret-tool lookup", "whorl get, 100", "secret-tool lookup, 100", atMost: 0.55)
    ratio("get: 100,000 of 100", "whorl get, 100000", "whorl get, 100", atMost: 1.1)
    ratio("set at 1,000: of secret-tool store", "whorl set, 1000", "secret-tool store, 1000", atMost: 0.2)
    for size in [100, 100_000] {
      guard let measured = calls[size] else { continue }
      report.promise(
        "a get on one connection at \(size): of a Hello", measured.gets.median / measured.hellos.median, atMost: 4)
      report.promise("milliseconds for 3,500 gets in turn at \(size)", 3_500e3 * measured.inTurn, atMost: 1_000, "ms")
      report.promise(
        "milliseconds for 5,000 gets, eight in flight, at \(size)", 5_000e3 * measured.inFlight, atMost: 1_000, "ms")
    }
  }

  // MARK: Filling

  private func fill(_ service: any VaultService, from: Int, to count: Int) async throws {
    for number in from + 1...count {
      let item = NewItem(named: try ItemName(parsing: "service-\(number)/me"), access: AccessControl(.none))
      let secret = SecretBytes(copying: Array("secret-\(number)".utf8).span)
      _ = try await service.add(item, secret: secret, replacing: false, .nobody)
    }
    guard Self.peerSizes.contains(count) else { return }
    for number in from + 1...count {
      try secretTool(
        "store", ["--label=item \(number)", "service", "service-\(number)", "account", "me"],
        input: "secret-\(number)"
      ).run()
    }
  }

  // MARK: Whole programs

  private func measurePrograms(_ size: Int) throws(BenchFailure) -> [(String, Samples)] {
    var programs = Rounds()
    programs.add(ChildProgram(name: "an empty program, \(size)", arguments: ["/bin/true"]))
    programs.add(whorl("get", ["get", "service-7/me"], size, expected: "secret-7"))
    programs.add(
      whorl("set", ["set", "new/me", "--access", "none"], size, input: "new secret"),
      undo: whorl("rm", ["rm", "new/me"], size))
    if Self.peerSizes.contains(size) {
      programs.add(secretTool("lookup", ["service", "service-7", "account", "me"], size, expected: "secret-7"))
      programs.add(
        secretTool("store", ["--label=new", "service", "new", "account", "me"], size, input: "new secret"),
        undo: secretTool("clear", ["service", "new", "account", "me"]), every: size > 100 ? 4 : 2)
    }
    let samples = try programs.run(rounds)
    return programs.names.compactMap { name in samples[name].map { (name, $0) } }
  }

  private func whorl(
    _ name: String, _ words: [String], _ size: Int, input: String = "", expected: ChildProgram.Expected? = nil
  ) -> ChildProgram {
    ChildProgram(
      name: "whorl \(name), \(size)", arguments: ["/usr/bin/whorl"] + words, environment: Self.environment,
      input: input, expected: expected)
  }

  private func secretTool(
    _ name: String, _ words: [String], _ size: Int? = nil, input: String = "", expected: ChildProgram.Expected? = nil
  ) -> ChildProgram {
    ChildProgram(
      name: "secret-tool \(name)" + (size.map { ", \($0)" } ?? ""),
      arguments: ["/usr/bin/secret-tool", name] + words, environment: Self.environment, input: input,
      expected: expected)
  }

  /// The environment variables of the session that both programs need.
  private static var environment: [String] {
    ["HOME", "PATH", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"].compactMap { (name: String) -> String? in
      getenv(name).map { "\(name)=\(String(cString: $0))" }
    }
  }

  // MARK: Calls on one connection

  private struct Calls {
    var hellos: Samples
    var gets: Samples
    /// Seconds for each get.
    var inTurn = 0.0
    var inFlight = 0.0
  }

  private func measureCalls(_ service: any VaultService, _ hello: HelloCalls, _ size: Int) async throws -> Calls {
    var calls = Calls(
      hellos: Samples(name: "a Hello on an open connection, \(size)"),
      gets: Samples(name: "a get on an open connection, \(size)"))
    for _ in 0..<Self.callsInTurn {
      let start = ScanClock.now()
      try await hello.call()
      calls.hellos.nanoseconds.append(ScanClock.now() - start)
      let begin = ScanClock.now()
      try await get(service)
      calls.gets.nanoseconds.append(ScanClock.now() - begin)
    }
    calls.inTurn = try await Self.seconds { for _ in 0..<Self.callsInTurn { try await get(service) } }
    calls.inFlight = try await Self.seconds {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<Self.inFlight {
          group.addTask { for _ in 0..<Self.callsInTurn / Self.inFlight { try await get(service) } }
        }
        try await group.waitForAll()
      }
    }
    return calls
  }

  private func get(_ service: any VaultService) async throws {
    guard try await service.secrets(.names([name]), .nobody).count == 1 else {
      throw BenchFailure("the item is not found")
    }
  }

  /// The time for one of `callsInTurn` calls, in seconds.
  private static func seconds(_ body: () async throws -> Void) async rethrows -> Double {
    let start = ScanClock.now()
    try await body()
    return Double(ScanClock.now() - start) / 1e9 / Double(callsInTurn)
  }

  // MARK: Starting the service

  /// The milliseconds from the connection to the first secret.
  static func firstAnswer() async throws -> Double {
    let name = try ItemName(parsing: "service-7/me")
    let start = ScanClock.now()
    let connection = try await VaultConnector.connect(to: .own, Configuration())
    let items = try await connection.open(.own).secrets(.names([name]), .nobody)
    let end = ScanClock.now()
    guard items.count == 1 else { throw BenchFailure("the item is not found") }
    await connection.close()
    return Double(end - start) / 1e6
  }
}

/// A connection to the service on which only `Hello` is called, to measure the minimum cost of a call.
private struct HelloCalls {
  private let connection: BusConnection

  /// Says hello at once: the service ends connections on which nobody does.
  init() async throws {
    let socket = try BusDescriptor.connected(toBus: "unix:path=/run/whorl/bus")
    connection = try BusConnection(
      socket: fcntl(socket.rawValue, F_DUPFD_CLOEXEC, 3), role: .client,
      handlers: .init(call: { $0.fail("org.freedesktop.DBus.Error.UnknownMethod", "no such member") }))
    try await call()
  }

  func call() async throws {
    _ = try await connection.call(
      VaultInterface.target, VaultCall.hello.member,
      [.uint64(1), .uint32(VaultInterface.minor), .array(of: "s", [])])
  }
}
