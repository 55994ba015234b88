import Primitives
import SecretModel
import Testing
import VaultDriver

@Suite("Keys of wallets in the service")
struct WalletKeyTests {
  @Test("the service derives no keys of wallets")
  func walletKey() async throws {
    let service = try RunningService()
    let connection = try service.connect()
    await #expect {
      _ = try await connection.walletKey(from: SecretBytes(text: "x"), salt: [UInt8](repeating: 1, count: 56))
    } throws: {
      if case .invalidRequest? = $0 as? VaultError { true } else { false }
    }
    await connection.close()
    try await service.end()
  }

  @Test("the service encrypts and decrypts no files or their keys, and makes no key pairs")
  func files() async throws {
    let service = try RunningService()
    let connection = try service.connect()
    let secret = SharedSecret(SecretBytes(text: "x"))
    let refused = VaultError.invalidRequest("the service encrypts and decrypts no files: a private whorld does")
    await #expect(throws: refused) { try await connection.encryptFile(from: 0, to: 0, for: .passphrase(secret)) }
    await #expect(throws: refused) { _ = try await connection.fileKey(of: 0, with: .passphrase(secret)) }
    await #expect(throws: refused) {
      try await connection.decryptFile(0, with: SecretBytes(count: EncryptedFile.keyCount), to: 0)
    }
    let recipient = try #require(AgePublicKey(bytes: [UInt8](repeating: 9, count: AgePublicKey.byteCount)))
    await #expect(throws: refused) {
      _ = try await connection.wrapFileKey(SecretBytes(count: EncryptedFile.keyCount), to: recipient)
    }
    await #expect(throws: refused) { _ = try await connection.makeKeyPair() }
    await connection.close()
    try await service.end()
  }
}
