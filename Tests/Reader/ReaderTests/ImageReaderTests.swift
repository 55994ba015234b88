import Primitives
import ProgramDriver
import ReaderClient
import Testing
import VirtualFinger

@Suite("The virtual image reader, through its process", .serialized)
struct ImageReaderTests {
  private static let right = SyntheticFinger(person: 1, finger: .rightIndex)
  private static let left = SyntheticFinger(person: 1, finger: .leftIndex)

  @Test("the virtual image reader enrols a finger in five stages, and matches that finger and no other")
  func wholeStory() async throws {
    try await VirtualReader.with(.image) { reader in
      let description = try await reader.open()
      #expect(description.nature == .virtual)
      #expect(description.enrollStages == 5)
      let enrolment = try await reader.enroll(Self.right)
      #expect(
        enrolment.events.filter { if case .stage = $0 { true } else { false } }
          == (1...5).map { .stage(completed: $0, of: 5) })
      let right = enrolled(enrolment.template, 1)
      let left = enrolled(try await reader.enroll(Self.left).template, 2)

      #expect(try await reader.identify(Self.right, [left, right], nonce(1)).outcome == .match(right.id))
      #expect(try await reader.identify(Self.left, [left, right], nonce(2)).outcome == .match(left.id))
      #expect(try await reader.identify(Self.left, [right], nonce(3)).outcome == .noMatch)
      let log = EventLog()
      async let answer = reader.process.verify(left, nonce: nonce(4), observer: log.observe)
      try await log.wait(for: .fingerNeeded)
      try reader.image.press(Self.left.impression(7))
      #expect(try await answer == ScanAnswer(nonce: nonce(4), outcome: .match(left.id), finishedAt: answer.finishedAt))
      try await log.wait(for: .fingerLifted)
    }
  }

  @Test("the virtual image reader reports when a finger comes and goes, also after the answer")
  func fingerEvents() async throws {
    try await VirtualReader.with(.image) { reader in
      try await reader.open()
      let print = enrolled(try await reader.enroll(Self.right).template)
      let log = EventLog()
      async let answer = reader.process.identify([print], nonce: nonce(1), observer: log.observe)
      try await log.wait(for: .fingerNeeded)
      try reader.image.press(Self.right.impression(7))
      #expect(try await answer.outcome == .match(print.id))
      try await log.wait(for: .fingerLifted)
      #expect(log.events == [.fingerNeeded, .fingerPresent, .fingerLifted])
    }
  }

  @Test("the virtual image reader reports a scan's finger even if another scan was refused meanwhile")
  func refusedBeside() async throws {
    try await VirtualReader.with(.image) { reader in
      try await reader.open()
      let print = enrolled(try await reader.enroll(Self.right).template)
      let log = EventLog()
      async let answer = reader.process.identify([print], nonce: nonce(1), observer: log.observe)
      try await log.wait(for: .fingerNeeded)
      let other = EventLog()
      #expect(
        await readerError { try await reader.process.identify([print], nonce: nonce(2), observer: other.observe) }
          == .busy(holder: nil))
      try reader.image.press(Self.right.impression(7))
      #expect(try await answer.outcome == .match(print.id))
      try await log.wait(for: .fingerLifted)
      #expect(log.events == [.fingerNeeded, .fingerPresent, .fingerLifted])
      #expect(other.events == [])
    }
  }

  @Test("the virtual image reader answers an unreadable touch with a retry, and a broken device with an error")
  func retryAndError() async throws {
    try await VirtualReader.with(.image) { reader in
      try await reader.open()
      let print = enrolled(try await reader.enroll(Self.right).template)
      let log = EventLog()
      async let answer = reader.process.identify([print], nonce: nonce(1), observer: log.observe)
      try await log.wait(for: .fingerNeeded)
      try reader.image.retry(.tooShort)
      #expect(try await answer.outcome == .retry(.tooShort))

      let errorLog = EventLog()
      async let error = readerError {
        try await reader.process.identify([print], nonce: nonce(2), observer: errorLog.observe)
      }
      try await errorLog.wait(for: .fingerNeeded)
      try reader.image.deviceError(.general)
      guard case .device = await error else { return #expect(Bool(false), "error 0 is the device's") }
    }
  }

  @Test("the virtual image reader has no storage, and says so")
  func noStorage() async throws {
    try await VirtualReader.with(.image) { reader in
      try await reader.open()
      #expect(await readerError { try await reader.process.storedPrints(knowing: []) } == .notSupported)
      #expect(await readerError { try await reader.process.clearStorage() } == .notSupported)
    }
  }

  @Test("a scan cancelled during a long match is answered at once, and the next reader process is new")
  func cancelledInMatch() async throws {
    try await VirtualReader.with(.image) { reader in
      try await reader.open()
      let template = try await reader.enroll(Self.right).template
      // Comparing takes some seconds.
      let prints = (0..<4_000).map { enrolled(template, UInt8(truncatingIfNeeded: $0)) }
      let first = processes(with: reader.socket)
      let log = EventLog()
      let scan = Task { try await reader.process.identify(prints, nonce: nonce(1), observer: log.observe) }
      try await log.wait(for: .fingerNeeded)
      try reader.image.press(Self.left.impression(7))
      try await log.wait(for: .fingerPresent)
      try await Task.sleep(for: .milliseconds(200))
      let start = ContinuousClock.now
      scan.cancel()
      #expect(await readerError { try await scan.value } == .cancelled)
      #expect(ContinuousClock.now - start < .seconds(2))
      try await reader.open()
      #expect(ContinuousClock.now - start < .seconds(3))
      #expect(processes(with: reader.socket) != first)
      #expect(try await reader.identify(Self.right, [prints[0]], nonce(2)).outcome == .match(prints[0].id))
    }
  }
}
