import Keys
import Primitives
import SecretModel
import Testing

@Suite("Damaged and hostile files in age's format")
struct DamagedFileTests {
  private static let passphrase = "correct horse"
  private let age: AgeProgram
  private let file: Transfer

  init() throws {
    age = try AgeProgram()
    file = Transfer(path: age.path("file"))
  }

  private func opened() throws -> [UInt8] { try file.decrypt(with: .passphrase(shared(Self.passphrase))) }

  private func isUnreadable(_ error: any Error) -> Bool {
    if case .fileUnreadable? = error as? VaultError { true } else { false }
  }

  private func made(_ count: Int = 70_000) throws -> [UInt8] {
    try file.encrypt(pattern(count), for: .passphrase(shared(Self.passphrase)))
    return try age.read("file")
  }

  @Test("an age file that was changed as text, or has another form, is reported as what it is")
  func takenForText() throws {
    let bytes = try made(10)
    let version = Array("age-encryption.org/v1".utf8)
    let armour = "-----BEGIN AGE ENCRYPTED FILE-----"
    let cases: [([UInt8], String)] = [
      (Array("\n".utf8) + bytes, "blanks or a mark were put in front of it, as when a file is taken for text"),
      ([0xEF, 0xBB, 0xBF] + bytes, "blanks or a mark were put in front of it, as when a file is taken for text"),
      (
        version + Array("\r\n".utf8) + bytes.dropFirst(version.count + 1),
        "its line breaks were changed, as when a file is taken for text"
      ),
      (Array("\(armour)\r\nYQ==\r\n".utf8), "it is in age's form for text, and only the binary form is read"),
      (Array("\r\n\(armour)\n".utf8), "it is in age's form for text, and only the binary form is read"),
      (Array("hello\n".utf8), "it is not in the format age-encryption.org/v1"),
    ]
    for (bytes, why) in cases {
      try age.write("file", bytes)
      #expect(throws: VaultError.fileUnreadable(why)) { try opened() }
    }
  }

  @Test("a wrong passphrase of an age file is distinguished from damage")
  func wrongPassphrase() throws {
    _ = try made()
    #expect(throws: VaultError.wrongPassphrase) { try file.decrypt(with: .passphrase(shared("correct house"))) }
  }

  @Test("a changed byte anywhere in the header of an age file is detected")
  func changedHeader() throws {
    let bytes = try made(10)
    let end = bytes.count - 10 - 16 - 16
    for place in 0..<end {
      var changed = bytes
      changed[place] ^= 1
      try age.write("file", changed)
      #expect(throws: VaultError.self, "byte \(place)") { try opened() }
    }
  }

