import Primitives
import SDBus

/// The calls of programs on the Secret Service of `whorl-agent` and on that of GNOME Keyring, by the same client. Each
/// has a message bus of its own, which `scripts/bench` has started.
struct SecretServiceTimes {
  /// The folder with `secrets-100` and so on for `whorl-agent`, and `keyring-100` and so on for GNOME Keyring.
  let work: String

  private static let sizes = [100, 1_000, 100_000]
  /// A keyring takes seconds for each item where there are many.
  private static let peerSizes = [100, 1_000]

  func measure(into report: inout Report) async throws {
    var gets: [Int: Double] = [:]
    var peerGets: [Int: Double] = [:]
    var lists: [Int: Double] = [:]
    for size in Self.sizes {
      let own = try await SecretServiceClient(busFile: "\(work)/secrets-\(size)/bus")
      let peer =
        Self.peerSizes.contains(size) ? try await SecretServiceClient(busFile: "\(work)/keyring-\(size)/bus") : nil
      let (ownName, peerName) = ("whorl-agent, \(size)", "GNOME Keyring, \(size)")
      let (read, search) = try await measure(own, ownName, beside: peer, peerName, &report)
      gets[size] = read.own.median
      peerGets[size] = read.peer?.median
      let list = try await pair("Collections", 250, own, ownName, peer, peerName, &report) {
        try await $0.collections()
      }
      lists[size] = list.own.median
      if size == 1_000 {
        let all = try await pair("SearchItems of all", 20, own, ownName, peer, peerName, &report) {
          _ = try await $0.searchAll()
        }
        report.promise("a search of all 1,000 items", all.own.median / 1e6, atMost: 10, "ms")
        let (paths, peerPaths) = (try await own.searchAll(), try await peer?.searchAll() ?? [])
        guard paths.count == size else { throw BenchFailure("\(paths.count) items in the place of \(size)") }
        let secrets = try await pair("GetSecrets of all", 20, own, ownName, peer, peerName, &report) {
          try await $0.read($0.session == own.session ? paths : peerPaths)
        }
        report.promise("GetSecrets of 1,000 items", secrets.own.median / 1e6, atMost: 100, "ms")
      }
      if size == 100_000 {
        report.promise("a search in 100,000 items", search.own.median / 1e6, atMost: 5, "ms")
      }
      own.close()
      peer?.close()
    }
    func ratio(_ value: Double?, _ other: Double?) -> Double { (value ?? .nan) / (other ?? .nan) }
    report.promise("GetSecret at 100: of GNOME Keyring", ratio(gets[100], peerGets[100]), atMost: 1.5)
    report.promise("Collections: 100,000 of 100", ratio(lists[100_000], lists[100]), atMost: 1.5)
    report.promise("GetSecret: 100,000 of 100", ratio(gets[100_000], gets[100]), atMost: 1.2)
    let memory = try ChildMemory.proportionalKiB(
      ofProcessIn: "\(work)/secrets-100000/agent-pid")
    report.promise("whorl-agent and its whorld, 100,000 items", Double(memory) / 1024, atMost: 30, "MiB")
  }

  private struct Pair {
    var own: Samples
    var peer: Samples?
  }

  /// Measures a call of both in turn.
  private func pair(
    _ what: String, _ rounds: Int, _ own: SecretServiceClient, _ ownName: String, _ peer: SecretServiceClient?,
    _ peerName: String, _ report: inout Report, _ call: (SecretServiceClient) async throws -> Void
  ) async throws -> Pair {
    var pair = Pair(
      own: Samples(name: "\(what), \(ownName)"), peer: peer.map { _ in Samples(name: "\(what), \(peerName)") })
    for _ in 0..<rounds {
      try await pair.own.take { try await call(own) }
      if let peer { try await pair.peer?.take { try await call(peer) } }
    }
    for samples in [pair.own, pair.peer].compactMap(\.self) { report.add(samples) }
    return pair
  }

