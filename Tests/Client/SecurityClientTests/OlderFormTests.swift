// swift-format-ignore-file: NeverForceUnwrap
// Written as older programs write it.

import LocalAuthentication
import Security
import Testing

// Apple's option set is not hashable; programs add the conformance.
extension SecAccessControlCreateFlags: Hashable {}

extension ClientCode {
  /// The older calls, before those with an algorithm and data.
  @Suite("Older API forms")
  struct OlderFormTests {
    private func pair(_ type: CFString, _ bits: Int, _ more: [CFString: Any] = [:]) throws -> (SecKey, SecKey) {
      let parameters = more.merging([kSecAttrKeyType: type, kSecAttrKeySizeInBits: bits]) { own, _ in own }
      var publicKey, privateKey: SecKey?
      let status = SecKeyGeneratePair(parameters as CFDictionary, &publicKey, &privateKey)
      try #require(status == errSecSuccess)
      return (publicKey!, privateKey!)
    }

    private func sign(_ key: SecKey, _ padding: SecPadding, _ digest: [UInt8]) -> (OSStatus, [UInt8]) {
      var signature = [UInt8](repeating: 0, count: 512)
      var length = signature.count
      let status = SecKeyRawSign(key, padding, digest, digest.count, &signature, &length)
      return (status, Array(signature.prefix(length)))
    }

