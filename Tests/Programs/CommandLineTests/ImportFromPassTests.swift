import ProgramDriver
import Testing

@Suite("import --from pass", .enabled(if: PasswordFolder.gpgIsInstalled, "gpg is not installed"))
struct ImportFromPassTests {
  private func bring(_ folder: PasswordFolder, into store: TestStore) async throws -> Invocation.Result {
    try await store.whorl(
      "import", "--from", "pass", folder.store, "--yes", "--access", "none", environment: folder.variables)
  }

  @Test("whorl import brings in entries of pass and gopass of each kind, and a second run reports none as missing")
  func kinds() async throws {
    try await TestStore.with { store in
      try await PasswordFolder.with { folder in
        let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n"
        let head = "Content-Disposition: attachment; filename=\"k.bin\"\nContent-Transfer-Encoding: Base64\n"
        try await folder.encrypt("web/gopass", "GOPASS-SECRET-1.0\nPassword: hunter2\nUser: alice\n\nbody text\n")
        try await folder.encrypt("files/k", "\n\(head)\nAAEC\n")
        try await folder.encrypt("files/key", key)
        try await folder.encrypt("single", "pw\nlogin: a\n")
        try await folder.encrypt("none", "\n\nlogin: bob\n")
        let result = try await bring(folder, into: store)
        #expect(result.status == 0, "\(result.diagnostics)")
        let expected = [
          "web/gopass": "hunter2", "web/gopass#notes": "User: alice\n\nbody text", "files/k": "\0\u{1}\u{2}",
          "files/key": key, "single": "pw", "single#notes": "login: a", "none#notes": "login: bob",
        ]
        for (name, secret) in expected { #expect(try await store.whorl("get", name).text == secret) }
        #expect(try await store.whorl("ls").text.split(separator: "\n").count == expected.count)
        let again = try await bring(folder, into: store)
        #expect(again.status == 0 && again.diagnostics.contains("Brought in 0 items."), "\(again.diagnostics)")
      }
    }
  }

  @Test("an entry of pass that is called like the notes of another is reported as not brought in")
  func takenName() async throws {
    try await TestStore.with { store in
      try await PasswordFolder.with { folder in
        try await folder.encrypt("web/a", "pw\nof the entry\n")
        try await folder.encrypt("web/a#notes", "another\n")
        let result = try await bring(folder, into: store)
        #expect(result.status == 79)
        #expect(
          result.diagnostics.contains(
            "  web/a#notes: it has the name of another secret that was brought in: rename its entry there\n"),
          "\(result.diagnostics)")
      }
    }
  }
}