  /// Measures both in turn, so that other load on the machine affects both equally.
  private func measure(
    _ own: SecretServiceClient, _ name: String, beside peer: SecretServiceClient?, _ peerName: String,
    _ report: inout Report
  ) async throws -> (reads: Pair, searches: Pair) {
    func pair(_ what: String) -> Pair {
      Pair(own: Samples(name: "\(what), \(name)"), peer: peer.map { _ in Samples(name: "\(what), \(peerName)") })
    }
    var (reads, searches) = (pair("GetSecret"), pair("SearchItems"))
    let path = try await own.search(7)
    let peerPath = try await peer?.search(7)
    for round in 0..<1_000 {
      try await reads.own.take { try await own.read(path) }
      if let peer, let peerPath { try await reads.peer?.take { try await peer.read(peerPath) } }
      guard round % 4 == 0 else { continue }
      try await searches.own.take { _ = try await own.search(7) }
      if let peer { try await searches.peer?.take { _ = try await peer.search(7) } }
    }
    for samples in [reads.own, reads.peer, searches.own, searches.peer].compactMap(\.self) { report.add(samples) }
    return (reads, searches)
  }
}

/// A client of a Secret Service that stays connected to its bus, with a plain session.
private struct SecretServiceClient {
  private static let name = "org.freedesktop.secrets"
  private static let service = BusTarget(
    destination: name, path: "/org/freedesktop/secrets", interface: "org.freedesktop.Secret.Service")

  private let connection: BusConnection
  let session: String

  /// - Parameter busFile: a file with the address of the bus.
  init(busFile: String) async throws {
    guard let line = try SmallText.lines(of: busFile).first, let address = line.split(separator: ",").first else {
      throw BenchFailure("\(busFile) has no address")
    }
    connection = try BusConnection(
      busAddress: String(address),
      handlers: .init(call: { $0.fail("org.freedesktop.DBus.Error.UnknownMethod", "no such member") }))
    let answer = try await connection.call(
      Self.service, "OpenSession", [.string("plain"), .variant(.string(""))], within: .seconds(10))
    guard let path = answer.last?.asObjectPath else { throw BenchFailure("no session of the Secret Service") }
    session = path
  }

  /// The path of the item with this number, which `scripts/bench` has stored.
  func search(_ number: Int) async throws -> String {
    let answer = try await connection.call(
      Self.service, "SearchItems", [.texts(["service": "service-\(number)", "account": "me"])], within: .seconds(60))
    guard let path = answer.first?.asArray?.first?.asObjectPath else {
      throw BenchFailure("the item of the Secret Service is not found")
    }
    return path
  }

  /// Reads the properties of the service, as every libsecret program does first.
  func collections() async throws {
    let target = BusTarget(
      destination: Self.name, path: "/org/freedesktop/secrets", interface: "org.freedesktop.DBus.Properties")
    let answer = try await connection.call(
      target, "GetAll", [.string("org.freedesktop.Secret.Service")], within: .seconds(60))
    guard answer.first?.asDictionary?["Collections"] != nil else { throw BenchFailure("no collections") }
  }

  /// The paths of all items that `scripts/bench` has stored.
  func searchAll() async throws -> [BusValue] {
    let answer = try await connection.call(
      Self.service, "SearchItems", [.texts(["account": "me"])], within: .seconds(60))
    return answer.first?.asArray ?? []
  }

  /// Reads the secrets of these items at once. The answer is not looked at: this client cannot read dictionaries by path.
  func read(_ paths: [BusValue]) async throws {
    do {
      _ = try await connection.call(
        Self.service, "GetSecrets", [.array(of: "o", paths), .objectPath(session)], within: .seconds(60))
    } catch BusError.malformed {}
  }

  func read(_ path: String) async throws {
    let item = BusTarget(destination: Self.name, path: path, interface: "org.freedesktop.Secret.Item")
    let answer = try await connection.call(item, "GetSecret", [.objectPath(session)], within: .seconds(60))
    guard answer.first?.asStructure?[2].asBytes == Array("secret-7".utf8) else {
      throw BenchFailure("the Secret Service has given another secret")
    }
  }

  func close() { connection.close() }
}
