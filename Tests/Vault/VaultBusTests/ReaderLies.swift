import Primitives
import ReaderBus
import SDBus
import VaultDriver

/// Decides the answers of a lying reader: a recorded exchange, adapted to the call, with random changes.
struct ReaderLies: Sendable {
  /// What it does about a call, in order.
  enum Step: Sendable {
    case signal([BusValue])
    case answer([BusValue])
    case fail(String, String, [BusValue])
    case wait(Duration)
    /// The connection ends.
    case close
    /// It calls the vault.
    case call(String, [BusValue])
    /// No answer.
    case silence
  }

  private enum Mood {
    case changeable
    /// Gives the same answer to every scan of a request.
    case stubborn(RecordedExchange)
    /// Always lists these templates as new prints of fprintd.
    case inventive([BusValue])
  }

  private let recorded: [RecordedExchange]
  /// The prints that fprintd has listed, another user's among them.
  private let fprintdPrints: [FprintdPrint]
  private var values: RandomValues
  private var mood = Mood.changeable
  /// Numbers of earlier calls.
  private var numbers: [UInt64] = [0]
  /// The prints of the present call.
  private var prints: [[UInt8]] = []

  init(from recorded: [RecordedExchange], _ name: String, seed: UInt64) {
    self.recorded = recorded
    let all = recorded.flatMap { exchange in
      let results = (try? exchange.result.get()) ?? []
      return exchange.arguments + exchange.signals.joined() + results
    }
    values = RandomValues(Campaign.Generator(name, seed: seed), recorded: all, identifier: [])
    fprintdPrints = recorded.flatMap(\.templates).compactMap { FprintdPrint($0) }
  }

  mutating func beginRequest() {
    mood = .changeable
    let scans = recorded.filter { $0.isScan }
    if values.isOne(in: 10), !scans.isEmpty { mood = .stubborn(values.pick(scans)) }
    if !fprintdPrints.isEmpty, values.isOne(in: 4) { mood = .inventive(inventedPrints()) }
  }

  mutating func script(for call: BusCall) -> [Step] {
    let number = call.arguments.first?.asUInt64 ?? 0
    defer { numbers = (numbers + [number]).suffix(20) }
    values.learn(from: call.arguments)
    prints = RecordedExchange.prints(call.arguments)
    let same = recorded.filter { $0.member == call.member }
    if case .stubborn(let exchange) = mood, exchange.member == call.member {
      return signals(of: exchange, number) + [touch(number), exchange.step(for: call)]
    }
    // Calls that were never recorded, such as `Cancel`, are answered with nothing.
    guard !same.isEmpty else { return values.isOne(in: 3) ? [.silence] : [.answer([])] }
    if case .inventive(let templates) = mood, call.member == "StoredPrints", !values.isOne(in: 4) {
      return [.answer([.array(of: "ay", []), .array(of: "ay", templates)])]
    }
    let exchange = values.pick(values.isOne(in: 20) ? recorded : same)
    var steps = signals(of: exchange, number)
    for _ in 0..<values.pick([0, 0, 0, 1, 2]) { change(&steps, number) }
    let truth = exchange.step(for: call)
    // Mostly truthful before the scan, so that most requests reach it.
    let end = exchange.isScan || values.isOne(in: 3) ? ending(truth) : [truth]
    return steps + end + (values.isOne(in: 10) ? [.signal(anySignal(number))] : [])
  }

  /// What the wire does with the next message.
  mutating func mangling() -> LyingWire.Mangling {
    guard values.isOne(in: 40) else { return .none }
    switch values.number(0...7) {
    case 0: return .dropped
    case 1: return .twice
    case 2: return .swapped
    case 3: return .late(microseconds: UInt32(values.number(1_000...500_000)))
    case 4: return .flipped(bit: values.number(0...100_000))
    case 5: return .cut(count: values.number(1...64))
    case 6: return .brokenOff(count: values.number(0...64))
    default: return .preceded(by: (0..<values.number(1...64)).map { _ in UInt8(values.number(0...255)) })
    }
  }

  // MARK: The answer

