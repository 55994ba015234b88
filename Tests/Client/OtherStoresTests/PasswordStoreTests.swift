import Glibc
import Moving
import ProgramDriver
import SecretModel
import SecureMemory
import Testing
import VaultDriver

@testable import OtherStores

@Suite("Folders of pass, the password store", .enabled(if: PasswordFolder.gpgIsInstalled, "gpg is not installed"))
struct PasswordStoreTests {
  @Test("entries of pass are listed by path without decrypting any, and other and hidden files are left out")
  func listed() async throws {
    try await PasswordFolder.with { folder in
      for path in ["web/alice.gpg", "mail.gpg", ".git/x.gpg", ".gpg-id", "web/readme.txt", "web/deep/er/b.gpg"] {
        try folder.write(path, "no file of GnuPG's")
      }
      let store = try PasswordStore(in: folder.store, environment: folder.environment)
      #expect(store.entries.map(\.name.description) == ["mail", "web/alice", "web/deep/er/b"])
      #expect(store.unusable.isEmpty)
    }
  }

  @Test("links in a folder of pass are followed, but not in a circle, and files that cannot be an entry are reported")
  func links() async throws {
    try await PasswordFolder.with { folder in
      for path in ["web/alice.gpg", "web/deep/b.gpg", "other.age", "mail.gpg", "web/with space.gpg"] {
        try folder.write(path, "no file of GnuPG's")
      }
      try #require(mkdirPrivate("\(folder.folder)/outside") && mkdirPrivate("\(folder.store)/pipe.gpg"))
      try writeFile("\(folder.folder)/outside/c.gpg", [])
      try writeFile("\(folder.store)/line\nbreak.gpg", [])
      let links = [
        ("web", "linked"), ("../outside", "elsewhere"), (".", "circle"), ("../..", "web/deep/up"), ("nowhere", "gone"),
        ("nowhere.gpg", "gone.gpg"), ("mail.gpg", "letter.gpg"),
      ]
      for (target, link) in links { try #require(symlink(target, "\(folder.store)/\(link)") == 0) }
      try #require(rmdir("\(folder.store)/pipe.gpg") == 0 && mkfifo("\(folder.store)/pipe.gpg", 0o600) == 0)
      let store = try PasswordStore(in: folder.store, environment: folder.environment)
      #expect(
        store.entries.map(\.name.description) == [
          "elsewhere/c", "letter", "linked/alice", "linked/deep/b", "linked/with space", "mail", "web/alice",
          "web/deep/b", "web/with space",
        ])
      #expect(store.unusable.map(\.called) == ["gone", "gone.gpg", "line\nbreak", "other.age", "pipe.gpg"])
      #expect(store.unusable.first?.reason == .source("is a link that leads nowhere"))
      #expect(
        store.unusable.contains(
          UnusableEntry("other.age", .source("is encrypted with age, and only files of GnuPG are read"))))
      #expect(
        store.leftOut == [
          "the link 'circle', which leads back to a folder that it is in",
          "the link 'linked/deep/up', which leads back to a folder that it is in",
          "the link 'web/deep/up', which leads back to a folder that it is in",
        ])
    }
  }

  @Test("the first line of a pass entry is the password, and the lines after it are notes")
  func decrypted() async throws {
    try await PasswordFolder.with { folder in
      try await folder.encrypt("web/alice", "the password\nuser: alice\n\nurl: https://x\n")
      try await folder.encrypt("single", "only")
      let store = try PasswordStore(in: folder.store, environment: folder.environment)
      var items: [String: String] = [:]
      for entry in store.entries {
        for item in try await store.items(of: entry) { items[item.name.description] = item.secret.text }
      }
      #expect(
        items == [
          "web/alice": "the password", "web/alice#notes": "user: alice\n\nurl: https://x", "single": "only",
        ])
    }
  }

  @Test("a decryption error of gpg is reported for its pass entry alone")
  func undecryptable() async throws {
    try await PasswordFolder.with { folder in
      try folder.write("a-junk.gpg", "no file of GnuPG's")
      try await folder.encrypt("b-empty", "\n")
      // Too long for gpg to keep its whole output back until it has read the end.
      let long = (0..<200_000).map { _ in Character(Unicode.Scalar(UInt8.random(in: 0x61...0x7A))) }
      try await folder.encrypt("c-changed", String(long))
      var bytes = try readFile("\(folder.store)/c-changed.gpg")
      bytes[bytes.count - 30] ^= 1
      try writeFile("\(folder.store)/c-changed.gpg", bytes)
      try await folder.encrypt("d-whole", "whole")
      let store = try PasswordStore(in: folder.store, environment: folder.environment)
      try #require(store.entries.count == 4)
      await #expect(throws: ImportError.unreadable("is not a complete GnuPG file")) {
        try await store.items(of: store.entries[0])
      }
      await #expect(throws: ImportError.unreadable("has nothing in it")) {
        try await store.items(of: store.entries[1])
      }
      await #expect(throws: ImportError.self) { try await store.items(of: store.entries[2]) }
      let whole = try #require(try await store.items(of: store.entries[3]).first)
      #expect(whole.secret.text == "whole")
    }
  }

  @Test("closing gpg's prompt ends an import from pass, and an entry for another key is reported")
  func refused() async throws {
    try await PasswordFolder.with(passphrase: "of the key") { folder in
      try await folder.encrypt("mail", "the password")
      let prompt = """
        #!/bin/sh
        echo OK
        while read -r line; do
          case $line in GETPIN*) echo "ERR 83886179 Operation cancelled" ;; *) echo OK ;; esac
        done

        """
      try writeFile("\(folder.folder)/prompt", Array(prompt.utf8))
      chmod("\(folder.folder)/prompt", 0o700)
      let setting = "pinentry-program \(folder.folder)/prompt\n"
      try writeFile("\(folder.folder)/gnupg/gpg-agent.conf", Array(setting.utf8))
      try await folder.endAgent()
      let store = try PasswordStore(in: folder.store, environment: folder.environment)
      await #expect(throws: ImportError.declined("gpg's prompt")) { try await store.items(of: store.entries[0]) }
      try #require(mkdirPrivate("\(folder.folder)/other"))
      let other = ["PATH=/usr/bin:/bin", "GNUPGHOME=\(folder.folder)/other"]
      let stranger = try PasswordStore(in: folder.store, environment: other)
      await #expect(throws: ImportError.unreadable("is encrypted for other keys than yours")) {
        try await stranger.items(of: stranger.entries[0])
      }
    }
  }

  @Test("a gpg that another user could have replaced is not run")
  func planted() async throws {
    try await PasswordFolder.with { folder in
      try #require(mkdirPrivate("\(folder.folder)/bin"))
      try writeFile("\(folder.folder)/bin/gpg", Array("#!/bin/sh\ntouch \(folder.folder)/ran\n".utf8))
      chmod("\(folder.folder)/bin/gpg", 0o777)
      #expect(throws: ImportError.self) {
        try PasswordStore(in: folder.store, environment: ["PATH=\(folder.folder)/bin"])
      }
      #expect(access("\(folder.folder)/ran", F_OK) != 0)
      #expect(throws: ImportError.unavailable("gpg is not installed")) {
        try PasswordStore(in: folder.store, environment: ["PATH=/nonexistent"])
      }
      #expect(throws: ImportError.missing("/nonexistent")) {
        try PasswordStore(in: "/nonexistent", environment: folder.environment)
      }
    }
  }

  @Test("a pass entry is split into its first line and the rest, without blank lines at the end")
  func parts() {
    func parts(_ text: String) -> [String] { PasswordStore.parts(SecretBytes(text: text)).map { $0.value.bytes.text } }
    #expect(parts("a\r\nb\n") == ["a", "b"])
    #expect(parts("a") == ["a"])
    #expect(parts("a\n\n \n") == ["a"])
    #expect(parts("\n\nb\nc\n\n") == ["", "b\nc"])
    #expect(parts("") == [""])
  }
}

