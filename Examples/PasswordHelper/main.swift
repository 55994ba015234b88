// swift-format-ignore-file: NeverForceUnwrap
// Force-unwraps what cannot be nil here, as articles about the keychain do.

// A password helper, a key pair with an application tag, and an item that is protected by an application password.

import LocalAuthentication

#if canImport(Darwin)
  import Security
#else
  import KeychainServices
#endif

// 1. Passwords by service and account
let (service, account) = ("org.example.mail", "alice")
try PasswordHelper.set("first", service: service, account: account)
print("set: \(try PasswordHelper.get(service: service, account: account) ?? "nothing")")
try PasswordHelper.set("second", service: service, account: account)
print("set again: \(try PasswordHelper.get(service: service, account: account) ?? "nothing")")
try PasswordHelper.delete(service: service, account: account)
print("deleted: \(try PasswordHelper.get(service: service, account: account) ?? "nothing")")

// 2. A key pair by its tag: generating and finding it do not prompt; signing asks for a finger.
let pair = KeyPair(tag: "org.example.keys.signing")
_ = pair.delete()
_ = try pair.create()
guard let key = pair.find(), let publicKey = SecKeyCopyPublicKey(key) else { fatalError("the key was not found") }
print("key found by its tag")

let message = Data("pay 10 to bob".utf8)
let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
guard SecKeyIsAlgorithmSupported(key, .sign, algorithm) else { fatalError("it does not sign that way") }
var error: Unmanaged<CFError>?
if let signature = SecKeyCreateSignature(key, algorithm, message as CFData, &error) {
  let right = SecKeyVerifySignature(publicKey, algorithm, message as CFData, signature, nil)
  let other = Data("pay 99 to eve".utf8) as CFData
  let wrong = SecKeyVerifySignature(publicKey, algorithm, other, signature, nil)
  print("signature: \(right ? "right" : "wrong") for the message, \(wrong ? "right" : "wrong") for another")
} else {
  print("not signed: \(CFErrorGetCode(error!.takeRetainedValue()))")
}

var exportError: Unmanaged<CFError>?
if SecKeyCopyExternalRepresentation(key, &exportError) == nil {
  print("the private key stays inside (\(CFErrorGetCode(exportError!.takeRetainedValue())))")
}
print("key deleted: \(pair.delete() == errSecSuccess)")

// 3. An item under an application password, which is set on a context.
func context(password: String) -> LAContext {
  let context = LAContext()
  context.setCredential(password.data(using: .utf8), type: .applicationPassword)
  return context
}

let access = SecAccessControlCreateWithFlags(
  nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, .applicationPassword, nil)!
let item: [String: Any] = [
  kSecClass as String: kSecClassGenericPassword,
  kSecAttrService as String: "org.example.backup",
  kSecAttrAccessControl as String: access,
  kSecUseAuthenticationContext as String: context(password: "of the server"),
  kSecValueData as String: Data("the backup's key".utf8),
]
print("stored under a password: \(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)")

func read(with context: LAContext) -> String {
  let query: [String: Any] = [
    kSecClass as String: kSecClassGenericPassword,
    kSecAttrService as String: "org.example.backup",
    kSecUseAuthenticationContext as String: context,
    kSecReturnData as String: true,
  ]
  var result: CFTypeRef?
  let status = SecItemCopyMatching(query as CFDictionary, &result)
  guard let data = result as? Data else { return "refused (\(status))" }
  return String(decoding: data, as: UTF8.self)
}

print("read with that password: \(read(with: context(password: "of the server")))")
print("read with another: \(read(with: context(password: "a guess")))")
let query: [String: Any] = [
  kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "org.example.backup",
]
print("item deleted: \(SecItemDelete(query as CFDictionary) == errSecSuccess)")
