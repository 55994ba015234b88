import ProgramDriver
import SDBus
import Testing

/// What a desktop asks of the window on the session's bus.
@Suite("The window on the session's bus")
struct WindowOnBusTests {
  private func texts(_ texts: String...) -> BusValue { .array(of: "s", texts.map { .string($0) }) }

  @Test("The message bus starts the window, and a second start and the menu show their pages in that one")
  func activated() async throws {
    try await TestStore.enrolled { store in
      try await WindowOnDisplay.onBus(store) { window in
        let (path, interface) = ("/org/whorl/Whorl", "org.freedesktop.Application")
        _ = try await window.call(path, interface, "Activate", [.dictionary([:])])
        try await window(.see("current-set"), .gone("Right index finger, enrolled"))
        #expect(try await window.startAgain("--page", "fingers") == 0)
        try await window(.see("Right index finger, enrolled"))
        // An entry of the menu.
        _ = try await window.call(
          path, interface, "ActivateAction", [.string("computers"), .array(of: "v", []), .dictionary([:])])
        try await window(.see("Begin With This Computer"))
        #expect(try await window.startAgain() == 0)
        // A window without a store of its own would ask for one.
        try await window(.gone("Set Up"))
      }
    }
  }

  @Test("The overview finds an item by its name alone, and the window shows it, where its secret needs the passcode")
  func searched() async throws {
    try await TestStore.enrolled { store in
      try await store.set("mail/alice", "a secret of mine", "--access", "presence")
      try await WindowOnDisplay.onBus(store) { window in
        // What GNOME Shell reads.
        let path = try #require(try WindowOnDisplay.searchProvider()["ObjectPath"])
        func ask(_ member: String, _ arguments: BusValue...) async throws -> BusValue? {
          try await window.call(path, "org.gnome.Shell.SearchProvider2", member, arguments).first
        }
        // The first call starts the program, which shows no window.
        let results = try #require(try await ask("GetInitialResultSet", texts("ALI")))
        let found = try #require(results.asArray?.first?.asString)
        #expect(results == texts(found))
        #expect(try await ask("GetSubsearchResultSet", results, texts("ali", "bob")) == texts())
        #expect(try await ask("GetInitialResultSet", texts("")) == texts())
        #expect(try await ask("GetInitialResultSet", texts("secret of mine")) == texts())
        #expect(
          try await ask("GetResultMetas", texts(found, "id:00000000000000000000000000000000", "x"))
            == .array(
              of: "a{sv}",
              [
                .dictionary([
                  "id": .string(found), "name": .string("mail/alice"), "gicon": .string("dialog-password-symbolic"),
                ])
              ]))
        #expect(try await window.texts().isEmpty)
        _ = try await ask("ActivateResult", .string(found), texts("ali"), .uint32(0))
        try await window(.see("Changed"), .press("Copy"), .see("Confirm"))
        #expect(try await !window.texts().contains("a secret of mine"))
        try await window(
          .type(TestStore.passcode, into: "Passcode"), .press("Confirm"),
          .see("Copied; the clipboard is emptied in 30 seconds"))
        _ = try await ask("LaunchSearch", texts("no", "such"), .uint32(0))
        try await window(.see("Nothing Found"))
      }
    }
  }
}
