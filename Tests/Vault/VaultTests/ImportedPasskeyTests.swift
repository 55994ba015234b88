import Glibc
import Keys
import Presence
import Primitives
import SecretModel
import Testing
import Vault
import VaultDriver
import VaultStore

@testable import VaultItems

extension PasskeyTests {
  @Suite("Imported passkeys")
  struct Brought {
    private let image: ImageReaderStore
    private let vault: Vault
    private let session: VaultSession
    private let hash = Digest.sha256(Array("client data".utf8))

    init() async throws {
      image = try await ImageReaderStore()
      vault = try image.store.open(reader: image.process)
      _ = try await image.enroll(.rightIndex, in: vault)
      session = try VaultSession(of: vault, for: Caller(user: vault.owner))
    }

    private func attributes(
      _ site: String, id: [UInt8], _ algorithm: KeyAlgorithm = .ec(.p256), handle: [UInt8] = [1],
      hasSecret: Bool = false
    ) -> [AttributeName: AttributeValue] {
      NewPasskey(
        relyingParty: site, user: Passkey.User(handle: handle, name: "alice", displayName: ""), algorithm: algorithm,
        isDiscoverable: true, hasSecret: hasSecret, clientDataHash: []
      ).attributes(credentialID: id, publicKey: [])
    }

    private func moving(_ key: borrowing PrivateKey, secretKey: SharedSecret? = nil) throws -> KeySource {
      let secretKey = try secretKey ?? SharedSecret(try Random.key())
      return .passkey(SharedSecret(MovingPasskey(secretKey: secretKey, key: SharedSecret(try key.pkcs8())).bytes))
    }

    private func bring(
      _ attributes: [AttributeName: AttributeValue], _ source: KeySource,
      _ access: AccessControl.Constraint = .anyFinger
    ) async throws -> Item {
      try await session.addKey(NewItem(.passkey, attributes, access: AccessControl(access)), from: source)
    }

    @Test("imported passkeys sign with their keys and keep their IDs", arguments: [KeyAlgorithm.ec(.p256), .ed25519])
    func signatures(_ algorithm: KeyAlgorithm) async throws {
      let key = try PrivateKey.generate(algorithm)
      let item = try await bring(
        attributes("example.com", id: [9, 8, 7], algorithm, handle: [5, 6]), try moving(key))
      let passkey = try #require(Passkey(item))
      #expect(passkey.credentialID == [9, 8, 7] && passkey.user.handle == [5, 6])
      #expect(passkey.publicKey == key.publicKey.external)
      let assertion = PasskeyAssertion(clientDataHash: hash)
      let signed = try await Person(touches: [image.press(.rightIndex)]).with(vault) {
        try await vault.assertPasskey(item.id, assertion, in: $0)
      }
      #expect(Array(signed.authenticatorData[33..<37]) == [0, 0, 0, 0])
      let scheme = algorithm == .ed25519 ? SignatureScheme.ed25519 : .ecdsa(.sha256, .message, .x962)
      #expect(try key.publicKey.verify(signed.signature, of: signed.authenticatorData + hash, scheme))
    }

