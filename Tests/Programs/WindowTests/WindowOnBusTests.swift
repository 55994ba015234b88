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
        let path = try #require(try WindowOnDisplay.search("search-provider.ini")["ObjectPath"])
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

  @Test("KRunner finds an item by its name alone, as the overview does, and the window shows the one that is run")
  func run() async throws {
    try await TestStore.enrolled { store in
      try await store.set("mail/alice", "a secret of mine", "--access", "presence")
      try await WindowOnDisplay.onBus(store) { window in
        // What KRunner reads.
        let file = try WindowOnDisplay.search("krunner.desktop")
        #expect(file["X-Plasma-API"] == "DBus" && file["X-Plasma-DBusRunner-Service"] == "org.whorl.Whorl")
        let path = try #require(file["X-Plasma-DBusRunner-Path"])
        func ask(_ member: String, _ arguments: String...) async throws -> BusValue? {
          try await window.call(path, "org.kde.krunner1", member, arguments.map { .string($0) }).first
        }
        func overview(_ term: String) async throws -> BusValue? {
          try await window.call(
            path, "org.gnome.Shell.SearchProvider2", "GetInitialResultSet", [texts(term)]
          ).first
        }
        let none = BusValue.array(of: "(sssida{sv})", [])
        // The first call starts the program, which shows no window.
        #expect(try await ask("Actions") == .array(of: "(sss)", []))
        let found = try #require(try await overview("ALI")?.asArray?.first?.asString)
        let matches = BusValue.array(
          of: "(sssida{sv})",
          [
            .structure([
              .string(found), .string("mail/alice"), .string("dialog-password-symbolic"), .int32(30), .double(0.5),
              .dictionary([:]),
            ])
          ])
        #expect(try await ask("Match", "ALI") == matches)
        #expect(try await ask("Match", " ice  mail ") == matches)
        let long = String(repeating: "0", count: 60_000)
        for query in ["", " ", "a", " a ", "secret of mine", "ali bob", "%s%n", "*", long] {
          #expect(try await ask("Match", query) == none, "\(query.prefix(20))")
        }
        // After a search.
        _ = try await ask("Teardown")
        #expect(try await ask("Match", "alice") == matches)
        // Ids that are none.
        for id in ["", "mail/alice", "../../\(found)", "\(found) ", "id:", long] {
          #expect(try await ask("Run", id, "") == nil)
        }
        #expect(try await window.texts().isEmpty)
        // An item that there is not, and an action that there is not: the window shows its list.
        #expect(try await ask("Run", "id:00000000000000000000000000000000", "../x") == nil)
        try await window(.see("mail/alice"), .unusable("Copy"))
        #expect(try await ask("Run", found, "") == nil)
        try await window(.see("Changed"), .press("Copy"), .see("Confirm"))
        #expect(try await !window.texts().contains("a secret of mine"))
        await #expect(throws: BusError.self) { _ = try await ask("Config") }
      }
    }
  }
}
