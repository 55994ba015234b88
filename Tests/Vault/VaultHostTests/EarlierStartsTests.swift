import Glibc
import Primitives
import Testing
import VaultDriver
import VaultHost

@Suite("The wait after crashes of the service")
struct EarlierStartsTests {
  private static let second: UInt64 = 1_000_000_000

  private func inFolder(_ body: (String) throws -> Void) throws {
    let folder = try RunningService.makeFolder()
    defer { try? ScratchStore.run("/bin/rm", ["-rf", folder]) }
    try body(folder)
  }

  @Test("the service waits longer with each start after a crash, and never more than ten seconds")
  func growing() throws {
    try inFolder { folder in
      let starts = EarlierStarts(in: folder)
      let waits = (0..<40).map { starts.note(at: UInt64(1_000 + $0) * Self.second) }
      #expect(waits.prefix(4).allSatisfy { $0 == .zero })
      #expect(waits[4...8].elementsEqual([.seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(10)]))
      #expect(waits[9...].allSatisfy { $0 == .seconds(10) })
      // As slowly as the longest wait allows, it stays the longest.
      #expect((0..<40).map { starts.note(at: UInt64(2_000 + 11 * $0) * Self.second) }.last == .seconds(10))
    }
  }

  @Test("the service does not wait where its last starts are long ago, or where it was told to end")
  func forgotten() throws {
    try inFolder { folder in
      let starts = EarlierStarts(in: folder)
      for number in 0..<20 { _ = starts.note(at: UInt64(1_000 + number) * Self.second) }
      #expect(starts.note(at: 1_700 * Self.second) == .zero)
      for number in 0..<20 { _ = starts.note(at: UInt64(1_701 + number) * Self.second) }
      starts.forget()
      #expect(starts.note(at: 1_722 * Self.second) == .zero)
    }
  }

  @Test("a damaged, oversized, missing or foreign file of earlier starts costs no wait and no start")
  func damaged() throws {
    try inFolder { folder in
      let path = folder + "/starts"
      for text in [
        "", "\n\n", "-1\n18446744073709551616\nx\n", "18446744073709551615\n9223372036854775807\n",
        String(repeating: "1000000000\n", count: 10_000), String(repeating: "9", count: 1_000),
      ] {
        try RunningService.write(text, to: path)
        #expect(EarlierStarts(in: folder).note(at: Self.second) == .zero, "\(text.prefix(40))")
      }
      // Just after the machine has started.
      #expect(EarlierStarts(in: folder).note(at: 0) == .zero)
      try RunningService.write("kept", to: folder + "/other")
      unlink(path)
      symlink(folder + "/other", path)
      #expect(EarlierStarts(in: folder).note(at: Self.second) == .zero)
      #expect(try String(decoding: SmallFile.read(folder + "/other", limit: 9), as: UTF8.self) == "kept")
      #expect(EarlierStarts(in: "/nonexistent").note(at: Self.second) == .zero)
    }
  }
}
