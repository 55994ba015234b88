import CBOR
import Keys
import Primitives
import Synchronization
import Testing

@testable import Passkeys

@Suite("Tokens")
struct TokenTests {
  /// Values of PIN/UV auth protocol one as Yubico's tests publish them: the shared secret, a token with its encryption,
  /// and an encrypted PIN with its MAC.
  @Test("PIN/UV auth protocol one encrypts, decrypts and authenticates as published")
  func protocolOne() throws {
    let shared = try secret("c42a039d548100dfba521e487debcbbb8b66bb7496f8b1862a7a395ed83e1a1c")
    let keys = PINKeys(version: .one, mac: SharedSecret(shared.copy()), encryption: SharedSecret(shared))
    let token = try secret("aff12c6dcfbf9df52f7a09211e8865cd")
    #expect(Hexadecimal.text(of: try keys.encrypt(token)) == "7a9f98e31b77be90f9c64d12e9635040")
    let encrypted = try #require(Hexadecimal.bytes(in: "7a9f98e31b77be90f9c64d12e9635040"))
    #expect(try keys.decrypt(encrypted).withUnsafeBytes { Array($0) } == token.withUnsafeBytes { Array($0) })
    let newPIN =
      "0222fc42c6dd76a274a7057858b9b29d98e8a722ec2dc6668476168c5320473c"
      + "ec9907b4cd76ce7943c96ba5683943211d84471e64d9c51e54763488cd66526a"
    let message = try #require(Hexadecimal.bytes(in: newPIN))
    let mac = try #require(Hexadecimal.bytes(in: "7b40c084ccc5794194189ab57836475f"))
    let isAuthentic = PINProtocol.one.verifies(mac, key: keys.mac.bytes, message)
    #expect(isAuthentic)
  }

  @Test("a PIN/UV auth protocol refuses a changed message or MAC", arguments: PINProtocol.allCases)
  func authenticity(version: PINProtocol) throws {
    let keys = try version.keys(of: secret("c42a039d548100dfba521e487debcbbb8b66bb7496f8b1862a7a395ed83e1a1c"))
    let mac = Array(MAC.hmacSHA256(key: keys.mac.bytes, [1, 2, 3]).prefix(version == .one ? 16 : 32))
    func verifies(_ mac: [UInt8], _ message: [UInt8]) -> Bool {
      version.verifies(mac, key: keys.mac.bytes, message)
    }
    #expect(verifies(mac, [1, 2, 3]))
    #expect(!verifies(mac, [1, 2, 4]))
    #expect(!verifies([], [1, 2, 3]))
    #expect(!verifies(Array(mac.dropLast()), [1, 2, 3]))
  }

  @Test("a PIN/UV auth token expires unused after 30 seconds, and its touch is discarded")
  func expiry() async throws {
    let vault = TestVault()
    let clock = Mutex<UInt64>(0)
    let server = CommandServer(vault: vault, now: { clock.withLock { $0 } })
    let pair = try PrivateKey.generate(.ec(.p256))
    let key = try #require(COSEKey(agreement: pair.publicKey.external)).value
    let request: CBORValue = [1: 2, 2: 6, 3: key, 9: 4]
    #expect(await server.answer([6] + request.encoded, on: 1).first == 0)
    #expect(server.tokenDeadline == 30_000)
    #expect(await vault.open == 1)
    clock.withLock { $0 = 29_999 }
    _ = await server.answer([4], on: 1)
    #expect(await vault.open == 1)
    clock.withLock { $0 = 30_000 }
    await server.endExpiredToken()
    #expect(server.tokenDeadline == nil)
    #expect(await vault.open == 0)
  }

  @Test("a new PIN/UV auth token ends the earlier one")
  func replaced() async throws {
    try await TestPlatform.with { platform in
      let first = try await platform.token(4, nil)
      let second = try await platform.token(4, nil, version: 1)
      #expect(await platform.vault.open == 1)
      #expect(try await platform.manage(1, nil, first).status == 0x33)
      #expect(try await platform.manage(1, nil, second).status == 0)
    }
  }

  private func secret(_ hex: String) throws -> SecretBytes {
    let bytes = try #require(Hexadecimal.bytes(in: hex))
    return SecretBytes(copying: bytes.span)
  }
}