  private mutating func ending(_ truth: Step) -> [Step] {
    switch values.number(0...39) {
    case 0: return [.silence]
    case 1: return [.close]
    case 2: return [truth, .close]
    case 3: return [.wait(.milliseconds(values.number(1...900))), truth]
    case 4: return [.call(values.pick(["ConnectToBus", "Scan", ""]), values.pick([[], [values.leaf()]])), truth]
    case 5: return Array(repeating: .call("ConnectToBus", [.string("unix:path=/")]), count: 100) + [truth]
    case 6, 7, 8: return [failure()]
    case 9: return [huge(truth)]
    case 10: return [truth.changed { $0 + [values.leaf()] }]
    case 11: return [truth.changed { $0 + [.descriptor(values.descriptor())] }]
    case 12: return [truth.changed { _ in [] }]
    case 13...18: return [changed(truth)]
    case 19...28: return [falseMatch(truth)]
    default: return [truth]
    }
  }

  private mutating func changed(_ step: Step) -> Step {
    step.changed { results in
      guard let place = results.indices.randomElement(using: &values.random) else { return [values.leaf()] }
      var results = results
      results[place] = values.isOne(in: 8) ? values.leaf() : values.changed(results[place])
      return results
    }
  }

  /// A match in place of the answer to a scan, with a wrong nonce, print or time.
  private mutating func falseMatch(_ step: Step) -> Step {
    step.changed { results in
      guard results.count == 5, let nonce = results[0].asBytes, results[1].asString != nil else { return results }
      var match: [BusValue] = [
        .bytes(nonce), .string("match"), .bytes(prints.randomElement(using: &values.random) ?? []), .string(""),
        .uint64(ScanClock.now()),
      ]
      switch values.number(0...2) {
      case 0: match[0] = values.changed(match[0])
      case 1: match[2] = values.changed(match[2])
      default:
        match[4] = .uint64(values.pick([0, ScanClock.now() - 4_000_000_000, ScanClock.now() + 4_000_000_000, .max]))
      }
      return match
    }
  }

  /// Templates in the form of fprintd's reader: of another user, of a finger enrolled again, without digests, of one
  /// finger twice, of all ten, or of more.
  private mutating func inventedPrints() -> [BusValue] {
    let kind = values.number(0...5)
    return (0..<values.pick([1, 1, 2, 3, 10, 11])).map { number in
      var print = values.pick(fprintdPrints)
      switch kind {
      case 0: break
      case 1: print.digest = nil
      case 2: print.finger = Finger.allCases[number % Finger.allCases.count]
      default:
        print.finger = kind == 3 ? print.finger : Finger.allCases[number % Finger.allCases.count]
        print.digest = (0..<32).map { _ in UInt8(values.number(0...255)) }
      }
      let template = BusValue.bytes(print.template.bytes)
      return values.isOne(in: 20) ? values.changed(template) : template
    }
  }

  /// The answer with a value that is as large as a message may be, or larger.
  private mutating func huge(_ step: Step) -> Step {
    let size = values.pick([1 << 20, 15 << 20, 17 << 20])
    return step.changed { results in
      guard let place = results.indices.randomElement(using: &values.random) else { return results }
      var results = results
      results[place] = results[place].grown(to: size)
      return results
    }
  }

  private mutating func failure() -> Step {
    let known = [
      "Absent", "PermissionDenied", "Busy", "Removed", "TooHot", "Cancelled", "NotSupported", "StorageFull",
      "NotOnChip", "Duplicate", "BadTemplate", "Suspended", "PrintsChanged", "ProcessDied", "CannotStart",
      "FprintdRefused", "FprintdUnreachable", "FprintdFilesUnreadable", "NotLent", "Device", "Unknown",
    ]
    let name =
      values.isOne(in: 8) ? "org.freedesktop.DBus.Error.NoReply" : "org.whorl.Reader1.Error.\(values.pick(known))"
    let text = values.pick(["", "words", "\u{1B}[2J\n", String(repeating: "é", count: 100_000)])
    return .fail(name, text, values.isOne(in: 8) ? [values.leaf()] : [])
  }

  // MARK: Signals

  private func signals(of exchange: RecordedExchange, _ number: UInt64) -> [Step] {
    exchange.signals.map { .signal([.uint64(number)] + $0.dropFirst()) }
  }

  private func touch(_ number: UInt64, _ event: ScanEvent = .fingerPresent) -> Step {
    .signal(event.busValues(call: number))
  }

