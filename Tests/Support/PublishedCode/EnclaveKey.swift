// swift-format-ignore-file: NeverForceUnwrap, NeverUseForceTry
// As articles write it: what cannot be nil here is unwrapped.

import Foundation
import LocalAuthentication
import Security

// A key pair of the Secure Enclave behind biometry: made, found by its tag, used to sign and to decrypt.

struct EnclaveKey {
  static let tag = "org.example.keys.signing".data(using: .utf8)!

  static func make() throws -> SecKey {
    let access = SecAccessControlCreateWithFlags(
      kCFAllocatorDefault, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, [.privateKeyUsage, .biometryCurrentSet], nil)!
    let attributes: NSDictionary = [
      kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom,
      kSecAttrKeySizeInBits: 256,
      kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
      kSecPrivateKeyAttrs: [
        kSecAttrIsPermanent: true,
        kSecAttrApplicationTag: tag,
        kSecAttrAccessControl: access,
      ],
    ]
    var error: Unmanaged<CFError>?
    guard let privateKey = SecKeyCreateRandomKey(attributes, &error) else {
      throw error!.takeRetainedValue() as Error
    }
    return privateKey
  }

  static func load() -> SecKey? {
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

  static func signAndDecrypt() {
    guard let privateKey = load(), let publicKey = SecKeyCopyPublicKey(privateKey) else {
      return print("no key")
    }
    let message = "a message".data(using: .utf8)! as CFData
    var error: Unmanaged<CFError>?
    guard let signature = SecKeyCreateSignature(privateKey, .ecdsaSignatureMessageX962SHA256, message, &error) else {
      let failure = error!.takeRetainedValue()
      return print("not signed: \(CFErrorGetDomain(failure)!) \(CFErrorGetCode(failure))")
    }
    let right = SecKeyVerifySignature(publicKey, .ecdsaSignatureMessageX962SHA256, message, signature, nil)
    print("signature: \(right ? "valid" : "invalid")")
    let algorithm = SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA256AESGCM
    guard SecKeyIsAlgorithmSupported(publicKey, .encrypt, algorithm),
      let sealed = SecKeyCreateEncryptedData(publicKey, algorithm, message, nil)
    else { return print("cannot encrypt") }
    guard let opened = SecKeyCreateDecryptedData(privateKey, algorithm, sealed, &error) else {
      return print("not decrypted: \(CFErrorGetCode(error!.takeRetainedValue()))")
    }
    print("decrypted: \(String(data: opened as Data, encoding: .utf8)!)")
  }
}
