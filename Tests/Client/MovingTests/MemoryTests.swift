import Glibc
import MemorySearch
import Primitives
import ProgramDriver
import SecretModel
import Testing
import VaultDriver

@testable import Moving

@Suite("Secrets in memory after an import", .serialized)
struct MemoryTests {
  /// A random text without other copies in memory.
  private func randomSecret() -> SecretBytes {
    var secret = SecretBytes(count: 40)
    secret.withUnsafeMutableBytes { bytes in
      for index in bytes.indices { bytes[index] = UInt8.random(in: UInt8(ascii: "a")...UInt8(ascii: "z")) }
    }
    return secret
  }

  /// Many copies of the secret, since later allocations overwrite some of the parser's freed memory.
  private static let copies = 100

  private func write(
    _ head: String, _ before: String, _ secret: borrowing SecretBytes, _ after: String, _ tail: String, to path: String
  ) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    try #require(file >= 0)
    defer { close(file) }
    try SecretBytes(text: head).write(to: file)
    for number in 0..<Self.copies {
      try SecretBytes(text: before.replacing("@", with: "\(number)")).write(to: file)
      try secret.write(to: file)
      try SecretBytes(text: after).write(to: file)
    }
    try SecretBytes(text: tail).write(to: file)
  }

  private func names(_ read: ReadEntries) async throws -> [String] {
    var names: [String] = []
    for entry in read.entries { names += try await read.items(of: entry).map(\.name.description) }
    return names
  }

  @Test("the secrets of a CSV file are wiped from memory after the import")
  func csv() async throws {
    try await withFolder { folder in
      let secret = randomSecret()
      try write("title,password\n", "A@,", secret, "\n", "", to: "\(folder)/file")
      let names = try await names(EntryFile.csv("\(folder)/file"))
      #expect(names.count == Self.copies)
      let found = MemoryScan(for: secret).occurrences()
      #expect(found == 1)
    }
  }

  @Test(
    "secrets of a passkey file, its keys and those of other entries, are wiped from memory after the file was read",
    arguments: [true, false])
  func passkeys(ofKeys: Bool) async throws {
    try await withFolder { folder in
      let secret = randomSecret()
      let passkey =
        #"{"type":"passkey","credentialId":"AQID","rpId":"example.com","username":"","userDisplayName":"","#
        + #""userHandle":"BAU","key":""#
      let head =
        #"{"version":{"major":1,"minor":0},"accounts":[{"items":[{"credentials":["# + passkey
        + #"MC4CAQAwBQYDK2VwBCIEIG36EZkFL7Wb7TMyhIC7rmUqOiAeND6UPvaEMCZWbRqp"}"#
      // The same form of a key of Ed25519, whose own bytes may have any value.
      let (before, after) =
        ofKeys ? (",\(passkey)MC4CAQAwBQYDK2VwBCIEIA", #"AA"}"#) : (#",{"type":"note","content":"@"#, #""}"#)
      try write(head, before, secret, after, "]}]}]}", to: "\(folder)/file")
      let file = open("\(folder)/file", O_RDONLY | O_CLOEXEC)
      defer { close(file) }
      let read = try PasskeyFile(SharedSecret(SecretBytes.read(from: file, limit: PasskeyFile.limit)))
      #expect(read.count == (ofKeys ? 1 + Self.copies : 1) && read.others == (ofKeys ? 0 : Self.copies))
      let found = MemoryScan(for: secret).occurrences()
      #expect(found == 1)
    }
  }

  @Test("the secrets of an XML export are wiped from memory after the import, including the parser's copies")
  func xml() async throws {
    try await withFolder { folder in
      let secret = randomSecret()
      try write(
        "<KeePassFile><Root><Group>",
        "<Entry><String><Key>Title</Key><Value>A@</Value></String><String><Key>Password</Key><Value>", secret,
        "</Value></String></Entry>", "</Group></Root></KeePassFile>", to: "\(folder)/file")
      let names = try await names(EntryFile.keepassxc("\(folder)/file"))
      #expect(names.count == Self.copies)
      let found = MemoryScan(for: secret).occurrences()
      #expect(found == 1)
    }
  }
}
