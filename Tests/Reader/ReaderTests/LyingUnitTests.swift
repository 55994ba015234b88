import Glibc
import Primitives
import ProgramDriver
import ReaderBus
import ReaderClient
import SDBus
import Synchronization
import Testing

@Suite("A reader unit that does not answer, or cannot close its reader", .timeLimit(.minutes(2)))
struct LyingUnitTests {
  private static let reader = ReaderDescription(
    id: "reader", name: "reader", identity: ReaderIdentity(driver: "driver"), scanType: .press, enrollStages: 1,
    features: [.identify, .verify], temperature: .cold, nature: .virtual)
  private static let print = enrolled(Template(bytes: [1]))

  /// A unit whose calls the test answers.
  private final class Unit: Sendable {
    /// What has reached it.
    private final class Received: Sendable {
      let connections = Mutex(0)
      /// Calls that nobody answers. They are kept, because a call is answered when it is released.
      let calls = Mutex<[BusCall]>([])
    }

    let process: ReaderProcess
    private let listener: BusListener
    private let received: Received

    var connections: Int { received.connections.withLock { $0 } }

    /// - Parameter answers: answers a call, or returns false.
    init(in folder: String, within limit: Duration, _ answers: @escaping @Sendable (BusCall) -> Bool) throws {
      let path = "\(folder)/unit"
      let received = Received()
      listener = try BusListener(socket: BusDescriptor(taking: UnitLauncher.listen(at: path))) { _ in
        received.connections.withLock { $0 += 1 }
        return .init(call: { call in
          if !answers(call) { received.calls.withLock { $0.append(call) } }
        })
      }
      self.received = received
      process = ReaderProcess(
        unit: path, selection: .virtualImage(socket: "\(folder)/sensor"), maker: getuid(), answersWithin: limit)
    }

    deinit { listener.close() }
  }

  private static func answers(_ call: BusCall) -> Bool {
    switch ReaderInterface.Method(rawValue: call.member) {
    case .readers: call.answer(ReaderAnswer.readers([reader]).values)
    case .open: call.answer(ReaderAnswer.reader(reader).values)
    case .identify: call.answer(match(call))
    default: return false
    }
    return true
  }

  private static func match(_ call: BusCall) -> [BusValue] {
    let nonce = ScanNonce(bytes: call.arguments[1].asBytes ?? [])
    return ReaderAnswer.scan(ScanAnswer(nonce: nonce, outcome: .match(print.id), finishedAt: ScanClock.now())).values
  }

  @Test("a reader unit is ended if an answer without a finger takes too long, and the next call starts another")
  func silent() async throws {
    try await withFolder { folder in
      let unit = try Unit(in: folder, within: .milliseconds(200)) { _ in false }
      let process = unit.process
      let calls: [@Sendable () async throws -> Void] = [
        { _ = try await process.readers() }, { _ = try await process.open("reader") },
        { _ = try await process.storedPrints(knowing: [Self.print]) },
        { try await process.delete(Self.print.template) }, { try await process.clearStorage() },
        { try await process.suspend() }, { try await process.resume() },
      ]
      for (count, call) in calls.enumerated() {
        #expect(await readerError { try await call() } == .processDied("it did not answer in time, and was ended"))
        #expect(unit.connections == count + 1)
      }
    }
  }

  @Test("a reader unit may take twice as long for its first answer, since it has to start")
  func slowStart() async throws {
    try await withFolder { folder in
      let unit = try Unit(in: folder, within: .seconds(30), Self.answers)
      #expect(await unit.process.nextLimit == .seconds(60))
      _ = try await unit.process.readers()
      #expect(await unit.process.nextLimit == .seconds(30))
      await unit.process.shutdown()
      #expect(await unit.process.nextLimit == .seconds(60), "another process starts")
    }
  }

  @Test("a reader unit that opens another reader, or answers another scan, is refused")
  func otherAnswers() async throws {
    try await withFolder { folder in
      func error(_ answers: @escaping @Sendable (BusCall) -> Bool) async throws -> ReaderError? {
        let unit = try Unit(in: folder, within: .seconds(30), answers)
        defer { unlink("\(folder)/unit") }
        return await readerError {
          _ = try await unit.process.open("reader")
          _ = try await unit.process.identify([Self.print], nonce: nonce(1)) { _ in }
        }
      }
      #expect(try await error(Self.answers) == nil)
      for (id, nature) in [("other", ReaderDescription.Nature.virtual), ("reader", .physical)] {
        let reader = ReaderDescription(
          id: id, name: "reader", identity: ReaderIdentity(driver: "driver"), scanType: .press, enrollStages: 1,
          features: [.identify, .verify], temperature: .cold, nature: nature)
        let found = try await error { call in
          guard call.member == "Open" else { return Self.answers(call) }
          call.answer(ReaderAnswer.reader(reader).values)
          return true
        }
        #expect(found != nil, "\(id), \(nature)")
      }
      let answered = try await error { call in
        guard call.member == "Identify" else { return Self.answers(call) }
        let answer = ScanAnswer(nonce: nonce(2), outcome: .match(Self.print.id), finishedAt: ScanClock.now())
        call.answer(ReaderAnswer.scan(answer).values)
        return true
      }
      #expect(answered != nil)
    }
  }

  @Test("a reader unit has no time limit in calls that wait for a finger")
  func slowScan() async throws {
    try await withFolder { folder in
      let unit = try Unit(in: folder, within: .milliseconds(200)) { call in
        guard call.member == "Identify" else { return Self.answers(call) }
        Task {
          try await Task.sleep(for: .milliseconds(600))
          call.answer(Self.match(call))
        }
        return true
      }
      let answer = try await unit.process.identify([Self.print], nonce: nonce(1)) { _ in }
      #expect(answer.outcome == .match(Self.print.id))
    }
  }

  @Test("a reader unit that cannot close its reader is ended, so that the next user's vault gets a new unit")
  func failingClose() async throws {
    try await withFolder { folder in
      let unit = try Unit(in: folder, within: .seconds(10)) { call in
        guard call.member == "Close" else { return Self.answers(call) }
        call.fail(ReaderError.busy(holder: nil).busName, "")
        return true
      }
      _ = try await unit.process.open("reader")
      #expect(await readerError { try await unit.process.close() } == .busy(holder: nil))
      _ = try await unit.process.readers()
      #expect(unit.connections == 2)
    }
  }

  @Test("a reader unit closes a reader that was opened while the opening was cancelled")
  func cancelledOpen() async throws {
    try await withFolder { folder in
      let opening = Mutex<[BusCall]>([])
      let closed = Mutex(0)
      let unit = try Unit(in: folder, within: .seconds(10)) { call in
        switch call.member {
        case "Open": opening.withLock { $0.append(call) }
        case "Cancel":
          for open in opening.withLock({ $0 }) { open.answer(ReaderAnswer.reader(Self.reader).values) }
          call.answer()
        case "Close":
          closed.withLock { $0 += 1 }
          call.answer()
        default: return Self.answers(call)
        }
        return true
      }
      let process = unit.process
      let open = Task { try await process.open("reader") }
      for _ in 0..<6_000 where opening.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(5)) }
      open.cancel()
      #expect(await readerError { _ = try await open.value } == .cancelled)
      // Waits until the cancelled call is settled.
      _ = try await process.readers()
      #expect(closed.withLock { $0 } == 1)
      #expect(unit.connections == 2)
    }
  }
}
