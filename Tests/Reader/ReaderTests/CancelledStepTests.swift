import Primitives
import ProgramDriver
import ReaderClient
import Testing
import VirtualFinger

/// Each step is cancelled at many times, and the reader is used afterwards.
@Suite("A cancelled step of a reader", .serialized)
struct CancelledStepTests {
  /// Delays from before the start of a step until after its end.
  private static func delays(_ count: Int) -> [Duration] { (0..<count).map { .microseconds($0 * 6_000 / count) } }

  @Test("cancelling the opening of a reader leaves it closed", arguments: [VirtualReader.Kind.image, .storage])
  func opening(kind: VirtualReader.Kind) async throws {
    try await VirtualReader.with(kind) { reader in
      let id = try #require(try await reader.process.readers().first).id
      for delay in Self.delays(50) {
        let step = Task { try await reader.process.open(id) }
        try await Task.sleep(for: delay)
        step.cancel()
        let error = await readerError { try await step.value }
        #expect(error == nil || error == .cancelled, "\(delay)")
        if error == nil { try await reader.process.close() }
        _ = try await reader.process.open(id)
        try await reader.process.close()
      }
    }
  }

  /// The steps of a reader that is open.
  enum Step: CaseIterable { case enroll, identify, verify, list, delete, clear, suspend, resume, close }

  @Test("a match-on-chip reader is usable after a cancelled step, without a new finger", arguments: Step.allCases)
  func chip(step: Step) async throws {
    try await VirtualReader.with(.storage) { reader in
      try await reader.open()
      let print = enrolled(try await reader.enroll("a").template)
      // One touch enrols from now on, so that no touches of a cancelled enrolment are left.
      try reader.storage.setEnrollStages(1)
      for (number, delay) in Self.delays(step == .enroll ? 100 : 30).enumerated() {
        if case .resume = step { try await reader.process.suspend() }
        // The touch of every other scan comes at once.
        if number.isMultiple(of: 2) { try touch(reader, step) }
        let running = Task { try await run(step, reader.process, print) }
        try await Task.sleep(for: delay)
        running.cancel()
        let error = await readerError { try await running.value }
        #expect(error == nil || error == .cancelled, "\(step) cancelled after \(delay)")
        try await reader.process.close()
        try await reader.open()
        let chip = try reader.storage.list()
        switch step {
        case .delete, .clear: if chip.isEmpty { try reader.storage.insert("a") } else { #expect(chip == ["a"]) }
        default: #expect(chip == ["a"], "\(step) cancelled after \(delay)")
        }
      }
      #expect(try await reader.identify("a", [print], nonce(2)).outcome == .match(print.id))
    }
  }

  private func touch(_ reader: VirtualReader, _ step: Step) throws {
    switch step {
    case .enroll: try reader.storage.scan("b")
    case .identify, .verify: try reader.storage.scan("a")
    default: break
    }
  }

  private func run(_ step: Step, _ reader: ReaderProcess, _ print: EnrolledPrint) async throws {
    switch step {
    case .enroll:
      let template = try await reader.enroll { _ in }
      // It ended before the cancellation.
      try await Task { try await reader.delete(template) }.value
    case .identify: _ = try await reader.identify([print], nonce: nonce(1)) { _ in }
    case .verify: _ = try await reader.verify(print, nonce: nonce(1)) { _ in }
    case .list: _ = try await reader.storedPrints(knowing: [print])
    case .delete: try await reader.delete(print.template)
    case .clear: try await reader.clearStorage()
    case .suspend:
      try await reader.suspend()
      try await Task { try await reader.resume() }.value
    case .resume: try await reader.resume()
    case .close: try await reader.close()
    }
  }

  @Test("a reader whose suspend is cancelled is awake")
  func suspend() async throws {
    try await VirtualReader.with(.storage) { reader in
      try await reader.open()
      let print = enrolled(try await reader.enroll("a").template)
      for delay in Self.delays(50) {
        let step = Task { try await reader.process.suspend() }
        try await Task.sleep(for: delay)
        step.cancel()
        if await readerError({ try await step.value }) == nil { try await reader.process.resume() }
        #expect(try await reader.identify("a", [print], nonce(2)).outcome == .match(print.id))
      }
    }
  }

  /// The scans of a reader that takes pictures.
  enum Scan: CaseIterable { case enroll, identify, verify, capture }

  @Test("an image reader is usable after a scan is cancelled before, in or after its touch", arguments: Scan.allCases)
  func image(scan: Scan) async throws {
    let finger = SyntheticFinger(person: 1, finger: .rightIndex)
    try await VirtualReader.with(.image) { reader in
      try await reader.open()
      let print = enrolled(try await reader.enroll(finger).template)
      for milliseconds in [-1, 0, 5, 10, 20, 30, 40, 60, 80, 100] {
        let log = EventLog()
        let running = Task { try await run(scan, reader.process, print, log.observe) }
        if milliseconds >= 0 {
          try await log.wait(for: .fingerNeeded)
          try reader.image.press(finger.impression(7))
          try await Task.sleep(for: .milliseconds(milliseconds))
        }
        running.cancel()
        let error = await readerError { try await running.value }
        #expect(error == nil || error == .cancelled, "\(scan) cancelled after \(milliseconds) ms")
        try await reader.process.close()
        try await reader.open()
      }
      #expect(try await reader.identify(finger, [print], nonce(2)).outcome == .match(print.id))
    }
  }

  private func run(
    _ scan: Scan, _ reader: ReaderProcess, _ print: EnrolledPrint, _ observer: @escaping ScanObserver
  ) async throws {
    switch scan {
    case .enroll: _ = try await reader.enroll(observer: observer)
    case .identify: _ = try await reader.identify([print], nonce: nonce(1), observer: observer)
    case .verify: _ = try await reader.verify(print, nonce: nonce(1), observer: observer)
    case .capture: _ = try await reader.capture(includingImage: false, observer: observer)
    }
  }
}
