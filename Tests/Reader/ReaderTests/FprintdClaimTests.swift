import Primitives
import ProgramDriver
import ReaderClient
import Testing

@Suite("The claim of fprintd's reader", .serialized)
struct FprintdClaimTests {
  private static let print = enrolled(FprintdPrint(finger: .rightIndex, digest: nil).template)

  private func withReader(
    claimTakes: Duration = .zero, _ body: (OpenFprintd, ReaderProcess, String) async throws -> Void
  ) async throws {
    try await PrivateBus.with { bus in
      let fprintd = try await OpenFprintd(on: bus, fingers: ["right-index-finger"], claimTakes: claimTakes)
      defer { fprintd.close() }
      let process = ReaderProcess(
        program: try readerProgram(), selection: .fprintd(device: nil),
        fprintd: FprintdPlace(bus: bus.address, templates: "/nonexistent"))
      try await body(fprintd, process, try #require(try await process.readers().first?.id))
      await process.shutdown()
    }
  }

  private func scan(_ touch: OpenFprintd.Touch, _ fprintd: OpenFprintd, _ process: ReaderProcess) async throws
    -> ScanOutcome
  {
    async let answer = process.identify([Self.print], nonce: nonce(1)) { _ in }
    try #require(try await eventually { fprintd.isArmed })
    fprintd.touch(touch)
    return try await answer.outcome
  }

  @Test("fprintd's reader is claimed once for all touches until it is closed, and released then")
  func once() async throws {
    try await withReader { fprintd, process, id in
      let reader = try await process.open(id)
      #expect(try await process.prepare() == reader)
      #expect(try await scan(.unreadable, fprintd, process) == .retry(.general))
      // The end of the stopped scan, which comes late, is not the answer of this one.
      #expect(try await scan(.right, fprintd, process) == .match(Self.print.id))
      #expect(try await scan(.wrong, fprintd, process) == .noMatch)
      #expect(fprintd.calls(of: "Claim") == 1 && fprintd.calls(of: "Release") == 0)
      try await process.close()
      #expect(fprintd.calls(of: "Claim") == 1 && fprintd.calls(of: "Release") == 1)
    }
  }

  @Test("listing the fingers of fprintd's reader claims it not at all")
  func listing() async throws {
    try await withReader { fprintd, process, id in
      _ = try await process.open(id)
      #expect(try await process.storedPrints(knowing: [Self.print]).present == [Self.print.id])
      try await process.close()
      #expect(fprintd.calls(of: "Claim") == 0)
    }
  }

  @Test("a scan claims fprintd's reader if it was not prepared, and again after a sleep")
  func unprepared() async throws {
    try await withReader { fprintd, process, id in
      _ = try await process.open(id)
      #expect(try await scan(.right, fprintd, process) == .match(Self.print.id))
      try await process.suspend()
      #expect(fprintd.calls(of: "Release") == 1)
      try await process.resume()
      #expect(try await scan(.right, fprintd, process) == .match(Self.print.id))
      #expect(fprintd.calls(of: "Claim") == 2)
    }
  }

  @Test("a reader that another program keeps is asked for with growing pauses, and reported as busy after ten seconds")
  func pauses() async throws {
    try await withReader { fprintd, process, id in
      fprintd.setTaken(true)
      _ = try await process.open(id)
      let before = ContinuousClock.now
      guard case .busy = await readerError({ try await process.prepare() }) else {
        return #expect(Bool(false), "another program has it")
      }
      #expect(ContinuousClock.now - before >= .seconds(10))
      #expect(fprintd.calls(of: "Claim") <= 10, "\(fprintd.calls(of: "Claim")) calls")
      fprintd.setTaken(false)
      #expect(try await scan(.right, fprintd, process) == .match(Self.print.id))
    }
  }

  @Test("a slow claim that is cancelled leaves the reader to others")
  func cancelled() async throws {
    try await withReader(claimTakes: .seconds(2)) { fprintd, process, id in
      _ = try await process.open(id)
      let claiming = Task { try await process.prepare() }
      try #require(try await eventually { fprintd.calls(of: "Claim") == 1 })
      claiming.cancel()
      let before = ContinuousClock.now
      #expect(await readerError { _ = try await claiming.value } == .cancelled)
      #expect(ContinuousClock.now - before < .seconds(2), "nobody waits for the claim")
    }
  }
}