    @Test("SecKeyRawSign with an elliptic-curve key signs a digest under any padding, also in the vault")
    func curves() async throws {
      let store = try await ClientStore()
      defer { withExtendedLifetime(store) {} }
      let kept: [CFString: Any] = [
        kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
        kSecPrivateKeyAttrs: [kSecAttrIsPermanent: true, kSecAttrLabel: "older"] as [CFString: Any],
      ]
      let digest = [UInt8](repeating: 7, count: 32)
      let paddings: [SecPadding] = [.PKCS1, .PKCS1SHA256, [], .sigRaw]
      for more in [[:], kept] {
        let (publicKey, privateKey) = try pair(kSecAttrKeyTypeECSECPrimeRandom, 256, more)
        for padding in paddings {
          let (status, signature) = sign(privateKey, padding, digest)
          #expect(status == errSecSuccess)
          #expect(signature.first == 0x30 || padding == .sigRaw)
          #expect(signature.count == 64 || padding != .sigRaw)
          #expect(
            SecKeyRawVerify(publicKey, padding, digest, digest.count, signature, signature.count) == errSecSuccess)
          let other = [UInt8](repeating: 8, count: 32)
          #expect(
            SecKeyRawVerify(publicKey, padding, other, other.count, signature, signature.count) == errSSLCrypto)
        }
        // The newer calls on the same data.
        let newer = SecKeyCreateSignature(privateKey, .ecdsaSignatureDigestX962SHA256, Data(digest) as CFData, nil)!
        let bytes = [UInt8](newer as Data)
        #expect(SecKeyRawVerify(publicKey, .PKCS1, digest, digest.count, bytes, bytes.count) == errSecSuccess)
      }
    }

    @Test("SecKeyRawSign with an RSA key uses the given padding, and refuses input that does not fit the padding")
    func signatures() throws {
      let (publicKey, privateKey) = try pair(kSecAttrKeyTypeRSA, 2048)
      let paddings: [(SecPadding, Int, SecKeyAlgorithm)] = [
        (.PKCS1, 40, .rsaSignatureDigestPKCS1v15Raw), (.PKCS1SHA1, 20, .rsaSignatureDigestPKCS1v15SHA1),
        (.PKCS1SHA224, 28, .rsaSignatureDigestPKCS1v15SHA224), (.PKCS1SHA256, 32, .rsaSignatureDigestPKCS1v15SHA256),
        (.PKCS1SHA384, 48, .rsaSignatureDigestPKCS1v15SHA384), (.PKCS1SHA512, 64, .rsaSignatureDigestPKCS1v15SHA512),
      ]
      for (padding, count, algorithm) in paddings {
        let digest = [UInt8](repeating: 5, count: count)
        let (status, signature) = sign(privateKey, padding, digest)
        #expect(status == errSecSuccess)
        #expect(signature.count == SecKeyGetBlockSize(privateKey))
        #expect(
          SecKeyVerifySignature(publicKey, algorithm, Data(digest) as CFData, Data(signature) as CFData, nil))
        #expect(
          SecKeyRawVerify(publicKey, padding, digest, digest.count, signature, signature.count) == errSecSuccess)
      }
      #expect(sign(privateKey, .PKCS1SHA256, [1, 2, 3]).0 == errSecParam, "no digest of that length")
      #expect(sign(privateKey, .PKCS1MD5, [1, 2, 3]).0 == errSecParam)
      #expect(sign(privateKey, .OAEP, [1, 2, 3]).0 == errSecParam)
      #expect(sign(publicKey, .PKCS1, [1, 2, 3]).0 == errSecParam)
    }

    @Test("SecKeyEncrypt and SecKeyDecrypt use the caller's buffers, and SecKeyDecrypt writes nothing past the end")
    func encryption() throws {
      let (publicKey, privateKey) = try pair(kSecAttrKeyTypeRSA, 2048)
      let message = "message"
      let paddings: [SecPadding] = [.PKCS1, .OAEP]
      for padding in paddings {
        let blockSize = SecKeyGetBlockSize(publicKey)
        var sealed = [UInt8](repeating: 0, count: blockSize)
        var sealedCount = blockSize
        #expect(SecKeyEncrypt(publicKey, padding, message, message.utf8.count, &sealed, &sealedCount) == noErr)
        #expect(sealedCount == blockSize)
        var opened = [UInt8](repeating: 0, count: blockSize)
        var openedCount = opened.count
        #expect(SecKeyDecrypt(privateKey, padding, sealed, sealedCount, &opened, &openedCount) == noErr)
        #expect(String(decoding: opened.prefix(openedCount), as: UTF8.self) == message)
        var small = [UInt8](repeating: 1, count: 3)
        var smallCount = small.count
        #expect(SecKeyDecrypt(privateKey, padding, sealed, sealedCount, &small, &smallCount) == errSecParam)
        #expect(small == [1, 1, 1] && smallCount == 3)
      }
      var room = [UInt8](repeating: 0, count: 512)
      var count = room.count
      #expect(SecKeyEncrypt(publicKey, .PKCS1SHA1, message, 7, &room, &count) == errSecParam)
      let (curve, _) = try pair(kSecAttrKeyTypeEC, 256)
      #expect(SecKeyEncrypt(curve, .PKCS1, message, 7, &room, &count) == errSecParam)
      #expect(SecPadding.PKCS1SHA512.rawValue == 0x8006 && SecPadding().isEmpty && SecPadding.sigRaw.rawValue == 0x4000)
    }

    @Test("SecKeyDecrypt without padding drops the leading zeros")
    func blocks() throws {
      let (publicKey, privateKey) = try pair(kSecAttrKeyTypeRSA, 2048)
      var block = [UInt8](repeating: 0, count: 256)
      block[254...] = [1, 2]
      var sealed = [UInt8](repeating: 0, count: 256)
      var count = sealed.count
      #expect(SecKeyEncrypt(publicKey, [], block, block.count, &sealed, &count) == errSecSuccess)
      var opened = [UInt8](repeating: 9, count: 256)
      var openedCount = opened.count
      #expect(SecKeyDecrypt(privateKey, [], sealed, count, &opened, &openedCount) == errSecSuccess)
      #expect(Array(opened.prefix(openedCount)) == [1, 2])
    }

    @Test("an RSA public key is read from a PUBLIC KEY file, which puts the algorithm before the key")
    func publicKeyFiles() async throws {
      let store = try await ClientStore()
      defer { withExtendedLifetime(store) {} }
      let (publicKey, _) = try pair(kSecAttrKeyTypeRSA, 2048)
      let inner = SecKeyCopyExternalRepresentation(publicKey, nil)! as Data
      let name: [UInt8] = [48, 13, 6, 9, 42, 134, 72, 134, 247, 13, 1, 1, 1, 5, 0]
      let bits = [3, 130, 1, 15, 0] + inner
      let file = Data([48, 130, 1, 34] + name + bits)
      let attributes: [CFString: Any] = [
        kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: kSecAttrKeyClassPublic,
        kSecAttrKeySizeInBits: NSNumber(value: file.count * 8), kSecReturnPersistentRef: true,
      ]
      let read = try #require(SecKeyCreateWithData(file as CFData, attributes as CFDictionary, nil))
      #expect(read == publicKey)
      #expect(SecKeyCopyExternalRepresentation(read, nil) as Data? == inner)
      for wrong in [file.dropLast(), file + [0], Data([48, 130, 1, 34] + name + bits.prefix(4) + [1] + inner)] {
        #expect(SecKeyCreateWithData(Data(wrong) as CFData, attributes as CFDictionary, nil) == nil)
      }
      // Also stored as data.
      let item: [CFString: Any] = [
        kSecClass: kSecClassKey, kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: kSecAttrKeyClassPublic,
        kSecAttrApplicationTag: "file",
      ]
      #expect(SecItemAdd(item.merging([kSecValueData: file]) { $1 } as CFDictionary, nil) == errSecSuccess)
      var result: CFTypeRef?
      #expect(
        SecItemCopyMatching(item.merging([kSecReturnRef: true]) { $1 } as CFDictionary, &result) == errSecSuccess)
      #expect((result as! SecKey) == publicKey)
    }

    @Test("bytes of a public key that are stored without a key class become a public key")
    func classless() async throws {
      let store = try await ClientStore()
      defer { withExtendedLifetime(store) {} }
      for (type, bits) in [(kSecAttrKeyTypeRSA, 2048), (kSecAttrKeyTypeEC, 256)] {
        let (publicKey, privateKey) = try pair(type, bits)
        var item = [String: AnyObject]()
        item[String(kSecClass)] = kSecClassKey as CFString
        item[String(kSecAttrKeyType)] = type
        item[String(kSecAttrApplicationTag)] = "classless" as CFString
        item[String(kSecValueData)] = SecKeyCopyExternalRepresentation(publicKey, nil)
        item[String(kSecReturnPersistentRef)] = true as CFBoolean
        var reference: CFTypeRef?
        #expect(SecItemAdd(item as CFDictionary, &reference) == errSecSuccess)
        #expect(SecItemAdd(item as CFDictionary, &reference) == errSecDuplicateItem)
        let query: [CFString: Any] = [
          kSecClass: kSecClassKey, kSecAttrApplicationTag: "classless", kSecAttrKeyType: type, kSecReturnRef: true,
        ]
        var found: CFTypeRef?
        #expect(SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess)
        #expect((found as! SecKey) == publicKey)
        #expect(SecItemDelete(query.filter { $0.key != kSecReturnRef } as CFDictionary) == errSecSuccess)
        // The bytes of a private key; the class comes from the program's attributes.
        item[String(kSecValueData)] = SecKeyCopyExternalRepresentation(privateKey, nil)
        #expect(SecItemAdd(item as CFDictionary, &reference) == errSecSuccess)
        #expect(SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess)
        let digest = [UInt8](repeating: 1, count: 32)
        #expect(sign(found as! SecKey, .PKCS1, digest).0 == errSecParam)
      }
    }

    @Test("CFDataCreateWithBytesNoCopy creates data over memory that the caller keeps")
    func lentMemory() throws {
      let bytes: [UInt8] = [1, 2, 3]
      bytes.withUnsafeBufferPointer { lent in
        let data = CFDataCreateWithBytesNoCopy(nil, lent.baseAddress, lent.count, kCFAllocatorNull)
        #expect(((data as NSData?) as Data?) == Data([1, 2, 3]))
        #expect(CFDataGetBytePtr(data!) == lent.baseAddress)
      }
      let owned = malloc(2)!
      owned.initializeMemory(as: UInt8.self, repeating: 9, count: 2)
      let data = CFDataCreateWithBytesNoCopy(
        kCFAllocatorDefault, owned.assumingMemoryBound(to: UInt8.self), 2, kCFAllocatorDefault)
      #expect(data as Data? == Data([9, 9]))
      #expect(CFDataCreateWithBytesNoCopy(nil, nil, 0, kCFAllocatorNull)?.length == 0)
      let flags: Set<SecAccessControlCreateFlags> = [.userPresence, .userPresence]
      #expect(flags.count == 1)
    }
  }
}
