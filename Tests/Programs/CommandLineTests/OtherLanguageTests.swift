import ProgramDriver
import Testing

/// The programs in Examples/DBus, which use the vault without a library of Whorl.
@Suite("Over D-Bus, in other languages")
struct OtherLanguageTests {
  private static let examples =
    "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/Examples/DBus"

  private func python(
    _ store: TestStore, _ name: String, _ touches: [Touches.Touch] = [], input: String? = nil
  ) async throws -> Invocation.Result {
    try await Invocation(
      program: "/usr/bin/python3",
      arguments: [
        "\(Self.examples)/get-secret.py", "--store", store.directory, "virtual-image:\(store.socket)", name,
      ],
      input: input.map { Array($0.utf8) }, environment: ["WHORLD": try Programs.path("whorld")]
    ).run(heard: Touches(socket: store.socket, touches).heard)
  }

  @Test("the Python D-Bus example gets a secret after a touch of the right finger, and none after others")
  func touch() async throws {
    try await TestStore.enrolled { store in
      let right = try await python(store, "presence", [.wrong, .right])
      #expect(right.status == 0, "\(right.diagnostics)")
      #expect(right.text == "presence")
      #expect(right.diagnostics.contains("No match, 2 tries left"))
      let wrong = try await python(store, "current-set", [.wrong, .wrong, .wrong])
      #expect(wrong.status == 1)
      #expect(wrong.output.isEmpty)
      #expect(wrong.failure.contains("AuthenticationFailed"), "\(wrong.diagnostics)")
    }
  }

  @Test("the Python D-Bus example sends the passcode in a sealed file, and handles an error by its name")
  func passcode() async throws {
    try await TestStore.with { store in
      try await store.set("locked", "gold", "--access", "passcode")
      let read = try await python(store, "locked", input: TestStore.passcode + "\n")
      #expect(read.status == 0, "\(read.diagnostics)")
      #expect(read.text == "gold")
      let none = try await python(store, "nothing")
      #expect(none.status == 1)
      #expect(none.failure.contains("ItemGone"), "\(none.diagnostics)")
    }
  }
}