    @Test("imported passkeys are restored from a backup with their keys for signatures and for hmac-secret")
    func backup() async throws {
      let key = try PrivateKey.generate(.ec(.p256))
      let secretKey = SharedSecret(try Random.key())
      let item = try await bring(
        attributes("example.com", id: [1], hasSecret: true), try moving(key, secretKey: secretKey))
      var template = Array("/tmp/whorl-backup-XXXXXX".utf8CString)
      let file = mkstemp(&template)
      defer { close(file) }
      unlink(template)
      try await session.backUp(to: file)
      #expect(try await session.delete(.ids([item.id])) == 1)
      #expect(try await session.passkeyReadiness().capacity == 1_000)
      let contents = try await session.contents(ofBackup: file)
      _ = try await Person(passcodes: [ScratchStore.passcode]).with(session) {
        try await session.restore(file, accepting: contents.id, Asking(in: $0))
      }
      #expect(try await session.passkeyReadiness().capacity == 999)
      let back = try #require(try await vault.items(ItemSearch(.passkey)).first.flatMap { Passkey($0) })
      #expect(back.credentialID == [1] && back.hasSecret)
      let (platform, salt) = (SharedSecret(try Random.key()), [UInt8](repeating: 1, count: 32))
      let request = PasskeySecretRequest(
        encryption: .protocolOne, key: platform, salts: SharedSecret(SecretBytes(copying: salt.span)))
      let assertion = PasskeyAssertion(clientDataHash: hash, secretRequest: request)
      let signed = try await Person(touches: [image.press(.rightIndex)]).with(vault) {
        try await vault.assertPasskey(back.id, assertion, in: $0)
      }
      let output = SecretBytes(copying: MAC.hmacSHA256(key: secretKey.bytes, salt).span)
      let encrypted = try AES256CBC.encrypt(
        output, key: platform.bytes, iv: [UInt8](repeating: 0, count: AES256CBC.blockCount))
      #expect(signed.authenticatorData.suffix(32) == encrypted[...])
      #expect(
        try key.publicKey.verify(
          signed.signature, of: signed.authenticatorData + hash, .ecdsa(.sha256, .message, .x962)))
    }

