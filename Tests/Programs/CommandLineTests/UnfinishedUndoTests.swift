import Glibc
import ProgramDriver
import Testing

@Suite("whorl setup --undo that could not copy all passwords back")
struct UnfinishedUndoTests {
  private static let mail = SecretServiceStandIn.Item(
    label: "Mail", attributes: ["name": "Mail"], secret: Array("only in Whorl".utf8))

  /// A desktop whose passwords are in Whorl, and one more item.
  private struct Desktop {
    let store: TestStore
    let bus: PrivateBus
    let home: [String: String]

    var record: String { "\(store.folder)/.local/state/whorl/unfinished-undo" }

    /// Runs the command with another program that is the Secret Service.
    ///
    /// - Returns: the secrets of that program afterwards.
    func undo(
      _ changes: SecretServiceStandIn.Changes, prompt: SecretServiceStandIn.Prompt = .none,
      _ items: [SecretServiceStandIn.Item] = [], _ talk: (PseudoTerminal) async throws -> Void
    ) async throws -> [SecretServiceStandIn.Item] {
      let other = try await SecretServiceStandIn(
        on: bus, prompt: prompt, aliases: ["default": "/collection"], changes: changes, items)
      defer { other.close() }
      let terminal = try PseudoTerminal(store.arguments(["setup", "--undo"]), environment: home)
      try await talk(terminal)
      return other.items.compactMap(\.self)
    }
  }

  private func with(_ body: (Desktop) async throws -> Void) async throws {
    try await TestStore.with { store in
      try await PrivateBus.with { bus in
        let services = try UserServicesStandIn(in: store.folder)
        let desktop = Desktop(
          store: store, bus: bus, home: services.environment(["DBUS_SESSION_BUS_ADDRESS": bus.address]))
        let other = try await SecretServiceStandIn(on: bus, aliases: ["default": "/collection"], [Self.mail])
        try await store.whorl("secret-service", "import", environment: desktop.home).mustSucceed()
        try await store.whorl("secret-service", "enable", environment: desktop.home).mustSucceed()
        other.close()
        try await body(desktop)
      }
    }
  }

  @Test("a second setup --undo goes on with the copy that failed, and no run of it deletes the only password")
  func twice() async throws {
    try await with { desktop in
      // A keyring that nobody can open: its question is closed.
      for _ in 1...2 {
        let there = try await desktop.undo(.made, prompt: .dismissed) { terminal in
          try await terminal.waits(for: "Go on? [y/N]")
          #expect(terminal.shown.contains("undo: whorl secret-service disable"), "\(terminal.shown)")
          terminal.type("y\n")
          #expect(try await terminal.status() == 69, "\(terminal.shown)")
          #expect(terminal.shown.contains("  Mail: it belongs to a collection that is still locked"))
          #expect(terminal.shown.contains("The store stays"), "\(terminal.shown)")
        }
        #expect(there.isEmpty)
        let noted = String(decoding: try readFile(desktop.record), as: UTF8.self)
        #expect(noted == "secrets\t\(desktop.store.directory)\n")
      }
      // With the file of an unfinished undo lost, the only copy is still named.
      let noted = try readFile(desktop.record)
      unlink(desktop.record)
      _ = try await desktop.undo(.refused) { terminal in
        try await terminal.waits(for: "Enter keeps it:")
        #expect(terminal.shown.contains("nowhere else that Whorl knows of:\r\n  Mail\r\n"), "\(terminal.shown)")
        terminal.type("y\n")
        #expect(try await terminal.status() == 0, "\(terminal.shown)")
      }
      #expect(access(desktop.store.directory, F_OK) == 0)
      try writeFile(desktop.record, noted)

      let there = try await desktop.undo(.made) { terminal in
        try await terminal.waits(for: "Go on? [y/N]")
        #expect(terminal.shown.contains("not all passwords were copied back yet"), "\(terminal.shown)")
        terminal.type("y\n")
        try await terminal.waits(for: "Everything in it was seen elsewhere. [y/N]")
        terminal.type("y\n")
        #expect(try await terminal.status() == 0, "\(terminal.shown)")
      }
      #expect(there.map(\.secret) == [Array("only in Whorl".utf8)])
      #expect(access(desktop.store.directory, F_OK) != 0 && access(desktop.record, F_OK) != 0)
    }
  }

  @Test("setup --undo removes nothing if what was left to do cannot be read")
  func unreadable() async throws {
    try await with { desktop in
      for folder in [".local", ".local/state", ".local/state/whorl"] {
        _ = mkdirPrivate("\(desktop.store.folder)/\(folder)")
      }
      try writeFile(desktop.record, Array("secrets of another version\n".utf8))
      let refused = try await desktop.store.whorl("setup", "--undo", "--yes", environment: desktop.home)
      #expect(refused.status == 74 && refused.failure.contains(desktop.record), "\(refused.diagnostics)")
      #expect(
        try await desktop.store.whorl("secret-service", "status", environment: desktop.home).text.contains(
          "enabled  yes"))
    }
  }
}
