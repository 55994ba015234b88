import Primitives
import ProgramDriver
import ReaderClient
import Testing

@Suite("An fprintd that ends")
struct EndingFprintdTests {
  @Test(
    "an fprintd that ends while it lists, opens or claims a reader is asked again",
    arguments: ["GetDevices", "GetAll", "Claim"])
  func asked(method: String) async throws {
    try await PrivateBus.with { bus in
      let fprintd = try await FprintdStandIn(on: bus, tellsFingers: true, leavesAt: method)
      defer { fprintd.close() }
      let process = ReaderProcess(
        program: try readerProgram(), selection: .fprintd(device: nil),
        fprintd: FprintdPlace(bus: bus.address, templates: "/nonexistent"))
      let reader = try #require(try await process.readers().first)
      #expect(try await process.open(reader.id) == reader)
      #expect(try await process.prepare() == reader)
      await process.shutdown()
    }
  }

  @Test("fprintd is not asked again for a reader that is closed while it is claimed", .timeLimit(.minutes(1)))
  func closed() async throws {
    try await PrivateBus.with { bus in
      let fprintd = try await FprintdStandIn(on: bus, tellsFingers: true, [.init(answersClaim: false)])
      defer { fprintd.close() }
      let process = ReaderProcess(
        program: try readerProgram(), selection: .fprintd(device: nil),
        fprintd: FprintdPlace(bus: bus.address, templates: "/nonexistent"))
      let reader = try #require(try await process.readers().first)
      _ = try await process.open(reader.id)
      let claiming = Task { await readerError { try await process.prepare() } }
      try #require(try await eventually { fprintd.calls(of: "Claim") == 1 })
      try? await process.close()
      #expect(await claiming.value != nil)
      try await Task.sleep(for: .milliseconds(500))
      #expect(fprintd.calls(of: "Claim") == 1)
      await process.shutdown()
    }
  }

  @Test("the error for a reader that fprintd has left open says to restart fprintd")
  func lost() async throws {
    let error = try await errorOfOpening(refusedWith: "The device has already been opened!")
    guard case .device(let words) = error else { return #expect(Bool(false), "\(String(describing: error))") }
    #expect(words.contains("restart fprintd"))
  }
}
