import Glibc
import Primitives
import ReaderClient
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("A store on recordings of real readers")
struct ReplayTests {
  /// The folder of a recording; nil if it or the replaying program is missing.
  private static func recording(_ name: String) -> String? {
    let repository = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let root = getenv("WHORL_RECORDINGS").map { String(cString: $0) } ?? "/\(repository)/../shared/recordings"
    guard access("/usr/bin/umockdev-run", X_OK) == 0 else {
      print("skipped: the recording of \(name) needs umockdev-run")
      return nil
    }
    guard access("\(root)/\(name)/device", R_OK) == 0 else {
      print("skipped: no recording of \(name) under WHORL_RECORDINGS or ../shared/recordings")
      return nil
    }
    return "\(root)/\(name)"
  }

  @Test("a replayed ELAN match-on-chip reader, opened once, enrols, opens an item by touch and unenrols")
  func elan() async throws {
    guard let recording = Self.recording("elanmoc") else { return }
    let store = try await ScratchStore()
    let reader = ReaderProcess(program: ReaderBuild.program, selection: .replay(directory: recording))
    let vault = try store.open(reader: reader, holdsReader: true)
    let person = Person(passcodes: [ScratchStore.passcode])
    let change = try await person.with(vault) { try await vault.enroll(.rightIndex, in: $0) }
    #expect(change.fingers.map(\.finger) == [.rightIndex])
    #expect(change.fingers.map(\.onChip) == [true])
    let stages = person.events.filter { if case .enrolmentStage = $0 { true } else { false } }
    #expect(!stages.isEmpty)
    #expect(try await vault.status().sets[0].nature == .replayed)
    try await vault.put("laptop/me", "behind a real driver", .currentSet)
    #expect(try await vault.get("laptop/me") == "behind a real driver")
    let leaving = Person(passcodes: [ScratchStore.passcode])
    let gone = try await leaving.with(vault) { try await vault.unenroll(.rightIndex, in: $0) }
    #expect(gone.fingers.isEmpty)
    #expect(gone.lost.map(\.description) == ["laptop/me"])
    let left = leaving.events.contains { if case .notice(.leftOnChip) = $0 { true } else { false } }
    #expect(!left, "the print is gone from the chip too")
    await vault.shutdown()
  }
}
