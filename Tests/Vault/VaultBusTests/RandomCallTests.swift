import Primitives
import SDBus
import SecretModel
import Testing
import VaultBus
import VaultDriver

@Suite("Random calls", .timeLimit(.minutes(60)))
struct RandomCallTests {
  @Test("random calls to a vault are answered or end their connection, and the vault works afterwards")
  func answered() async {
    // In a new process, since a crash ends it.
    await onOwnThread {
      await #expect(processExitsWith: .success) { [seed = Campaign.seed as UInt64] in
        try await callAtRandom(seed: seed)
      }
    }
  }
}

private func callAtRandom(seed: UInt64) async throws {
  let recorded = try await RecordedCalls()
  // Not those that greet, make or open a store, open a sealed copy, lend the reader, or cancel.
  #expect(Set(recorded.all.map(\.member)).count == VaultCall.all.count - 7)
  var calls = RandomCalls(from: recorded, seed: seed)
  let scratch = try await ScratchConnection()
  var client = try RawClient(to: scratch)
  try await client.open(scratch.store.path)
  for count in 1...Campaign.count(short: 400, long: 100_000) {
    let (member, arguments) = calls.next()
    let place = Comment(rawValue: "call \(count) of WHORL_SEED=\(seed): \(member)")
    let (answer, failure) = await client.outcome(member, arguments)
    calls.learn(from: answer)
    switch failure {
    case nil:
      let signature = answer.map(\.signature).joined()
      #expect(signature == VaultCall.named[member]?.results, place)
    case .remote(let name, _, _)?:
      let isKnown = name.hasPrefix(VaultInterface.errorPrefix) || name.hasPrefix("org.freedesktop.DBus.Error.")
      #expect(isKnown, place)
    case let other?:
      // A call that breaks the protocol ends its connection, and nothing else.
      try #require(try await client.isOver(), "\(place.rawValue): \(other)")
      client = try RawClient(to: scratch)
      try await client.open(scratch.store.path)
    }
  }
  client.connection.close()
  #expect(try await client.isOver())
  let vault = try await Way.overSocket.connect(to: scratch).open(scratch.place)
  let item = NewItem(.genericPassword, [.service: .text("after the random calls")])
  let added = try await vault.add(item, secret: SecretBytes(text: "fine"), replacing: false, .nobody)
  let released = try await vault.secrets(.ids([added.id]), .nobody)
  #expect(released.map(\.text) == ["fine"])
}

extension RawClient {
  func isOver() async throws -> Bool { try await eventually { self.isClosed.isSet } }

  /// The outcome of a call. Cancels it after a moment if it waits for a person.
  func outcome(
    _ member: String, _ arguments: [BusValue], patience: Duration = .milliseconds(300)
  ) async -> (answer: [BusValue], failure: BusError?) {
    let number = next()
    let ending = Task {
      try await Task.sleep(for: patience)
      _ = try? await connection.call(VaultInterface.target, "Cancel", [.uint64(number)])
      try await Task.sleep(for: .seconds(30))
      Issue.record("\(member) was not answered: \(arguments)")
      connection.close()
    }
    defer { ending.cancel() }
    do throws(BusError) {
      return (try await call(member, arguments, number: number), nil)
    } catch {
      return ([], error)
    }
  }
}
