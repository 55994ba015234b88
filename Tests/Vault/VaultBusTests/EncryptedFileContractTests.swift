import Glibc
import Presence
import Primitives
import SecretModel
import Testing
import Vault
import VaultBus
import VaultDriver
import VaultStore

@Suite("Encrypted files, in process and over a socket")
struct EncryptedFileContractTests {
  @Test("a file is encrypted and decrypted with a passphrase, without a store", arguments: Way.allCases)
  func roundTrip(_ way: Way) async throws {
    let connection = try way.connect(to: try await ScratchConnection())
    let file = try scratchFile()
    defer { close(file) }
    let (mine, theirs) = try socketPair()
    try SecretBytes(text: "what is to be kept").write(to: mine)
    shutdown(mine, Int32(SHUT_WR))
    try await connection.encryptFile(from: theirs, to: file, for: .passphrase(SharedSecret(SecretBytes(text: "long"))))
    close(mine)
    close(theirs)

    await #expect(throws: VaultError.wrongPassphrase) {
      _ = try await connection.fileKey(of: file, with: .passphrase(SharedSecret(SecretBytes(text: "wrong"))))
    }
    let key = try await connection.fileKey(of: file, with: .passphrase(SharedSecret(SecretBytes(text: "long"))))
    let (reading, writing) = try socketPair()
    try await connection.decryptFile(file, with: key, to: writing)
    close(writing)
    #expect(try SecretBytes.read(from: reading, limit: 100).text == "what is to be kept")
    close(reading)
    await connection.close()
  }

  @Test("a file encrypted for a new key pair is opened with the private half only", arguments: Way.allCases)
  func keyPair(_ way: Way) async throws {
    let connection = try way.connect(to: try await ScratchConnection())
    let pair = try await connection.makeKeyPair()
    let other = try await connection.makeKeyPair()
    #expect(pair.publicKey != other.publicKey)
    let file = try scratchFile()
    let (mine, theirs) = try socketPair()
    defer { for descriptor in [file, mine, theirs] { close(descriptor) } }
    shutdown(mine, Int32(SHUT_WR))
    try await connection.encryptFile(from: theirs, to: file, for: .publicKey(pair.publicKey))
    _ = try await connection.fileKey(of: file, with: .privateKey(pair.privateKey))
    await #expect(throws: VaultError.fileUnreadable("it is encrypted to another public key")) {
      _ = try await connection.fileKey(of: file, with: .privateKey(other.privateKey))
    }
    await connection.close()
  }

  @Test("the encryption of files uses sockets for plain text and files for encrypted data", arguments: Way.allCases)
  func kinds(_ way: Way) async throws {
    let connection = try way.connect(to: try await ScratchConnection())
    let file = try scratchFile()
    let (mine, theirs) = try socketPair()
    defer { for descriptor in [file, mine, theirs] { close(descriptor) } }
    let passphrase = SharedSecret(SecretBytes(text: "long"))
    for (source, target) in [(file, file), (theirs, theirs)] {
      await #expect(
        performing: {
          try await connection.encryptFile(from: source, to: target, for: .passphrase(passphrase))
        }, throws: isInvalidRequest)
    }
    await #expect(
      performing: {
        _ = try await connection.fileKey(of: theirs, with: .passphrase(passphrase))
      }, throws: isInvalidRequest)
    await #expect(
      performing: {
        try await connection.decryptFile(file, with: SecretBytes(count: EncryptedFile.keyCount), to: file)
      }, throws: isInvalidRequest)
    await connection.close()
  }

  private func isInvalidRequest(_ error: any Error) -> Bool {
    if case .invalidRequest? = error as? VaultError { true } else { false }
  }

  /// A new file without a name, open for reading and writing.
  private func scratchFile() throws -> Int32 {
    var path = Array("/tmp/whorl-file-XXXXXX".utf8CString)
    let file = mkstemp(&path)
    try #require(file >= 0)
    unlink(path)
    return file
  }
}