    @Test("an imported passkey with a key of another algorithm or with invalid attributes is refused")
    func refused() async throws {
      let ec = try PrivateKey.generate(.ec(.p256))
      let ed = try PrivateKey.generate(.ed25519)
      let other = try PrivateKey.generate(.ec(.p384))
      let rsa = KeyAlgorithm.rsa(bits: 2048)
      var longBlob = attributes("a.example", id: [1])
      longBlob[.credentialBlob] = .bytes([UInt8](repeating: 1, count: 33))
      guard case .passkey(let moved) = try moving(ec) else { return }
      var otherVersion = moved.bytes.copy()
      otherVersion.withUnsafeMutableBytes { $0[0] += 1 }
      let wrong: [([AttributeName: AttributeValue], KeySource)] = [
        (attributes("a.example", id: [1]), try moving(ed)),
        (attributes("a.example", id: [1], .ed25519), try moving(ec)),
        (attributes("a.example", id: [1]), try moving(other)),
        (attributes("a.example", id: [1], .ec(.p384)), try moving(other)),
        (attributes("a.example", id: [1], rsa), try moving(ec)),
        (attributes("", id: [1]), try moving(ec)), (attributes("a\nb", id: [1]), try moving(ec)),
        (attributes("a.example", id: []), try moving(ec)),
        (attributes("a.example", id: Array(repeating: 1, count: 256)), try moving(ec)),
        (attributes("a.example", id: [1], handle: []), try moving(ec)),
        (attributes("a.example", id: [1], handle: Array(repeating: 1, count: 65)), try moving(ec)),
        (attributes(String(repeating: "a", count: 254), id: [1]), try moving(ec)),
        (longBlob, try moving(ec)), (attributes("a.example", id: [1]), .passkey(SharedSecret(otherVersion))),
        (attributes("a.example", id: [1]), .passkey(SharedSecret(try ec.external()))),
        (attributes("a.example", id: [1]), .passkey(SharedSecret(SecretBytes(count: 0)))),
      ]
      for (attributes, source) in wrong {
        await #expect {
          _ = try await bring(attributes, source)
        } throws: {
          if case .invalidRequest = $0 as? VaultError { true } else { false }
        }
      }
      for itemClass in [ItemClass.key, .genericPassword] {
        let item = NewItem(itemClass, attributes("a.example", id: [1]), access: AccessControl(.anyFinger))
        await #expect(throws: VaultError.self) { try await session.addKey(item, from: try moving(ec)) }
      }
      for itemClass in [ItemClass.passkey, .genericPassword] {
        let item = NewItem(itemClass, attributes("a.example", id: [1]), access: AccessControl(.anyFinger))
        await #expect(throws: VaultError.self) { try await session.addKey(item, from: .generated(.ec(.p256))) }
      }
      for access in [AccessControl.none, AccessControl(.passcode)] {
        await #expect {
          _ = try await session.addKey(
            NewItem(.passkey, attributes("a.example", id: [1]), access: access), from: try moving(ec))
        } throws: {
          if case .invalidRequest = $0 as? VaultError { true } else { false }
        }
      }
      #expect(try await session.passkeyReadiness().capacity == 1_000)
      #expect(try await vault.items(ItemSearch()).isEmpty)
    }

    @Test("a stored passkey is not read from bytes of another length, version or algorithm")
    func stored() throws {
      let secret = try PasskeySecret.make(.ec(.p256))
      let bytes = try secret.bytes()
      #expect(throws: Never.self) { _ = try PasskeySecret.stored(bytes, .ec(.p256)) }
      var otherVersion = bytes.copy()
      otherVersion.withUnsafeMutableBytes { $0[0] += 1 }
      #expect(throws: KeysError.self) { _ = try PasskeySecret.stored(otherVersion, .ec(.p256)) }
      for count in [0, 1, 32, 33] {
        var short = bytes.copy()
        short.resize(to: count)
        #expect(throws: KeysError.self) { _ = try PasskeySecret.stored(short, .ec(.p256)) }
      }
      let another = try PasskeySecret.make(.ec(.p384)).bytes()
      #expect(throws: KeysError.self) { _ = try PasskeySecret.stored(another, .ec(.p256)) }
    }

    @Test("an imported passkey may have the longest names, IDs and data that a site can give to a passkey")
    func longest() async throws {
      let key = try PrivateKey.generate(.ed25519)
      var longest = attributes(
        String(repeating: "a", count: 253), id: [UInt8](repeating: 1, count: 255), .ed25519,
        handle: [UInt8](repeating: 2, count: 64))
      longest[.credentialBlob] = .bytes([UInt8](repeating: 3, count: 32))
      let passkey = try #require(Passkey(try await bring(longest, try moving(key))))
      #expect(passkey.blob.count == 32 && passkey.credentialID.count == 255)
    }

    @Test("imported passkeys and others are limited to 64 for a site and 1,000 in all, and a dead one is replaced")
    func limits() async throws {
      let source = try moving(try PrivateKey.generate(.ed25519))
      func bring(_ number: Int, _ site: String, _ access: AccessControl.Constraint = .anyFinger) async throws {
        let id = [UInt8(number >> 8), UInt8(number & 255), 1]
        _ = try await self.bring(attributes(site, id: id, .ed25519), source, access)
      }
      try await bring(0, "example.com", .currentSet)
      for number in 1..<64 { try await bring(number, "example.com") }
      await #expect(throws: VaultError.passkeysFull(limit: 64)) { try await bring(64, "example.com") }
      _ = try await image.enroll(.leftThumb, in: vault)
      try await bring(0, "example.com")
      #expect(try await session.passkeyReadiness().capacity == 936, "it has replaced the dead one")
      for number in 64..<1_000 { try await bring(number, "site-\(number / 60).example") }
      #expect(try await session.passkeyReadiness().capacity == 0)
      await #expect(throws: VaultError.passkeysFull(limit: 1_000)) { try await bring(1_000, "last.example") }
      let new = NewPasskey(
        relyingParty: "last.example", user: Passkey.User(handle: [1], name: "alice", displayName: ""),
        isDiscoverable: true, clientDataHash: hash)
      await #expect(throws: VaultError.passkeysFull(limit: 1_000)) {
        try await Person(touches: [image.press(.rightIndex)]).with(vault) {
          _ = try await vault.makePasskey(new, in: $0)
        }
      }
    }
  }
}
