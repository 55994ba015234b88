import Keys
import Primitives
import SecretModel
import Testing

@Suite("Files in age's format, with the program age")
struct AgeInteroperabilityTests {
  /// Lengths around one and two chunks.
  static let lengths = [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000]

  @Test("the program age reads what Whorl encrypted to a public key", arguments: lengths)
  func ageReadsPublicKey(length: Int) async throws {
    let age = try AgeProgram()
    let key = try #require(AgePublicKey(parsing: try await age.makeKey().public))
    try Transfer(path: age.path("file")).encrypt(pattern(length), for: .publicKey(key))
    #expect(try await age.decrypt("file") == pattern(length))
  }

  @Test("Whorl reads what the program age encrypted to a public key", arguments: lengths)
  func readsAgesPublicKey(length: Int) async throws {
    let age = try AgeProgram()
    let privateKey = try Random.key()
    let key = try #require(AgePublicKey(bytes: try X25519.publicKey(of: privateKey)))
    try age.write("plain", pattern(length))
    try await age.encrypt("plain", to: key.description, into: "file")
    #expect(
      try Transfer(path: age.path("file")).decrypt(with: .privateKey(SharedSecret(privateKey))) == pattern(length))
  }

  @Test("the program age reads what Whorl encrypted under a passphrase")
  func ageReadsPassphrase() async throws {
    let age = try AgeProgram()
    let file = Transfer(path: age.path("file"))
    try file.encrypt(pattern(70_000), for: .passphrase(shared("correct horse")), logN: 18)
    #expect(try await age.decrypt("file", under: "correct horse") == pattern(70_000))
  }

  @Test("Whorl reads what the program age encrypted under a passphrase")
  func readsAgesPassphrase() async throws {
    let age = try AgeProgram()
    try age.write("plain", pattern(70_000))
    try await age.encrypt("plain", under: "correct horse", into: "file")
    #expect(
      try Transfer(path: age.path("file")).decrypt(with: .passphrase(shared("correct horse"))) == pattern(70_000))
  }

  @Test("keys of the program age are read as age means them")
  func keys() async throws {
    let age = try AgeProgram()
    let pair = try await age.makeKey()
    let privateKey = try #require(Bech32.bytes(in: pair.private.lowercased(), prefix: "age-secret-key-"))
    let publicKey = AgePublicKey(bytes: try X25519.publicKey(of: secret(privateKey)))
    #expect(publicKey == AgePublicKey(parsing: pair.public))
    #expect(publicKey?.description == pair.public)
  }
}
