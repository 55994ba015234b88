import SDBus
import VaultDriver

/// Makes calls that differ from recorded ones in random places.
struct RandomCalls {
  private let recorded: RecordedCalls
  private var values: RandomValues

  init(from recorded: RecordedCalls, seed: UInt64) {
    self.recorded = recorded
    values = RandomValues(
      Campaign.Generator("random calls", seed: seed), recorded: recorded.all.flatMap(\.arguments),
      identifier: RecordedCalls.identifier)
  }

  /// Uses the identifiers of an answer in later calls.
  mutating func learn(from answer: [BusValue]) { values.learn(from: answer) }

  mutating func next() -> (member: String, arguments: [BusValue]) {
    var call = values.pick(recorded.all)
    for _ in 0..<values.number(0...3) where !call.arguments.isEmpty {
      let place = values.number(0...call.arguments.count - 1)
      call.arguments[place] = values.changed(call.arguments[place])
    }
    // Rarely, because the bus refuses a wrong signature before it reaches the vault.
    if values.isOne(in: 50) { call.arguments.append(values.leaf()) }
    return call
  }
}
