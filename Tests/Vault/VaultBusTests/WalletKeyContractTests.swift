import Presence
import Primitives
import SecretModel
import Testing
import Vault
import VaultBus
import VaultDriver
import VaultStore

@Suite("Keys of wallets, in process and over a socket")
struct WalletKeyContractTests {
  @Test("a vault derives the key of a wallet like KWallet does, without a store", arguments: Way.allCases)
  func derives(_ way: Way) async throws {
    let connection = try way.connect(to: try await ScratchConnection())
    let salt = [UInt8](0..<56)
    let key = try await connection.walletKey(from: SecretBytes(text: "typed in KDE"), salt: salt)
    // Python's hashlib.pbkdf2_hmac('sha512', b'typed in KDE', bytes(range(56)), 50000, 56)
    let expected: [UInt8] = [
      0xD8, 0xEF, 0x3D, 0x5B, 0xDC, 0xEC, 0x0B, 0xD2, 0x13, 0xDC, 0x08, 0x92, 0x8C, 0xFE, 0x8D, 0x73,
      0xD8, 0x3A, 0x14, 0xDC, 0xF5, 0xDF, 0x66, 0x4A, 0xB1, 0xD1, 0x2B, 0x5C, 0x15, 0x20, 0x3A, 0xF4,
      0x95, 0x6E, 0x4A, 0xF3, 0x49, 0xED, 0x31, 0x34, 0x28, 0x4E, 0x24, 0x4E, 0xEB, 0xDA, 0x28, 0x66,
      0x25, 0xC2, 0x18, 0x39, 0x5B, 0x2A, 0x00, 0x10,
    ]
    #expect(key.withUnsafeBytes { Array($0) } == expected)
    for (password, salt) in [("", salt), ("x", []), ("x", salt + [0])] {
      await #expect {
        _ = try await connection.walletKey(from: SecretBytes(text: password), salt: salt)
      } throws: {
        if case .invalidRequest? = $0 as? VaultError { true } else { false }
      }
    }
    await connection.close()
  }
}