  @Test("a changed MAC alone in the header of an age file is detected")
  func changedMAC() throws {
    var bytes = try made(10)
    let last = bytes.count - 10 - 16 - 16 - 1
    // The first character of the MAC. Replace it by another base64 character.
    let place = last - 43
    bytes[place] = bytes[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
    try age.write("file", bytes)
    #expect(throws: VaultError.fileUnreadable("its header was damaged")) { try opened() }
  }

  @Test("a changed byte in the nonce, in each chunk and in each tag of an age file is detected")
  func changedContents() throws {
    let bytes = try made()
    for distance in [1, 20, 4_000, 4_464 + 17, 50_000, 70_000, 70_000 + 32 + 1, 70_000 + 48] {
      var changed = bytes
      changed[bytes.count - distance] ^= 0x80
      try age.write("file", changed)
      #expect(performing: opened, throws: isUnreadable)
    }
  }

  @Test("a truncated age file is refused, also at the end of a chunk")
  func cutOff() throws {
    let bytes = try made(131_072)
    let chunk = 65_536 + 16
    let header = bytes.count - 2 * chunk - 16
    for count in [
      0, 5, 30, header - 1, header, header + 8, header + 16, header + 17, header + 16 + chunk, bytes.count - 1,
    ] {
      try age.write("file", Array(bytes.prefix(count)))
      #expect(performing: opened, throws: isUnreadable)
    }
    try age.write("file", bytes)
    #expect(try opened() == pattern(131_072))
  }

  @Test("bytes and chunks after the end of an age file are refused")
  func appended() throws {
    let bytes = try made(65_536)
    let tails: [[UInt8]] = [[0], Array(bytes.suffix(65_536 + 16)), bytes]
    for more in tails {
      try age.write("file", bytes + more)
      #expect(performing: opened, throws: isUnreadable)
    }
  }

  @Test("a passphrase cost in an age file that would exhaust the machine is refused before a key is derived")
  func hostileCost() throws {
    let text = String(decoding: try made(10).prefix(200), as: UTF8.self)
    let stanza = try #require(text.split(separator: "\n").first { $0.hasPrefix("-> scrypt") })
    for cost in ["21", "40", "63", "64"] {
      let hostile = text.replacing(" 10\n", with: " \(cost)\n", maxReplacements: 1)
      try #require(hostile != text, "\(stanza)")
      try age.write("file", Array(hostile.utf8))
      let error = #expect(throws: VaultError.self) { try opened() }
      guard case .fileUnreadable(let why)? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(why.contains("2^\(cost)"))
    }
    for cost in ["0", "-1", "010", "+10", "1e1", "99999999999999999999"] {
      try age.write("file", Array(text.replacing(" 10\n", with: " \(cost)\n", maxReplacements: 1).utf8))
      #expect(throws: VaultError.fileUnreadable("its header was damaged")) { try opened() }
    }
  }

  @Test("a passphrase beside another key in an age file is refused, as the format requires")
  func twoStanzas() throws {
    let text = String(decoding: try made(10).prefix(200), as: UTF8.self)
    try age.write("file", Array(text.replacing("\n---", with: "\n-> X25519 AAAA\nAAAA\n---").utf8))
    #expect(throws: VaultError.fileUnreadable("its header has a passphrase beside another key")) { try opened() }
  }

  @Test("a file that is not in age's format is reported as what it is")
  func otherFiles() throws {
    for (bytes, why) in [
      ([], "it is empty"), (Array("PK\u{3}\u{4}".utf8), "it is not in the format age-encryption.org/v1"),
      (Array("age-encryption.org/v2\n".utf8), "it is not in the format age-encryption.org/v1"),
      (
        Array("-----BEGIN AGE ENCRYPTED FILE-----\n".utf8),
        "it is in age's form for text, and only the binary form is read"
      ),
    ] as [([UInt8], String)] {
      try age.write("file", bytes)
      #expect(throws: VaultError.fileUnreadable(why)) { try opened() }
    }
  }

  @Test("an age file for another key or for a passphrase is distinguished from a damaged one")
  func otherKey() throws {
    let privateKey = try Random.key()
    let key = try #require(AgePublicKey(bytes: try X25519.publicKey(of: try Random.key())))
    try file.encrypt(pattern(10), for: .publicKey(key))
    #expect(throws: VaultError.fileUnreadable("it is encrypted to another public key")) {
      try file.decrypt(with: .privateKey(SharedSecret(privateKey.copy())))
    }
    #expect(throws: VaultError.fileUnreadable("it is encrypted to a public key, not under a passphrase")) {
      try opened()
    }
    _ = try made(10)
    #expect(throws: VaultError.fileUnreadable("it is encrypted under a passphrase, not to a public key")) {
      try file.decrypt(with: .privateKey(SharedSecret(privateKey.copy())))
    }
  }

  @Test("an age public key of small order, which has no private half, is refused")
  func smallOrder() throws {
    let key = try #require(AgePublicKey(bytes: [UInt8](repeating: 0, count: 32)))
    #expect(throws: VaultError.invalidRequest("no file can be encrypted to this public key")) {
      try file.encrypt(pattern(10), for: .publicKey(key))
    }
  }
}
