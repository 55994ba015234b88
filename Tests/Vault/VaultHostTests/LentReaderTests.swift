import Glibc
import Primitives
import Processes
import ProgramDriver
import ReaderBus
import ReaderClient
import SDBus
import SecretModel
import Synchronization
import Testing
import VaultDriver
import VaultHost
import VirtualFinger

@Suite("A reader that the service lends", .timeLimit(.minutes(3)))
struct LentReaderTests {
  private static let finger = SyntheticFinger(person: 1, finger: .rightIndex)
  private static let stranger = SyntheticFinger(person: 2, finger: .rightIndex)

  /// One program's loan, and its connection.
  private struct Loan {
    let connection: any VaultConnection
    let reader: ReaderProcess
    let sensor: String

    init(_ service: RunningService) async throws {
      connection = try service.connect()
      reader = ReaderProcess(lent: try await connection.lendReader().release(), selection: .automatic)
      sensor = service.folder + "/sensor"
    }

    @discardableResult
    func open() async throws -> ReaderDescription {
      try await reader.open(try #require(try await reader.readers().first).id)
    }

    /// Runs a scan and presses a finger each time it wants one.
    func pressing<Answer: Sendable>(
      _ finger: SyntheticFinger, _ scan: @escaping @Sendable (@escaping ScanObserver) async throws -> Answer
    ) async throws -> Answer {
      let (events, source) = AsyncStream.makeStream(of: ScanEvent.self)
      let presses = Task { [sensor] in
        var stage: UInt64 = 0
        for await event in events where event == .fingerNeeded {
          stage += 1
          let picture = finger.impression(stage)
          try await onThread { try VirtualImageReader(socket: sensor, patience: .seconds(15)).press(picture) }
        }
      }
      defer {
        source.finish()
        presses.cancel()
      }
      return try await scan { source.yield($0) }
    }

    func enroll(_ finger: SyntheticFinger) async throws -> EnrolledPrint {
      let template = try await pressing(finger) { try await reader.enroll(as: .leftLittle, observer: $0) }
      return EnrolledPrint(id: EnrolmentID(bytes: [1]), template: template)
    }

    func identify(_ finger: SyntheticFinger, _ print: EnrolledPrint) async throws -> ScanOutcome {
      let nonce = ScanNonce(bytes: [2])
      return try await pressing(finger) { try await reader.identify([print], nonce: nonce, observer: $0) }.outcome
    }
  }

  private static func isNotLent(_ error: any Error, _ words: String) -> Bool {
    if case .notLent(let why) = error as? ReaderError { why.contains(words) } else { false }
  }

  @Test("a reader lent by the service frees the number of a refused call at once")
  func forgetsRefusedCalls() async throws {
    let service = try RunningService()
    try await service.makeStore()
    let connection = try service.connect()
    let reader = try BusConnection(
      socket: try await connection.lendReader().release(), role: .client, handlers: .init())
    defer { reader.close() }
    var errors: [String] = []
    for _ in 1...2 {
      do throws(BusError) {
        _ = try await reader.call(ReaderInterface.target, "ClearStorage", [.uint64(7)])
      } catch .remote(let name, _, _) {
        errors.append(name)
      } catch {
        errors.append("\(error)")
      }
    }
    #expect(errors.count == 2 && errors.first == errors.last, "\(errors)")
    await connection.close()
    try await service.end()
  }

