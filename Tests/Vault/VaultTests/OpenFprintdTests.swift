import Presence
import Primitives
import ProgramDriver
import ReaderClient
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore

/// open-fprintd always looks for any of the user's fingers, tells nothing of a finger on the sensor, and deletes all
/// fingers or none.
@Suite("A vault whose reader is open-fprintd's", .serialized, .timeLimit(.minutes(2)))
struct OpenFprintdTests {
  private static let passcode = ScratchStore.passcode

  /// A vault with the item "any", which any finger opens.
  private func with(
    _ fingers: [String], claimTakes: Duration = .zero, _ body: (OpenFprintd, Vault) async throws -> Void
  ) async throws {
    try await PrivateBus.with { bus in
      let fprintd = try await OpenFprintd(on: bus, fingers: fingers, claimTakes: claimTakes)
      defer { fprintd.close() }
      let process = ReaderProcess(
        program: ReaderBuild.program, selection: .fprintd(device: nil),
        fprintd: FprintdPlace(bus: bus.address, templates: "/nonexistent"))
      let store = try await ScratchStore()
      let vault = try store.open(reader: InterposedReader.physical(process))
      if !fingers.isEmpty { try await vault.put("any", "secret", .anyFinger) }
      try await body(fprintd, vault)
      await vault.shutdown()
    }
  }

  private func touching(_ fprintd: OpenFprintd, _ touches: OpenFprintd.Touch...) -> Person {
    Person(touches: touches.map { touch in { try await fprintd.touchWhenArmed(touch) } })
  }

  private func failures(_ vault: Vault) async throws -> Int { try await vault.status().failures }

  @Test(
    "the right finger opens an item and clears the failures, and only a touch that does not match counts as one",
    arguments: [["right-index-finger"], ["right-index-finger", "left-thumb"]])
  func touches(fingers: [String]) async throws {
    try await with(fingers) { (fprintd, vault) async throws in
      for _ in 1...6 { #expect(try await vault.get("any", by: touching(fprintd, .right)) == "secret") }
      #expect(try await vault.get("any", by: touching(fprintd, .unreadable, .right)) == "secret")
      #expect(try await failures(vault) == 0)
      await #expect(throws: VaultError.authenticationFailed) {
        try await vault.get("any", by: touching(fprintd, .wrong, .wrong, .wrong))
      }
      #expect(try await failures(vault) == 3)
      #expect(try await vault.get("any", by: touching(fprintd, .wrong, .right)) == "secret")
      #expect(try await failures(vault) == 0)
    }
  }

  /// Ends a request by its timeout, after a deed.
  private func timeOut(_ vault: Vault, _ touch: @escaping @Sendable () async throws -> Void) async {
    let options = ContextOptions(timeout: .milliseconds(300))
    _ = try? await Person(touches: [touch]).with(vault, options) { handle in
      let items = try await vault.items(.everything)
      return try await vault.secrets(of: items.map(\.id), reason: nil, in: handle)
    }
  }

