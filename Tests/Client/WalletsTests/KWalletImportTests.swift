import Glibc
import Primitives
import ProgramDriver
import Testing

@testable import Settings

@Suite("Importing from a real KWallet", .withKWallet)
struct KWalletImportTests {
  @Test("whorl secret-service import copies KWallet's entries, and a second run copies none")
  func command() async throws {
    try await TestStore.with { store in
      try await KWalletDesktop.with { desktop in
        try await desktop.start(with: try desktop.key(of: KWalletDesktop.password).bytes)
        let places = ["DBUS_SESSION_BUS_ADDRESS": desktop.bus]
        let status = try await store.whorl("secret-service", "status", environment: places)
        #expect(status.text.contains("KWallet (/"), "\(status.text)")
        let first = try await store.whorl("secret-service", "import", environment: places)
        #expect(first.status == 0 && first.diagnostics.hasPrefix("Copied 1 item.\n"), "\(first.diagnostics)")
        // KWallet has no attributes for what KDE's own programs store.
        let list = try await store.whorl("secret-service", "list").text
        #expect(list.contains("collection\tlogin\tkdewallet\t"), "\(list)")
        let item = try #require(list.split(separator: "\n").first { $0.contains("\tfolder/site\t") })
        let id = try #require(item.split { $0 == " " || $0 == "\t" }.first { $0.hasPrefix("id:") })
        #expect(try await store.whorl("get", String(id)).text == "in the wallet")
        let again = try await store.whorl("secret-service", "import", environment: places)
        #expect(again.diagnostics.hasPrefix("Copied 0 items.\n"), "\(again.diagnostics)")
      }
    }
  }

  @Test(
    "what KWallet got before Whorl took over is brought in by itself with its key, or with the password of a person")
  func missed() async throws {
    try await TestStore.with { store in
      try await KWalletDesktop.with { desktop in
        try writeFile("\(desktop.folder)/copied", [])
        let state = "\(desktop.folder)/state"
        var places = desktop.variables
        places["XDG_STATE_HOME"] = state
        places["PATH"] = "/usr/bin:/bin"
        func whorl(_ words: String..., lines: [String] = []) async throws -> Invocation.Result {
          try await Invocation(
            arguments: store.arguments(words), descriptors: lines.map { $0 + "\n" }, environment: places
          ).run()
        }
        // As the copy of a moment when the wallet had nothing, and 'enable' after it.
        for folder in [state, "\(state)/whorl"] { try #require(mkdirPrivate(folder)) }
        let note = "\(state)/whorl/secret-service-copied"
        try writeFile(note, Array("1\nKWallet\n".utf8))
        let agent = try Invocation(
          program: "whorl-agent", arguments: ["--secret-service", "--store", store.directory], environment: places
        ).start()
        defer {
          agent.signal(SIGTERM)
          _ = agent.finish { _, _ in }
        }
        while try await !whorl("secret-service", "status").text.contains("missed   KWallet has changed") {
          try await Task.sleep(for: .milliseconds(50))
        }
        // Whorl does not have the key.
        let told = try await whorl("secret-service", "import", "--missed")
        #expect(
          told.diagnostics.contains("KWallet was changed after")
            && told.diagnostics.contains("whorl secret-service import"),
          "\(told.diagnostics)")
        let wrong = try await whorl("secret-service", "import", "--password-fd", "3", lines: ["wrong"])
        #expect(wrong.status == 77 && wrong.failure.contains("not the password of KWallet"), "\(wrong.diagnostics)")
        let seen = try await whorl(
          "secret-service", "import", "--dry-run", "--password-fd", "3", lines: [KWalletDesktop.password])
        #expect(seen.status == 0 && seen.diagnostics.contains(": folder/site\n"), "\(seen.diagnostics)")
        // With the key of the login it comes by itself.
        let enabled = try await whorl(
          "login", "enable", "kwallet", "--password-fd", "3", lines: [KWalletDesktop.password])
        #expect(enabled.status == 0, "\(enabled.diagnostics)")
        let brought = try await whorl("secret-service", "import", "--missed")
        #expect(
          brought.diagnostics == """
            Passwords were brought into Whorl. Programs had stored them in KWallet before Whorl took over: folder/site

            """, "\(brought.diagnostics)")
        #expect(access(note, F_OK) != 0)
        #expect(access(desktop.places.trial, F_OK) != 0)
      }
    }
  }
}
