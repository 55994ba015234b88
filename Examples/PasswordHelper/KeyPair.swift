// swift-format-ignore-file: NeverForceUnwrap
// Force-unwraps what cannot be nil here, as articles about the keychain do.

#if canImport(Darwin)
  import Security
#else
  import KeychainServices
#endif

/// A key pair that is found by its tag. The private key stays in the store, and signs there after a touch.
struct KeyPair {
  let tag: Data

  init(tag: String) { self.tag = Data(tag.utf8) }

  func create() throws -> SecKey {
    var error: Unmanaged<CFError>?
    guard
      let access = SecAccessControlCreateWithFlags(
        kCFAllocatorDefault, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, [.privateKeyUsage, .biometryAny], &error)
    else { throw error!.takeRetainedValue() as Error }
    let attributes: [String: Any] = [
      kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
      kSecAttrKeySizeInBits as String: 256,
      kSecPrivateKeyAttrs as String: [
        kSecAttrIsPermanent as String: true,
        kSecAttrApplicationTag as String: tag,
        kSecAttrAccessControl as String: access,
      ],
    ]
    guard let key = SecKeyCreateRandomKey(attributes as CFDictionary, &error) else {
      throw error!.takeRetainedValue() as Error
    }
    return key
  }

  /// A reference to the private key. Nil if there is no such key.
  func find() -> SecKey? {
    let query: [String: Any] = [
      kSecClass as String: kSecClassKey,
      kSecAttrApplicationTag as String: tag,
      kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
      kSecReturnRef as String: true,
    ]
    var item: CFTypeRef?
    guard SecItemCopyMatching(query as CFDictionary, &item) == errSecSuccess else { return nil }
    return (item as! SecKey)
  }

  func delete() -> OSStatus {
    let query: [String: Any] = [kSecClass as String: kSecClassKey, kSecAttrApplicationTag as String: tag]
    return SecItemDelete(query as CFDictionary)
  }
}
