import Glibc
import Primitives
import SDBus

/// The calls of programs on the Secret Service of `whorl-agent` and on that of GNOME Keyring, by the same client, in turn, so
/// that other load on the machine affects both equally. Each has a message bus of its own, which `scripts/bench` has
/// started.
struct SecretServiceTimes {
  /// The folder with `secrets-100` and so on for `whorl-agent`, and `keyring-100` and so on for GNOME Keyring.
  let work: String

  private static let sizes = [100, 1_000, 10_000, 100_000]
  private static let peerSizes = [100, 1_000, 10_000]
  /// Both services side by side.
  private struct Services {
    let size: Int
    let own: SecretServiceClient
    let peer: SecretServiceClient?

    var ownName: String { "whorl-agent, \(size)" }
    var peerName: String { "GNOME Keyring, \(size)" }
  }

  func measure(into report: inout Report) async throws {
    var gets: [Int: Double] = [:]
    var lists: [Int: Double] = [:]
    for size in Self.sizes {
      let services = Services(
        size: size, own: try await SecretServiceClient(busFile: "\(work)/secrets-\(size)/bus"),
        peer: Self.peerSizes.contains(size)
          ? try await SecretServiceClient(busFile: "\(work)/keyring-\(size)/bus") : nil)
      gets[size] = try await reads(services, &report)
      let list = try await pair("Collections", 500, services, &report) { try await $0.collections() }
      lists[size] = list.own.median
      promise("Collections", list, services, &report)
      let search = try await pair("SearchItems", 500, services, &report) { _ = try await $0.search(7) }
      promise("SearchItems", search, services, &report)
      if size == 100_000 {
        report.promise("a search in 100,000 items", search.own.median / 1e6, atMost: 5, "ms")
      }
      if [1_000, 10_000].contains(size) { try await whole(services, &report) }
      if size <= 1_000 { try tools(services, &report) }
      if size == 1_000 { try await memory(services, &report) }
      services.own.close()
      services.peer?.close()
    }
    func ratio(_ value: Double?, _ other: Double?) -> Double { (value ?? .nan) / (other ?? .nan) }
    report.promise("Collections: 100,000 of 100", ratio(lists[100_000], lists[100]), atMost: 1.2)
    report.promise("GetSecret: 100,000 of 100", ratio(gets[100_000], gets[100]), atMost: 1.2)
    let memory = try ChildMemory.proportionalKiB(ofProcessIn: "\(work)/secrets-100000/agent-pid")
    report.promise("whorl-agent and its whorld, 100,000 items", Double(memory) / 1024, atMost: 30, "MiB")
  }

  /// Reads one item, in a plain and in an encrypted session.
  ///
  /// - Returns: the median of the plain one.
  private func reads(_ services: Services, _ report: inout Report) async throws -> Double {
    let paths = (own: try await services.own.search(7), peer: try await services.peer?.search(7))
    func path(_ client: SecretServiceClient) -> String {
      client.session == services.own.session ? paths.own : paths.peer ?? ""
    }
    let plain = try await pair("GetSecret", 1_000, services, &report) { try await $0.read(path($0)) }
    promise("GetSecret", plain, services, &report)
    let encrypted = try await pair("GetSecret, encrypted", 500, services, &report) {
      try await $0.read(path($0), isEncrypted: true)
    }
    promise("GetSecret, encrypted", encrypted, services, &report)
    return plain.own.median
  }

  /// Finds all items, and reads a thousand of them at once.
  private func whole(_ services: Services, _ report: inout Report) async throws {
    let size = services.size
    let all = try await pair("SearchItems of all", 20, services, &report) {
      guard try await $0.searchAll().count == size else { throw BenchFailure("a search has not found all items") }
    }
    promise("SearchItems of all", all, services, &report)
    guard size == 1_000 else { return }
    let (paths, peerPaths) = (try await services.own.searchAll(), try await services.peer?.searchAll() ?? [])
    for isEncrypted in [false, true] {
      let name = "GetSecrets of all\(isEncrypted ? ", encrypted" : "")"
      let secrets = try await pair(name, 20, services, &report) {
        try await $0.read($0.session == services.own.session ? paths : peerPaths, isEncrypted: isEncrypted)
      }
      promise(name, secrets, services, &report)
    }
  }

  /// `secret-tool lookup`, which encrypts, as a whole process.
  private func tools(_ services: Services, _ report: inout Report) throws {
    var rounds = Rounds()
    func add(_ name: String, _ folder: String) throws {
      rounds.add(
        ChildProgram(
          name: "secret-tool lookup, \(name)",
          arguments: ["/usr/bin/secret-tool", "lookup", "service", "service-7", "account", "me"],
          environment: [
            "PATH=/usr/bin:/bin", "HOME=\(work)", "LANG=C.UTF-8",
            "DBUS_SESSION_BUS_ADDRESS=\(try SmallText.lines(of: "\(folder)/bus").first ?? "")",
          ], expected: "secret-7"))
    }
    try add(services.ownName, "\(work)/secrets-\(services.size)")
    try add(services.peerName, "\(work)/keyring-\(services.size)")
    let found = try rounds.run(100)
    for name in rounds.names { if let samples = found[name] { report.add(samples) } }
    let medians = rounds.names.map { found[$0]?.median ?? .nan }
    report.promise(
      "secret-tool lookup at \(services.size): of GNOME Keyring", medians[0] / medians[1], atMost: 1)
  }

  /// How much the memory of `whorl-agent` and its `whorld` grows over 20,000 reads of all items in turn.
  private func memory(_ services: Services, _ report: inout Report) async throws {
    let file = "\(work)/secrets-\(services.size)/agent-pid"
    let paths = try await services.own.searchAll().compactMap(\.asObjectPath)
    for path in paths { try await services.own.read(path, expected: nil) }
    let before = try ChildMemory.proportionalKiB(ofProcessIn: file)
    for number in 0..<20_000 { try await services.own.read(paths[number % paths.count], expected: nil) }
    let growth = try ChildMemory.proportionalKiB(ofProcessIn: file) - before
    report.promise("growth of whorl-agent and its whorld in 20,000 reads", Double(growth) / 1024, atMost: 1, "MiB")
  }

  private func promise(_ what: String, _ pair: Pair, _ services: Services, _ report: inout Report) {
    guard let peer = pair.peer else { return }
    report.promise("\(what) at \(services.size): of GNOME Keyring", pair.own.median / peer.median, atMost: 1)
  }

  private struct Pair {
    var own: Samples
    var peer: Samples?
  }

  /// Measures a call of both in turn.
  private func pair(
    _ what: String, _ rounds: Int, _ services: Services, _ report: inout Report,
    _ call: (SecretServiceClient) async throws -> Void
  ) async throws -> Pair {
    var pair = Pair(
      own: Samples(name: "\(what), \(services.ownName)"),
      peer: services.peer.map { _ in Samples(name: "\(what), \(services.peerName)") })
    try await call(services.own)
    if let peer = services.peer { try await call(peer) }
    for _ in 0..<rounds {
      try await pair.own.take { try await call(services.own) }
      if let peer = services.peer { try await pair.peer?.take { try await call(peer) } }
    }
    for samples in [pair.own, pair.peer].compactMap(\.self) { report.add(samples) }
    return pair
  }
}
