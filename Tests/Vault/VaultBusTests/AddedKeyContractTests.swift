import Presence
import Primitives
import SecretModel
import Testing
import Vault
import VaultBus
import VaultDriver
import VaultItems
import VaultStore

@Suite("Keys created in the vault, in process and over a socket")
struct AddedKeyContractTests {
  private static let item = NewItem(.key, [.label: .text("work"), .accessGroup: .text("group")])

  @Test("a key created in the vault is described by its item, signs there and never leaves", arguments: Way.allCases)
  func made(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    for algorithm in KeyAlgorithm.offered where algorithm != .rsa(bits: 3072) && algorithm != .rsa(bits: 4096) {
      let added = try await open.vault.addKey(Self.item, from: .generated(algorithm))
      #expect(added.access.flags.contains(.privateKeyUsage))
      #expect(added.attributes[.label] == .text("work"))
      #expect(added.attributes[.keySizeInBits] == .number(Int64(algorithm.bitCount)))
      #expect(added.attributes[.keyType] == .text(algorithm.family.keyType))
      guard case .bytes(let blob)? = added.attributes[.sshPublicKey] else {
        Issue.record("no public key")
        continue
      }
      #expect(blob.count > 40)
      // A key that signs nothing is not offered.
      let scheme: SignatureScheme? =
        switch algorithm {
        case .ed25519: .ed25519
        case .ec: .ecdsa(.sha256, .message, .rfc4754)
        case .rsa: .rsaPKCS1(.sha256, .message)
        case .x25519: nil
        }
      let signing = KeyUse.sign([1, 2, 3], try #require(scheme))
      #expect(try await open.vault.useKey(added.id, signing, .nobody).count >= 64)
      await #expect(throws: VaultError.self) { _ = try await open.vault.useKey(added.id, .export, .nobody) }
      await #expect(throws: VaultError.self) { _ = try await open.vault.secrets(.ids([added.id]), .nobody) }
    }
    await open.connection.close()
  }

  @Test(
    "a key for age created in the vault decrypts keys of files there, does nothing else and never leaves",
    arguments: Way.allCases)
  func age(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    let added = try await open.vault.addKey(Self.item, from: .generated(.x25519))
    #expect(added.attributes[.keyType] == .text(KeyFamily.x25519.keyType) && added.attributes[.sshPublicKey] == nil)
    guard case .bytes(let bytes)? = added.attributes[.publicKey], let recipient = AgePublicKey(bytes: bytes) else {
      Issue.record("no public key")
      return
    }
    let box = try await open.connection.wrapFileKey(SecretBytes(text: "sixteen bytes it"), to: recipient)
    let fileKey = try await open.vault.useKey(added.id, .decrypt(box, .ageX25519), .nobody)
    #expect(fileKey.text == "sixteen bytes it")
    let refused: [KeyUse] = [
      .export, .sign([1], .ed25519), .exchange(with: bytes, .ecdh, size: 32, sharedInfo: []),
      .decrypt(box + [0], .ageX25519), .decrypt(box, .ecies(.sha256, .zero)),
    ]
    for use in refused {
      await #expect(throws: VaultError.self) { _ = try await open.vault.useKey(added.id, use, .nobody) }
    }
    await #expect(throws: VaultError.self) { _ = try await open.vault.secrets(.ids([added.id]), .nobody) }
    await #expect(throws: VaultError.self) {
      _ = try await open.connection.wrapFileKey(SecretBytes(text: "too short"), to: recipient)
    }
    await open.connection.close()
  }

  @Test("a vault adds no key from text that is no key, and none to an item of another class", arguments: Way.allCases)
  func refused(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    for text in ["", "ssh-ed25519", "no key at all"] {
      await #expect(throws: VaultError.self) {
        _ = try await open.vault.addKey(Self.item, from: .ssh(SharedSecret(SecretBytes(text: text))))
      }
    }
    await #expect(throws: VaultError.self) {
      _ = try await open.vault.addKey(NewItem(.genericPassword, [:]), from: .generated(.ed25519))
    }
    #expect(try await open.vault.items(.everything, .nobody).items.isEmpty)
    await open.connection.close()
  }
}