  @Test("a request that nobody touches costs no try, and a wrong touch whose answer comes after a cancel costs one")
  func untouched() async throws {
    try await with(["right-index-finger"]) { (fprintd, vault) async throws in
      for _ in 1...2 { await timeOut(vault) {} }
      #expect(try await failures(vault) == 0)
      await timeOut(vault) {
        Task {
          try await Task.sleep(for: .milliseconds(600))
          fprintd.touch(.wrong)
        }
      }
      #expect(try await failures(vault) == 1)
      // A match that comes after the end of the request opens nothing.
      let options = ContextOptions(timeout: .milliseconds(300))
      let late = Person(touches: [
        {
          Task {
            try await Task.sleep(for: .milliseconds(600))
            fprintd.touch(.right)
          }
        }
      ])
      await #expect(throws: VaultError.timedOut) {
        try await late.with(vault, options) { handle in
          let items = try await vault.items(.everything)
          _ = try await vault.secrets(of: items.map(\.id), reason: nil, in: handle)
        }
      }
    }
  }

  private func enroll(
    _ finger: Finger, _ fprintd: OpenFprintd, _ vault: Vault, confirming confirmation: [OpenFprintd.Touch]
  ) async throws -> Person {
    let stages: @Sendable () async throws -> Void = {
      for _ in 1...OpenFprintd.stages { try await fprintd.touchWhenArmed(.right) }
    }
    let touches = confirmation.map { touch in { @Sendable () async throws in try await fprintd.touchWhenArmed(touch) } }
    let person = Person(passcodes: [Self.passcode], touches: [stages] + touches)
    _ = try? await person.with(vault) { try await vault.enroll(finger, in: $0) }
    return person
  }

  @Test("a second finger is enrolled, although no touch can confirm it alone")
  func second() async throws {
    try await with(["right-index-finger"]) { (fprintd, vault) async throws in
      _ = try await enroll(.leftThumb, fprintd, vault, confirming: [.right])
      #expect(try await vault.status().sets.flatMap(\.fingers).map(\.finger) == [.rightIndex, .leftThumb])
      #expect(try await vault.get("any", by: touching(fprintd, .right)) == "secret")
    }
  }

  @Test("the first finger's failed enrolment leaves nothing behind, and a second one's says what stays")
  func failed() async throws {
    try await with([]) { (fprintd, vault) async throws in
      _ = try await enroll(.rightIndex, fprintd, vault, confirming: [.wrong, .wrong, .wrong])
      #expect(fprintd.fingers.isEmpty)
      #expect(fprintd.calls(of: "DeleteEnrolledFingers2") == 1)
    }
    try await with(["right-index-finger"]) { (fprintd, vault) async throws in
      let person = try await enroll(.leftThumb, fprintd, vault, confirming: [.wrong, .wrong, .wrong])
      #expect(fprintd.fingers == ["right-index-finger", "left-thumb"])
      let told = person.events.compactMap { if case .notice(let notice) = $0 { notice } else { nil } }
      #expect(
        told.contains { if case .leftOnChip(.leftThumb, .deletesOnlyAllFingers) = $0 { true } else { false } },
        "\(told)")
      // What the notice advises.
      let owner = Person(passcodes: [Self.passcode])
      _ = try await owner.with(vault) { try await vault.unenroll(nil, in: $0) }
      #expect(fprintd.fingers.isEmpty)
      #expect(try await vault.status().sets.allSatisfy(\.fingers.isEmpty))
    }
  }

  @Test("a request claims a slow reader once, and its timeout begins when the finger is asked for")
  func slowClaim() async throws {
    try await with(["right-index-finger"], claimTakes: .seconds(3)) { (fprintd, vault) async throws in
      let before = fprintd.calls(of: "Claim")
      let options = ContextOptions(timeout: .seconds(2))
      let person = touching(fprintd, .right)
      let read = try await person.with(vault, options) { handle in
        let items = try await vault.items(.everything)
        return try await vault.secrets(of: items.map(\.id), reason: nil, in: handle)[0].text
      }
      #expect(read == "secret")
      await vault.shutdown()
      #expect(fprintd.calls(of: "Claim") - before == 1)
      #expect(fprintd.calls(of: "Release") == fprintd.calls(of: "Claim"))
    }
  }

  @Test("looking at the fingers of fprintd claims no reader, and tells what is there now")
  func looks() async throws {
    try await with(["right-index-finger", "left-thumb"]) { (fprintd, vault) async throws in
      let before = fprintd.calls(of: "Claim")
      func fingers() async throws -> [Finger] {
        try await VaultSession(of: vault).presentSets().flatMap(\.fingers).map(\.finger)
      }
      let enrolled = try await fingers()
      #expect(enrolled == [.rightIndex, .leftThumb])
      fprintd.delete("left-thumb")
      #expect(try await fingers() == [.rightIndex])
      fprintd.delete("right-index-finger")
      #expect(try await fingers() == [])
      // Looking has changed nothing in the store.
      #expect(try await vault.status().sets.map(\.fingers.count) == [2])
      #expect(fprintd.calls(of: "Claim") == before)
    }
  }
}
