import Primitives
import ProgramDriver
import ReaderClient
import Testing

@Suite("A reader of open-fprintd", .serialized)
struct OpenFprintdTests {
  private static let index = enrolled(FprintdPrint(finger: .rightIndex, digest: nil).template, 1)
  private static let thumb = enrolled(FprintdPrint(finger: .leftThumb, digest: nil).template, 2)

  private func withReader(
    _ fingers: [String], _ body: (OpenFprintd, ReaderProcess) async throws -> Void
  ) async throws {
    try await PrivateBus.with { bus in
      let fprintd = try await OpenFprintd(on: bus, fingers: fingers)
      defer { fprintd.close() }
      let process = ReaderProcess(
        program: try readerProgram(), selection: .fprintd(device: nil),
        fprintd: FprintdPlace(bus: bus.address, templates: "/nonexistent"))
      _ = try await process.open(try #require(try await process.readers().first?.id))
      try await body(fprintd, process)
      await process.shutdown()
    }
  }

  @Test("a match of the only finger is a match of it, although the service always looks for any finger")
  func one() async throws {
    try await withReader(["right-index-finger"]) { fprintd, process in
      for (touch, outcome) in [(OpenFprintd.Touch.right, ScanOutcome.match(Self.index.id)), (.wrong, .noMatch)] {
        let log = EventLog()
        async let answer = process.identify([Self.index], nonce: nonce(1), observer: log.observe)
        try await log.wait(for: .fingerPossible)
        fprintd.touch(touch)
        #expect(try await answer.outcome == outcome)
        try await log.wait(for: .fingerLifted)
        #expect(log.events == [.fingerNeeded, .fingerPossible, .fingerPresent, .fingerLifted])
      }
    }
  }

  @Test("a match of any finger of several is reported if all of them are looked for")
  func all() async throws {
    try await withReader(["right-index-finger", "left-thumb"]) { fprintd, process in
      async let answer = process.identify([Self.index, Self.thumb], nonce: nonce(1)) { _ in }
      try #require(try await eventually { fprintd.isArmed })
      fprintd.touch(.right)
      #expect(try await answer.outcome == .match(Self.index.id))
    }
  }

  @Test("one finger of several is refused before any touch, since a match could be of another one")
  func oneOfSeveral() async throws {
    try await withReader(["right-index-finger", "left-thumb"]) { fprintd, process in
      for _ in 1...2 {
        #expect(
          await readerError { try await process.verify(Self.thumb, nonce: nonce(1)) { _ in } } == .looksForAnyFinger)
        let isDisarmed = try await eventually { !fprintd.isArmed }
        #expect(isDisarmed)
      }
    }
  }

  @Test("the only finger is deleted with the call for all fingers, and one of several is not deleted")
  func deletion() async throws {
    try await withReader(["right-index-finger", "left-thumb"]) { fprintd, process in
      #expect(await readerError { try await process.delete(Self.thumb.template) } == .deletesOnlyAllFingers)
      #expect(fprintd.fingers == ["right-index-finger", "left-thumb"])
      fprintd.delete("left-thumb")
      try await process.delete(Self.index.template)
      #expect(fprintd.fingers.isEmpty)
    }
  }

  @Test("fingers are enrolled, in stages")
  func enrolment() async throws {
    try await withReader(["right-index-finger"]) { fprintd, process in
      let log = EventLog()
      async let template = process.enroll(as: .leftThumb, observer: log.observe)
      try await log.wait(for: .fingerNeeded)
      for stage in 1...OpenFprintd.stages {
        fprintd.touch(.right)
        try await log.wait(for: .stage(completed: stage, of: OpenFprintd.stages))
      }
      #expect(try await template == Self.thumb.template)
      #expect(fprintd.fingers == ["right-index-finger", "left-thumb"])
    }
  }
}
