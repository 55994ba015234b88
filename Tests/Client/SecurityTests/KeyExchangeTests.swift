import Keys
import Primitives
import Security
import Testing
import Vault
import VaultItems
import VaultStore
import Whorl

extension SharedStore {
  @Suite("Agreeing on keys")
  struct KeyExchangeTests {
    let keychain: Keychain

    init() async throws { keychain = try await Keychain() }

    private static let derivations: [(suffix: String, hash: HashFunction)] = [
      ("SHA1", .sha1), ("SHA224", .sha224), ("SHA256", .sha256), ("SHA384", .sha384), ("SHA512", .sha512),
    ]

    /// The key derivation of ANSI X9.63 (SEC 1, 3.6.1), written again for the comparison.
    private func derived(_ secret: Data, _ info: Data, _ size: Int, _ hash: HashFunction) throws -> Data {
      var key: [UInt8] = []
      var counter: UInt8 = 1
      while key.count < size {
        key += try hash.digest(Array(secret) + [0, 0, 0, counter] + Array(info))
        counter += 1
      }
      return Data(key.prefix(size))
    }

    private func exchange(
      _ key: SecKey, _ algorithm: SecKeyAlgorithm, with other: SecKey, _ parameters: [String: Any] = [:]
    ) throws -> Data? {
      SecKeyCopyKeyExchangeResult(
        key, algorithm, try #require(SecKeyCopyPublicKey(other)), parameters as CFDictionary, nil) as Data?
    }

    @Test(
      "every supported key exchange algorithm gives both sides the X9.63 secret, in the process and in the store",
      arguments: [256, 384, 521])
    func everyAlgorithm(bits: Int) throws {
      let kept = try newKey(
        kSecAttrKeyTypeECSECPrimeRandom, bits, [kSecPrivateKeyAttrs: [kSecAttrIsPermanent: true] as [CFString: Any]])
      let other = try newKey(kSecAttrKeyTypeECSECPrimeRandom, bits)
      let size = (bits + 7) / 8
      let info = Data("both parties".utf8)
      for form in ["ECDH", "ECDHC"] {
        let plain = SecKeyAlgorithm(rawValue: "algid:keyexchange:\(form)" as CFString)
        #expect(SecKeyIsAlgorithmSupported(kept, .keyExchange, plain))
        let secret = try #require(try exchange(kept, plain, with: other))
        #expect(secret.count == size)
        #expect(try exchange(other, plain, with: kept) == secret)
        for (suffix, hash) in Self.derivations {
          let algorithm = SecKeyAlgorithm(rawValue: "algid:keyexchange:\(form):KDFX963:\(suffix)" as CFString)
          #expect(SecKeyIsAlgorithmSupported(kept, .keyExchange, algorithm))
          for wanted in [1, 32, 200] {
            let parameters: [String: Any] = [
              SecKeyKeyExchangeParameter.requestedSize.rawValue as String: wanted,
              SecKeyKeyExchangeParameter.sharedInfo.rawValue as String: info,
            ]
            let expected = try derived(secret, info, wanted, hash)
            #expect(try exchange(kept, algorithm, with: other, parameters) == expected, "\(form) \(suffix)")
            #expect(try exchange(other, algorithm, with: kept, parameters) == expected, "\(form) \(suffix)")
          }
          #expect(try exchange(kept, algorithm, with: other) == derived(secret, Data(), hash.count, hash))
        }
      }
    }

    @Test("a key exchange refuses other algorithms, and neither RSA keys nor public keys support a key exchange")
    func refused() throws {
      let (key, other) = (try newKey(), try newKey())
      let rsa = try newKey(kSecAttrKeyTypeRSA, 2048)
      let exchange = SecKeyAlgorithm.ecdhKeyExchangeStandard
      #expect(!SecKeyIsAlgorithmSupported(rsa, .keyExchange, exchange))
      #expect(!SecKeyIsAlgorithmSupported(try #require(SecKeyCopyPublicKey(key)), .keyExchange, exchange))
      for algorithm in [
        SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256, .eciesEncryptionStandardX963SHA256AESGCM,
        SecKeyAlgorithm(rawValue: "algid:keyexchange:DH"),
      ] {
        #expect(!SecKeyIsAlgorithmSupported(key, .keyExchange, algorithm))
        var error: Unmanaged<CFError>?
        #expect(
          SecKeyCopyKeyExchangeResult(
            key, algorithm, try #require(SecKeyCopyPublicKey(other)), [:] as CFDictionary, &error) == nil)
        #expect(code(error) == Int(errSecParam))
      }
    }

    @Test("kSecUseDataProtectionKeychain finds and changes the same items, whether true or false")
    func dataProtectionKeychain() throws {
      let (chosen, other): ([CFString: Any], [CFString: Any]) = (
        [kSecUseDataProtectionKeychain: true], [kSecUseDataProtectionKeychain: false]
      )
      #expect(add("a", "s", chosen) == errSecSuccess)
      #expect(add("a", "t", other) == errSecDuplicateItem)
      for query in [chosen, other, [:]] { #expect(secret("a", query) == "s") }
      // As that keychain does, and a file's keychain does not: it honours accessibility and access groups.
      let (status, row) = copy(password("a", chosen.merging([kSecReturnAttributes: true]) { $1 }))
      #expect(status == errSecSuccess)
      let attributes = try #require(row as? [String: Any])
      #expect(attributes[kSecAttrAccessible as String] as? String == kSecAttrAccessibleWhenUnlocked as String)
      #expect(attributes[kSecAttrAccessGroup as String] as? String != nil)
      #expect(SecItemUpdate(password("a", other), [kSecValueData: Data("u".utf8)] as CFDictionary) == errSecSuccess)
      #expect(secret("a", chosen) == "u")
      #expect(SecItemDelete(password("a", other)) == errSecSuccess)
      #expect(copy(password("a", chosen)).0 == errSecItemNotFound)
    }
  }
}