  @Test("a reader lent by the service enrols a finger, tells it from another, and refuses prints from elsewhere")
  func fingers() async throws {
    let service = try RunningService()
    let loan = try await Loan(service)
    try await loan.open()
    let print = try await loan.enroll(Self.finger)
    #expect(try await loan.identify(Self.finger, print) == .match(print.id))
    #expect(try await loan.identify(Self.stranger, print) == .noMatch)
    // No finger is waited for here.
    var other = print
    other.template.bytes[0] ^= 1
    let (foreign, reader, nonce) = (other, loan.reader, ScanNonce(bytes: [3]))
    await #expect { _ = try await reader.identify([print, foreign], nonce: nonce) { _ in } } throws: {
      Self.isNotLent($0, "enrolled")
    }
    await #expect { _ = try await reader.verify(foreign, nonce: nonce) { _ in } } throws: {
      Self.isNotLent($0, "enrolled")
    }
    await #expect { try await reader.delete(foreign.template) } throws: { Self.isNotLent($0, "enrolled") }
    await #expect { _ = try await reader.storedPrints(knowing: [foreign]) } throws: { Self.isNotLent($0, "enrolled") }
    await #expect { _ = try await reader.capture(includingImage: true) { _ in } } throws: {
      Self.isNotLent($0, "picture")
    }
    await #expect { try await reader.clearStorage() } throws: { Self.isNotLent($0, "others") }
    await loan.connection.close()
    try await service.end()
  }

  @Test(
    "a reader lent by the service reports only how many other prints its chip has, and leaves no new one there",
    arguments: [false, true])
  func chip(closesFirst: Bool) async throws {
    let folder = try RunningService.makeFolder()
    let socket = folder + "/storage"
    let service = try RunningService(reader: .child(.virtualStorage(socket: socket)))
    let chip = VirtualStorageReader(socket: socket)
    let loan = try await Loan(service)
    try await loan.open()
    try await onThread { try chip.insert("of-another") }
    let reader = loan.reader
    #expect(try await reader.storedPrints(knowing: []).unknown == [Template(bytes: [])])
    let (events, source) = AsyncStream.makeStream(of: ScanEvent.self)
    let touches = Task {
      var isArmed = false
      for await event in events {
        switch event {
        case .fingerNeeded where !isArmed: isArmed = true
        case .stage(1...4, _): break
        default: continue
        }
        try await onThread { try chip.scan("mine") }
      }
    }
    let template = try await reader.enroll(as: .leftLittle) { source.yield($0) }
    source.finish()
    try await touches.value
    let print = EnrolledPrint(id: EnrolmentID(bytes: [1]), template: template)
    let list = try await reader.storedPrints(knowing: [print])
    #expect(list.present == [print.id])
    #expect(list.unknown == [Template(bytes: [])])
    if closesFirst { try await reader.close() }
    await loan.connection.close()

    let next = try await Loan(service)
    var left = 0
    for _ in 1...(closesFirst ? 100 : 1) {
      try await next.open()
      left = try await next.reader.storedPrints(knowing: []).unknown.count
      if left == 1 { break }
      // The service has not opened the reader again.
      try await next.reader.close()
      try await Task.sleep(for: .milliseconds(50))
    }
    #expect(left == 1)
    await next.connection.close()
    try await service.end()
    try ScratchStore.run("/bin/rm", ["-rf", folder])
  }

  @Test("a reader lent by the service is listed for everybody, and opened if polkit allows it, which is asked once")
  func authorization() async throws {
    let asked = Mutex(0)
    let allows = Mutex(false)
    let service = try RunningService(authorizeTest: { caller throws(VaultError) in
      asked.withLock { $0 += 1 }
      guard allows.withLock({ $0 }), caller.process?.id == getpid() else {
        throw .notAuthorized(.denied, action: "org.whorl.manage")
      }
    })
    let loan = try await Loan(service)
    #expect(try await loan.reader.readers().count == 1)
    #expect(asked.withLock { $0 } == 0)
    await #expect { try await loan.open() } throws: { Self.isNotLent($0, "at this machine alone") }
    allows.withLock { $0 = true }
    for _ in 1...2 {
      try await loan.open()
      try await loan.reader.close()
    }
    #expect(asked.withLock { $0 } == 2)
    await #expect {
      _ = try await loan.connection.lendReader().release()
    } throws: {
      if case .invalidRequest = $0 as? VaultError { true } else { false }
    }
    await loan.connection.close()
    try await service.end()
  }

  @Test(
    "a reader lent by the service is unavailable to vaults until it is returned or the borrower's connection ends",
    arguments: [false, true])
  func alone(isReturned: Bool) async throws {
    let connections = Mutex(0)
    let service = try RunningService(callers: { caller in
      let number = connections.withLock { number in
        number += 1
        return number
      }
      return Caller(user: caller.user, process: caller.process, label: "program \(number)")
    })
    try await service.makeStore()
    let loan = try await Loan(service)
    try await loan.open()
    let connection = try service.connect()
    let vault = try await connection.open(.own)
    let (context, events) = try await vault.openContext(ContextOptions(timeout: .seconds(60)))
    let enrolling = Task { try await vault.enroll(.rightIndex, Asking(in: context)) }
    var heard: [ReaderUse?] = []
    events: for await event in events {
      switch event.event {
      case .secretWanted:
        await vault.respond(context, .secret(question: event.number, .init(text: RunningService.passcode)))
      case .notice(.readerInUse(let use)):
        heard.append(use)
        if isReturned { try await loan.reader.close() } else { await loan.connection.close() }
      case .touchWanted:
        heard.append(nil)
        await vault.respond(context, .cancel)
        break events
      default: break
      }
    }
    #expect(heard == [.program("program 2", items: []), nil])
    _ = await enrolling.result
    await vault.closeContext(context, reason: .program)
    if isReturned { await loan.connection.close() }
    await connection.close()
    try await service.end()
  }

  @Test("a reader lent by the service ends a scan when the session is locked, and opens only after the unlock")
  func locked() async throws {
    try await PrivateBus.withSession { bus, logind, polkit in
      let service = try RunningService(
        sessions: LoginSessions(polkit: Polkit(bus: bus.address), bus: bus.address))
      let loan = try await Loan(service)
      try await loan.open()
      let (events, source) = AsyncStream.makeStream(of: ScanEvent.self)
      let reader = loan.reader
      let scan = Task { try await reader.enroll(as: .leftLittle) { source.yield($0) } }
      for await event in events where event == .fingerNeeded { break }
      logind.change("c1", ["LockedHint": .boolean(true)])
      await #expect { _ = try await scan.value } throws: { Self.isNotLent($0, "locked") }
      try await reader.close()
      await #expect { try await loan.open() } throws: { Self.isNotLent($0, "locked") }
      logind.change("c1", ["LockedHint": .boolean(false)])
      try await loan.open()
      await loan.connection.close()
      try await service.end()
    }
  }
}
