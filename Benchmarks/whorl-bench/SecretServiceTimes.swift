import Fingerprint
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
    for size in Self.sizes {
      let own = try await SecretServiceClient(busFile: "\(work)/secrets-\(size)/bus")
      let peer =
        Self.peerSizes.contains(size) ? try await SecretServiceClient(busFile: "\(work)/keyring-\(size)/bus") : nil
      let (read, search) = try await measure(
        own, "whorl-agent, \(size)", beside: peer, "GNOME Keyring, \(size)", &report)
      gets[size] = read.own.median
      peerGets[size] = read.peer?.median
      if size == 100_000 {
        report.promise("a search in 100,000 items", search.own.median / 1e6, atMost: 5, "ms")
      }
      own.close()
      peer?.close()
    }
    func ratio(_ value: Double?, _ other: Double?) -> Double { (value ?? .nan) / (other ?? .nan) }
    report.promise("GetSecret at 100: of GNOME Keyring", ratio(gets[100], peerGets[100]), atMost: 1)
    report.promise("GetSecret: 100,000 of 100", ratio(gets[100_000], gets[100]), atMost: 1.2)
    let memory = try ChildMemory.proportionalKiB(
      ofProcessIn: "\(work)/secrets-100000/agent-pid")
    report.promise("whorl-agent and its whorld, 100,000 items", Double(memory) / 1024, atMost: 30, "MiB")
  }

  private struct Pair {
    var own: Samples
    var peer: Samples?
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
  private let session: String

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

  func read(_ path: String) async throws {
    let item = BusTarget(destination: Self.name, path: path, interface: "org.freedesktop.Secret.Item")
    let answer = try await connection.call(item, "GetSecret", [.objectPath(session)], within: .seconds(60))
    guard answer.first?.asStructure?[2].asBytes == Array("secret-7".utf8) else {
      throw BenchFailure("the Secret Service has given another secret")
    }
  }

  func close() { connection.close() }
}
