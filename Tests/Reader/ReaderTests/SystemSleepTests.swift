import Primitives
import ProgramDriver
import ReaderClient
import Testing
import VirtualFinger

@Suite("The reader and the system's sleep", .serialized, .timeLimit(.minutes(2)))
struct SystemSleepTests {
  private static let finger = SyntheticFinger(person: 1, finger: .rightIndex)

  @Test("the system's sleep waits for an open reader, which ends its scan, sleeps, and later reads fingers again")
  func wholeNight() async throws {
    try await withReaderAndLogind { reader, logind in
      try await reader.open()
      let lock = try await logind.waitForLock()
      #expect(lock.words.first == "sleep")
      #expect(lock.words.last == "delay")
      #expect(lock.isHeld)
      let print = enrolled(try await reader.enroll(Self.finger).template)
      for night in 1...3 {
        let log = EventLog()
        async let error = readerError {
          try await reader.process.identify([print], nonce: nonce(1), observer: log.observe)
        }
        try await log.wait(for: .fingerNeeded)
        let lock = try await logind.waitForLock(count: night)
        #expect(lock.isHeld)
        try await logind.prepareForSleep(true)
        #expect(await error == .suspended)
        #expect(try await eventually { !lock.isHeld })
        // While it is suspended, a scan fails.
        #expect(
          await readerError { try await reader.process.identify([print], nonce: nonce(2)) { _ in } } == .suspended)
        #expect(logind.locks.count == night)
        try await logind.prepareForSleep(false)
        #expect(try await logind.waitForLock(count: night + 1).isHeld)
        #expect(try await reader.identify(Self.finger, [print], nonce(3)).outcome == .match(print.id))
      }
      let last = try await logind.waitForLock(count: 4)
      try await reader.process.close()
      #expect(try await eventually { !last.isHeld })
    }
  }

  @Test("the system's sleep waits only while a reader is open")
  func onlyWhileOpen() async throws {
    try await withReaderAndLogind { reader, logind in
      _ = try await reader.process.readers()
      try await logind.prepareForSleep(true)
      try await logind.prepareForSleep(false)
      #expect(logind.locks.isEmpty)
      for count in 1...3 {
        try await reader.open()
        let lock = try await logind.waitForLock(count: count)
        try await reader.process.close()
        #expect(try await eventually { !lock.isHeld })
      }
      #expect(logind.locks.count == 3)
    }
  }

  @Test("only the owner of logind's name can announce a sleep")
  func impostor() async throws {
    try await PrivateBus.with { bus in
      let logind = try await LoginManagerStandIn(on: bus)
      let impostor = try await LoginManagerStandIn(on: bus, ownsName: false)
      try await VirtualReader.with(.image, systemBus: bus.address) { reader in
        try await reader.open()
        let lock = try await logind.waitForLock()
        let print = enrolled(try await reader.enroll(Self.finger).template)
        let log = EventLog()
        async let answer = reader.process.identify([print], nonce: nonce(1), observer: log.observe)
        try await log.wait(for: .fingerNeeded)
        try await impostor.prepareForSleep(true)
        try await impostor.prepareForSleep(true, to: lock.holder)
        // A malformed signal does not end its connection to the bus.
        try await impostor.sendOddSignal(to: lock.holder)
        try reader.image.press(Self.finger.impression(7))
        #expect(try await answer.outcome == .match(print.id))
        #expect(lock.isHeld)
        #expect(logind.locks.count == 1)
        // Signals of the real one are still handled.
        try await logind.prepareForSleep(true, to: lock.holder)
        #expect(try await eventually { !lock.isHeld })
        // Another member's signal does not resume the reader.
        try await impostor.prepareForSleep(false, to: lock.holder)
        #expect(
          await readerError { try await reader.process.identify([print], nonce: nonce(2)) { _ in } } == .suspended)
        #expect(logind.locks.count == 1)
      }
      logind.close()
      impostor.close()
    }
  }

  @Test("the system's sleep is over for a reader if logind ends during it, and the next logind is asked again")
  func restartedLogind() async throws {
    try await withReaderAndLogind { reader, logind in
      try await reader.open()
      let lock = try await logind.waitForLock()
      try await logind.prepareForSleep(true)
      #expect(try await eventually { !lock.isHeld })
      logind.close()
      let print = enrolled(try await reader.enrollWhenAwake(Self.finger))
      let next = try await LoginManagerStandIn(on: bus(of: reader))
      #expect(try await next.waitForLock().isHeld)
      #expect(try await reader.identify(Self.finger, [print], nonce(1)).outcome == .match(print.id))
      next.close()
    }
  }

  @Test("a reader works without a system bus or logind")
  func nobodyThere() async throws {
    func touch(_ reader: VirtualReader) async throws {
      try await reader.open()
      let print = enrolled(try await reader.enroll(Self.finger).template)
      #expect(try await reader.identify(Self.finger, [print], nonce(1)).outcome == .match(print.id))
    }
    try await VirtualReader.with(.image, systemBus: "unix:path=/tmp/whorl-no-such-bus") { try await touch($0) }
    try await PrivateBus.with { bus in
      try await VirtualReader.with(.image, systemBus: bus.address) { try await touch($0) }
    }
  }

  private func bus(of reader: VirtualReader) throws -> PrivateBus {
    PrivateBus(address: try #require(reader.systemBus))
  }

  private func withReaderAndLogind(
    _ body: (VirtualReader, LoginManagerStandIn) async throws -> Void
  ) async throws {
    try await PrivateBus.with { bus in
      let logind = try await LoginManagerStandIn(on: bus)
      try await VirtualReader.with(.image, systemBus: bus.address) { try await body($0, logind) }
      logind.close()
    }
  }
}

extension VirtualReader {
  /// Tries to enrol until it succeeds, the only sign that the reader was resumed.
  fileprivate func enrollWhenAwake(_ finger: SyntheticFinger) async throws -> Template {
    for _ in 0..<500 {
      let probe = Task { try await process.identify([], nonce: nonce(9)) { _ in } }
      try await Task.sleep(for: .milliseconds(20))
      probe.cancel()
      if await readerError({ try await probe.value }) != .suspended { break }
    }
    return try await enroll(finger).template
  }
}
