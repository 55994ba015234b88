import Primitives
import ProgramDriver
import ReaderClient
import Testing

@Suite("Stale readers in fprintd after a sleep", .serialized)
struct FprintdSleepTests {
  private static let print = enrolled(FprintdPrint(finger: .rightIndex, digest: nil).template)

  /// Runs the body with a reader process on a stand-in for fprintd with these readers, and the id of the first one.
  private func withReaders(
    _ devices: [FprintdStandIn.Device], _ body: (FprintdStandIn, ReaderProcess, String) async throws -> Void
  ) async throws {
    try await PrivateBus.with { bus in
      let fprintd = try await FprintdStandIn(on: bus, tellsFingers: true, devices)
      defer { fprintd.close() }
      let process = ReaderProcess(
        program: try readerProgram(), selection: .fprintd(device: nil),
        fprintd: FprintdPlace(bus: bus.address, templates: "/nonexistent"))
      let id = try #require(try await process.readers().first?.id)
      try await body(fprintd, process, id)
      await process.shutdown()
    }
  }

  @Test("a reader that came back after a sleep replaces the one that fprintd still has claimed")
  func cameBack() async throws {
    try await withReaders([.init(isBusy: true), .init()]) { fprintd, process, id in
      #expect(try await process.open(id).id == id)
      async let answer = process.verify(Self.print, nonce: nonce(1)) { _ in }
      try #require(try await eventually { fprintd.calls(of: "VerifyStart", reader: 1) == 1 })
      fprintd.endScan("verify-match", reader: 1)
      #expect(try await answer.outcome == .match(Self.print.id))
      #expect(fprintd.calls(of: "VerifyStart", reader: 0) == 0)
    }
  }

  @Test("a free reader of fprintd is used, even if others have its name")
  func firstIsFree() async throws {
    try await withReaders([.init(), .init()]) { fprintd, process, id in
      _ = try await process.open(id)
      _ = try await process.prepare()
      #expect(fprintd.calls(of: "Claim", reader: 0) == 1)
      #expect(fprintd.calls(of: "Claim", reader: 1) == 0)
    }
  }

  @Test("a busy reader of fprintd is not replaced by its namesake with other fingers; the error says how to free it")
  func otherFingers() async throws {
    try await withReaders([.init(isBusy: true), .init(fingers: ["left-thumb"])]) { fprintd, process, id in
      _ = try await process.open(id)
      guard case .busy(let holder) = await readerError({ try await process.prepare() }) else {
        return #expect(Bool(false), "its fingers are not those that the store knows")
      }
      #expect(holder?.contains("sudo systemctl restart fprintd") == true)
      #expect(fprintd.calls(of: "Claim", reader: 1) == 0)
    }
  }

  @Test("after a scan that fprintd does not stop, scanning continues over a new connection")
  func nextScan() async throws {
    try await withReaders([.init(answersStop: false)]) { fprintd, process, id in
      _ = try await process.open(id)
      for number in 1...2 {
        async let answer = process.verify(Self.print, nonce: nonce(1)) { _ in }
        // The second one starts when this process has given up the first, after ten seconds.
        var hasStarted = try await eventually { fprintd.calls(of: "VerifyStart") == number }
        if !hasStarted { hasStarted = try await eventually { fprintd.calls(of: "VerifyStart") == number } }
        try #require(hasStarted)
        fprintd.endScan("verify-no-match")
        #expect(try await answer.outcome == .noMatch)
      }
    }
  }

  @Test("a reader whose fingers fprintd does not list is not used, and does not block another")
  func untoldFingers() async throws {
    try await withReaders([.init(), .init(fingers: ["toe"])]) { fprintd, process, id in
      _ = try await process.open(id)
      _ = try await process.prepare()
      #expect(fprintd.calls(of: "Claim", reader: 0) == 1)
    }
  }

  @Test("the system's sleep does not wait for an fprintd that stops no scan, and the next opening reconnects")
  func stopsNoScan() async throws {
    try await withReaders([.init(answersStop: false)]) { fprintd, process, id in
      _ = try await process.open(id)
      async let error = readerError { try await process.verify(Self.print, nonce: nonce(1)) { _ in } }
      try #require(try await eventually { fprintd.calls(of: "VerifyStart") == 1 })
      try await process.suspend()
      #expect(await error == .suspended)
      try await process.resume()
      try await process.close()
      _ = try await process.open(id)
      async let answer = process.verify(Self.print, nonce: nonce(2)) { _ in }
      try #require(try await eventually { fprintd.calls(of: "VerifyStart") == 2 })
      fprintd.endScan("verify-no-match")
      #expect(try await answer.outcome == .noMatch)
    }
  }
}
