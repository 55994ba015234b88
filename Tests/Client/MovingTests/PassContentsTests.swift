import Primitives
import SecretModel
import Testing
import VaultDriver

@testable import Moving

@Suite("Contents of an entry of pass or gopass")
struct PassContentsTests {
  /// The secrets by their labels; the password's is "".
  private func read(_ bytes: [UInt8]) throws -> [String: [UInt8]] {
    var secrets: [String: [UInt8]] = [:]
    for secret in try PassContents(SecretBytes(copying: bytes.span)).secrets where !secret.value.bytes.isEmpty {
      #expect(secrets[secret.label ?? ""] == nil)
      secrets[secret.label ?? ""] = secret.value.bytes.withUnsafeBytes { Array($0) }
    }
    return secrets
  }

  private func read(_ text: String) throws -> [String: String] {
    try read(Array(text.utf8)).mapValues { String(decoding: $0, as: UTF8.self) }
  }

  @Test("a pass entry is split into its first line and the rest, without blank lines at the end")
  func lines() throws {
    #expect(try read("a\r\nb\n") == ["": "a", "notes": "b"])
    #expect(try read("a") == ["": "a"])
    #expect(try read("a \n\n \n") == ["": "a "])
    #expect(try read("\n\nb\nc\n\n") == ["notes": "b\nc"])
    #expect(try read("") == [:])
    #expect(try read("\u{FEFF}pä\nlogin: x") == ["": "pä", "notes": "login: x"])
    #expect(try read("[a b\nlogin: x") == ["": "[a b", "notes": "login: x"])
    #expect(try read("{a b\nlogin: x") == ["": "{a b", "notes": "login: x"])
    #expect(try read("pw\n---\nuser: y\n") == ["": "pw", "notes": "---\nuser: y"])
  }

  @Test("the address of one-time passwords in a pass entry has its own label, whatever line it is on")
  func oneTimePasswords() throws {
    let address = "otpauth://totp/x?secret=ABC"
    #expect(try read("\(address)\n") == ["totp": address])
    #expect(try read("pw\n\(address)\r\nlogin: a\n") == ["": "pw", "totp": address, "notes": "login: a"])
    #expect(try read("pw\nlogin: a\n\(address)") == ["": "pw", "totp": address, "notes": "login: a"])
  }

  @Test(
    "a key or a document in a pass entry is one secret, byte for byte",
    arguments: [
      "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\nBBBB\n-----END OPENSSH PRIVATE KEY-----\n",
      "-----BEGIN PRIVATE KEY-----\r\nAAAA\r\n-----END PRIVATE KEY-----",
      "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n",
      "# created: 2026-01-01\n# public key: age1x\nAGE-SECRET-KEY-1X\n",
      "untrusted comment: minisign encrypted secret key\nAAAA\n", "{\n  \"type\": \"service_account\"\n}\n",
      "[Interface]\nPrivateKey = x\n\n[Peer]\nPublicKey = y\n", "<?xml version=\"1.0\"?>\n<a/>\n", "#!/bin/sh\ntrue\n",
      "BEGIN:VCARD\nVERSION:3.0\nEND:VCARD\n",
      "Bag Attributes\n    friendlyName: x\n-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
      "# of the web server\n-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    ])
  func documents(text: String) throws {
    #expect(try read(text) == ["": text])
  }

  @Test("a key in the notes of a pass entry keeps its last line break")
  func keyInNotes() throws {
    let key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
    #expect(try read("pw\n\(key)") == ["": "pw", "notes": key])
    #expect(try read("\n\(key)") == ["notes": key])
    #expect(try read("#1 pw\n\(key)") == ["": "#1 pw", "notes": key])
  }

  @Test("a file in a pass entry that is no text is one secret, byte for byte")
  func files() throws {
    let picture: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D, 0x20, 0x0A]
    // Short ones may have no control character.
    let (document, photo, certificate): ([UInt8], [UInt8], [UInt8]) = (
      Array("%PDF-1.4\n%".utf8) + [0xE2, 0xE3, 0x0A, 0x41], [0xFF, 0xD8, 0xFF, 0xE0, 0x41, 0x0A],
      [0x30, 0x82, 0x41, 0xC3, 0x0A]
    )
    // All of its bytes are characters of ASCII.
    let short: [UInt8] = [0x01, 0x41, 0x7F, 0x0A, 0x04, 0x20, 0x0A, 0x0A, 0x42]
    for bytes in [picture, [0x0A, 0, 0x0A], [0xFF, 0x01, 0x0A, 0x80], document, photo, certificate, short] {
      #expect(try read(bytes) == ["": bytes])
    }
    // The arrow keys write this one into a password.
    #expect(try read("p\u{1B}[Aw\nlogin: x") == ["": "p\u{1B}[Aw", "notes": "login: x"])
  }

  @Test("a text in a pass entry that is not in UTF-8 is reported")
  func otherEncodings() throws {
    for bytes: [UInt8] in [[0x70, 0xE4, 0x73, 0x0A], [0xFF, 0xFE, 0x70, 0]] {
      #expect {
        try read(bytes)
      } throws: { error in
        if case .unreadable(let why)? = error as? ImportError { why.contains("UTF-") } else { false }
      }
    }
  }

  @Test("an entry in gopass's old form is its password, and its other fields and its text are notes")
  func message() throws {
    #expect(
      try read("GOPASS-SECRET-1.0\nPassword: hunter2\nUser: alice\n\nbody text\n") == [
        "": "hunter2", "notes": "User: alice\n\nbody text",
      ])
    #expect(
      try read("GOPASS-SECRET-1.0\r\nUser: alice\r\npassword:a:b\r\n\r\n") == ["": "a:b", "notes": "User: alice"])
    #expect(try read("GOPASS-SECRET-1.0\nUser: alice\n") == ["notes": "User: alice"])
    #expect(try read("GOPASS-SECRET-1.0\nPassword: x\n\n\nbody") == ["": "x", "notes": "body"])
    #expect(
      throws: ImportError.unreadable("is in the old form of gopass, and its line 3 is no field: 'gopass edit' shows it")
    ) {
      try read("GOPASS-SECRET-1.0\nPassword: x\n y\n")
    }
  }

  @Test("a file that gopass keeps in base64 is its bytes")
  func encodedFile() throws {
    let head = "Content-Disposition: attachment; filename=\"k.bin\"\nContent-Transfer-Encoding: Base64\n"
    #expect(try read(Array("\n\(head)\nAAEC\n".utf8)) == ["": [0, 1, 2]])
    #expect(
      try read(Array("pw\n\(head)user: a\n\nAAE\nC".utf8)) == [
        "": [0, 1, 2], "password": Array("pw".utf8), "notes": Array("user: a".utf8),
      ])
    #expect(throws: ImportError.self) { try read("\n\(head)\n???\n") }
    #expect(
      try read("pw\nContent-Transfer-Encoding: 8bit\n\nx") == [
        "": "pw", "notes": "Content-Transfer-Encoding: 8bit\n\nx",
      ])
  }
}