/// A key and a folder of pass for one test.
struct PasswordFolder {
  static let gpgIsInstalled: Bool = {
    let there = access("/usr/bin/gpg", X_OK) == 0
    if !there { print("gpg is not installed: the tests of pass are skipped") }
    return there
  }()

  let folder: String
  var store: String { "\(folder)/store" }
  var environment: [String] { ["PATH=/usr/bin:/bin", "HOME=\(folder)", "GNUPGHOME=\(folder)/gnupg"] }

  /// - Parameter passphrase: the key's passphrase; if it is empty, gpg does not ask for one.
  static func with(passphrase: String = "", _ body: (PasswordFolder) async throws -> Void) async throws {
    try await withFolder { folder in
      let made = PasswordFolder(folder: folder)
      try #require(mkdirPrivate("\(folder)/gnupg") && mkdirPrivate(made.store))
      try await made.gpg(
        "--pinentry-mode", "loopback", "--passphrase", passphrase, "--quick-gen-key", "alice@example.org",
        "future-default", "default", "never")
      let result: Result<Void, any Error>
      do { result = .success(try await body(made)) } catch { result = .failure(error) }
      try await made.endAgent()
      try result.get()
    }
  }

  func write(_ path: String, _ text: String) throws {
    var folder = store
    for part in path.split(separator: "/").dropLast() {
      folder += "/\(part)"
      _ = mkdirPrivate(folder)
    }
    try writeFile("\(store)/\(path)", Array(text.utf8))
  }

  func encrypt(_ name: String, _ text: String) async throws {
    try write("\(name).gpg", "")
    try await gpg("--yes", "--encrypt", "-r", "alice@example.org", "-o", "\(store)/\(name).gpg", input: text)
  }

  private func gpg(_ words: String..., input: String? = nil) async throws {
    try await Invocation(
      program: "/usr/bin/gpg", arguments: ["--batch", "--quiet"] + words, input: input.map { Array($0.utf8) },
      environment: variables
    ).run().mustSucceed()
  }

  /// Ends the agent, which forgets the passphrase and reads its configuration again.
  func endAgent() async throws {
    try await Invocation(
      program: "/usr/bin/gpgconf", arguments: ["--kill", "gpg-agent"], environment: variables
    ).run().mustSucceed()
  }

  private var variables: [String: String] { ["HOME": folder, "GNUPGHOME": "\(folder)/gnupg"] }
}
