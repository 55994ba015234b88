import Glibc
import Primitives
import Testing
import VaultDriver
import VirtualFinger

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("Real fingerprints through the image reader")
struct RealPrintTests {
  private static let names = ["arch", "loop-right", "tented_arch", "whorl"]

  /// The folder with the pictures, if it exists.
  private static func folder() -> String? {
    let repository = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let folder = getenv("WHORL_PRINTS").map { String(cString: $0) } ?? "/\(repository)/../shared/prints"
    if names.allSatisfy({ access("\(folder)/\($0).png", R_OK) == 0 }) { return folder }
    print("skipped: no real fingerprints under WHORL_PRINTS or ../shared/prints")
    return nil
  }

  @Test("three real fingerprints are enrolled, each opens bound items, and a fourth matches none of them")
  func four() async throws {
    guard let folder = Self.folder() else { return }
    let image = try await ImageReaderStore()
    let pictures = try Self.names.map { try GrayImage(png: "\(folder)/\($0).png") }
    func press(_ picture: GrayImage) -> @Sendable () async throws -> Void {
      { [socket = image.socket] in try VirtualImageReader(socket: socket).press(picture) }
    }
    let vault = try image.store.open(reader: image.process)
    let fingers: [Finger] = [.rightThumb, .rightIndex, .rightMiddle]
    for (finger, picture) in zip(fingers, pictures) {
      // If the finger were taken for an enrolled one, this would throw fingerDuplicate.
      let person = Person(passcodes: [ScratchStore.passcode], touches: Array(repeating: press(picture), count: 6))
      _ = try await person.with(vault) { try await vault.enroll(finger, in: $0) }
    }
    try await vault.put("bound", "secret", .currentSet)
    for picture in pictures.prefix(3) {
      #expect(try await vault.get("bound", by: Person(touches: [press(picture)])) == "secret")
    }
    let stranger = Person(touches: [press(pictures[3]), press(pictures[0])])
    #expect(try await vault.get("bound", by: stranger) == "secret")
    let refused = stranger.events.contains { if case .noMatch(remaining: 2) = $0 { true } else { false } }
    #expect(refused, "the fourth finger, not enrolled, is nobody's")
  }
}