  private mutating func change(_ steps: inout [Step], _ number: UInt64) {
    let place = values.number(0...steps.count)
    switch values.number(0...5) {
    case 0 where place < steps.count: steps.remove(at: place)
    case 1 where place < steps.count: steps.insert(steps[place], at: 0)
    case 2: steps.shuffle(using: &values.random)
    case 3:
      // A debug build reads a thousand signals with long strings for half a minute.
      let signal = anySignal(number)
      let many = values.pick([10, 1_000])
      steps += Array(repeating: .signal(signal), count: signal.cost > 1_000 ? 10 : many)
    default: steps.insert(.signal(anySignal(number)), at: place)
    }
  }

  private mutating func anySignal(_ number: UInt64) -> [BusValue] {
    let events: [ScanEvent] = [
      .fingerNeeded, .fingerPresent, .fingerLifted, .stage(completed: 3, of: 0),
      .stage(completed: Int(UInt32.max), of: 5), .retry(.general),
    ]
    var arguments = values.pick(events).busValues(call: values.isOne(in: 3) ? values.pick(numbers) : number)
    if values.isOne(in: 4) {
      let place = values.number(0...arguments.count - 1)
      arguments[place] = values.isOne(in: 3) ? values.leaf() : values.changed(arguments[place])
    }
    return arguments
  }
}

extension RecordedExchange {
  var isScan: Bool { member == "Identify" || member == "Verify" }

  /// The recorded answer with the nonce, the prints and the time of this call in place of the recorded ones.
  fileprivate func step(for call: BusCall) -> ReaderLies.Step {
    switch result {
    case .success(let values):
      return .answer(member == call.member ? brought(values, to: call) : values)
    case .failure(.remote(let name, let text, let details)): return .fail(name, text, details)
    case .failure: return .close
    }
  }

  private func brought(_ values: [BusValue], to call: BusCall) -> [BusValue] {
    let (then, now) = (Self.prints(arguments), Self.prints(call.arguments))
    func print(_ id: [UInt8]) -> [UInt8] {
      guard let place = then.firstIndex(of: id) else { return id }
      return place < now.count ? now[place] : now.last ?? id
    }
    if isScan, values.count == 5, let id = values[2].asBytes {
      return [call.arguments[1], values[1], .bytes(print(id)), values[3], .uint64(ScanClock.now())]
    }
    if member == "StoredPrints", let present = values.first?.asArray, values.count == 2 {
      // Prints that are new in this call are on the chip as well.
      let ids = Set(present.compactMap(\.asBytes).map(print)).union(now.dropFirst(then.count))
      return [.array(of: "ay", ids.map { .bytes($0) }), values[1]]
    }
    return values
  }

  /// The templates in a list of prints.
  fileprivate var templates: [Template] {
    guard member == "StoredPrints", let unknown = (try? result.get())?.last?.asArray else { return [] }
    return unknown.compactMap { $0.asBytes.map(Template.init(bytes:)) }
  }

  /// The ids of the prints in the arguments of a call.
  fileprivate static func prints(_ arguments: [BusValue]) -> [[UInt8]] {
    if arguments.count == 4, let id = arguments[2].asBytes { return [id] }
    return (arguments.last?.asArray ?? []).compactMap { $0.asStructure?.first?.asBytes }
  }
}

extension ReaderLies.Step {
  fileprivate func changed(_ change: ([BusValue]) -> [BusValue]) -> Self {
    if case .answer(let values) = self { .answer(change(values)) } else { self }
  }

  /// The time of this answer to a scan, if it claims a match of one of the call's prints with the call's nonce.
  func timeOfClaim(of call: BusCall) -> UInt64? {
    guard case .answer(let values) = self, values.count == 5, call.member == "Identify" || call.member == "Verify",
      values[0] == call.arguments[1], values[1] == .string("match"), let id = values[2].asBytes,
      RecordedExchange.prints(call.arguments).contains(id)
    else { return nil }
    return values[4].asUInt64
  }
}

extension BusValue {
  /// The value, with its contents repeated until they take this many bytes.
  fileprivate func grown(to size: Int) -> BusValue {
    switch self {
    case .string: return .string(String(repeating: "a", count: size))
    case .bytes: return .bytes(Array(repeating: 65, count: size))
    case .array(let element, let values):
      let cost = values.reduce(1) { $0 + $1.cost }
      return .array(of: element, Array(repeatElement(values, count: size / cost + 1).joined()))
    case .dictionary(let entries):
      return .dictionary(
        entries.mapValues { if case .string = $0 { $0.grown(to: size / entries.count) } else { $0 } })
    default: return self
    }
  }
}
