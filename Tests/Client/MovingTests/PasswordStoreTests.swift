import Glibc
import Primitives
import ProgramDriver
import SecretModel
import Testing
import VaultDriver

@testable import Moving

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

  @Test("a folder that is none of pass is refused, and an empty store of pass is not")
  func otherFolder() async throws {
    try await PasswordFolder.with { folder in
      let other = "\(folder.folder)/downloads"
      try #require(mkdirPrivate(other))
      try writeFile("\(other)/letter.txt", [])
      #expect(
        throws: ImportError.malformed("\(other) is no folder of pass: no entry is in it, and no file .gpg-id")
      ) { try PasswordStore(in: other, environment: folder.environment) }
      try writeFile("\(other)/.gpg-id", Array("a@b\n".utf8))
      #expect(try PasswordStore(in: other, environment: folder.environment).entries.isEmpty)
    }
  }

  @Test("a folder of pass is read once, under its own name, and files that cannot be an entry are reported")
  func links() async throws {
    try await PasswordFolder.with { folder in
      for path in ["web/alice.gpg", "web/deep/b.gpg", "other.age", "mail.gpg", "web/with space.gpg", "web/read.me"] {
        try folder.write(path, "no file of GnuPG's")
      }
      try #require(mkdirPrivate("\(folder.folder)/outside") && mkdirPrivate("\(folder.store)/pipe.gpg"))
      try writeFile("\(folder.folder)/outside/c.gpg", [])
      try writeFile("\(folder.store)/line\nbreak.gpg", [])
      let links = [
        ("web", "linked"), ("../outside", "elsewhere"), (".", "circle"), ("../..", "web/deep/up"), ("nowhere", "gone"),
        ("nowhere.gpg", "gone.gpg"), ("mail.gpg", "letter.gpg"), ("../outside", "z-elsewhere"),
      ]
      for (target, link) in links { try #require(symlink(target, "\(folder.store)/\(link)") == 0) }
      try #require(rmdir("\(folder.store)/pipe.gpg") == 0 && mkfifo("\(folder.store)/pipe.gpg", 0o600) == 0)
      let store = try PasswordStore(in: folder.store, environment: folder.environment)
      #expect(
        store.entries.map(\.name.description) == [
          "letter", "mail", "web/alice", "web/deep/b", "web/with space", "elsewhere/c",
        ])
      #expect(store.unusable.map(\.called) == ["gone", "gone.gpg", "pipe.gpg", "line\nbreak", "other.age"])
      #expect(store.unusable.first?.reason == .source("is a link that leads nowhere"))
      #expect(
        store.unusable.contains(
          UnusableEntry(
            "other.age",
            .source(
              "is encrypted with age, and only files of GnuPG are read: store what 'age --decrypt' shows with 'whorl set'"
            ))))
      #expect(
        store.leftOut == [
          "the link 'circle', which leads back to the whole folder",
          "the link 'linked', as its folder is read as 'web'",
          "the link 'web/deep/up', which leads back to the whole folder",
          "the link 'z-elsewhere', as its folder is read as 'elsewhere'",
          "the file 'web/read.me', which is no entry of pass",
        ])
    }
  }

  @Test("a folder of pass whose links form a lattice is listed at once", .timeLimit(.minutes(1)))
  func lattice() async throws {
    try await withFolder { folder in
      // 2^31 ways lead from the first of these folders to the last.
      for level in 0..<32 {
        try #require(mkdirPrivate("\(folder)/\(level)"))
        try writeFile("\(folder)/\(level)/entry.gpg", [])
        for name in ["a", "b"] where level < 31 {
          try #require(symlink("../\(level + 1)", "\(folder)/\(level)/\(name)") == 0)
        }
      }
      let tree = try PasswordTree(in: folder)
      #expect(tree.files.count == 32 && tree.leftOut.count == 62 && tree.unusable.isEmpty)
    }
  }

  @Test("folders of pass that are nested too deep are reported, and a file in place of the folder is refused")
  func depth() async throws {
    try await withFolder { folder in
      var path = folder
      for _ in 0..<40 {
        path += "/f"
        try #require(mkdirPrivate(path))
      }
      let tree = try PasswordTree(in: folder)
      #expect(tree.unusable.map(\.reason) == [.source("is in more than 32 folders")])
      try writeFile("\(folder)/file", [])
      #expect(throws: ImportError.malformed("\(folder)/file is a file, and pass keeps a folder: name that")) {
        try PasswordTree(in: "\(folder)/file")
      }
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

  @Test("an entry of pass that is longer than a secret can be is reported with that limit")
  func tooLong() async throws {
    try await PasswordFolder.with { folder in
      try await folder.encrypt("long", String(repeating: "x", count: 2 << 20))
      let store = try PasswordStore(in: folder.store, environment: folder.environment)
      await #expect(throws: ImportError.unreadable("has more in it than the 1 MiB that a secret can have")) {
        try await store.items(of: store.entries[0])
      }
    }
  }

  @Test("an entry of pass that is encrypted to thousands of keys is decrypted", .timeLimit(.minutes(1)))
  func manyKeys() async throws {
    try await PasswordFolder.with { folder in
      try await folder.encrypt("many", "the password")
      let path = "\(folder.store)/many.gpg"
      let bytes = try readFile(path)
      // The first packet has the session key for one key; its second byte is its length.
      try #require(bytes[0] == 0x84)
      let packet = bytes[..<(2 + Int(bytes[1]))]
      try writeFile(path, Array(repeatElement(packet, count: 4_000).joined()) + bytes[packet.endIndex...])
      let store = try PasswordStore(in: folder.store, environment: folder.environment)
      #expect(try await store.items(of: store.entries[0]).first?.secret.text == "the password")
    }
  }
}
