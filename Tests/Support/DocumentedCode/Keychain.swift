// swift-format-ignore-file: NeverForceUnwrap
// Written as one writes it on a Mac.

import Foundation
import LocalAuthentication
import Security

private let service = "documented.\(UUID().uuidString)"

/// A generic password in the data protection keychain.
/// https://developer.apple.com/documentation/security/ksecusedataprotectionkeychain
private func password(_ account: String, _ more: [String: Any] = [:]) -> [String: Any] {
  let query: [String: Any] = [
    kSecClass as String: kSecClassGenericPassword,
    kSecAttrService as String: service,
    kSecAttrAccount as String: account,
    kSecUseDataProtectionKeychain as String: true,
  ]
  return query.merging(more) { $1 }
}

private func copy(_ query: [String: Any]) -> (status: OSStatus, item: CFTypeRef?) {
  var item: CFTypeRef?
  let status = SecItemCopyMatching(query as CFDictionary, &item)
  return (status, item)
}

private func checkStatus(_ name: String, _ status: OSStatus, _ expected: OSStatus = errSecSuccess) {
  check(
    name, status == expected,
    "\(status) \(SecCopyErrorMessageString(status, nil) as String? ?? ""), not \(expected)")
}

private func accessControl(_ flags: SecAccessControlCreateFlags) throws -> SecAccessControl {
  var error: Unmanaged<CFError>?
  guard
    let access = SecAccessControlCreateWithFlags(
      kCFAllocatorDefault,
      kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
      flags, &error)
  else {
    throw error!.takeRetainedValue() as Error
  }
  return access
}

func checkAccessControl() {
  // https://developer.apple.com/documentation/security/secaccesscontrolcreatewithflags(_:_:_:_:)
  // https://developer.apple.com/documentation/security/secaccesscontrolcreateflags
  let all: [(String, SecAccessControlCreateFlags)] = [
    ("biometryCurrentSet", .biometryCurrentSet),
    ("userPresence", .userPresence),
    ("privateKeyUsage", [.privateKeyUsage, .biometryCurrentSet]),
    ("or", [.biometryCurrentSet, .or, .devicePasscode]),
    ("and", [.biometryAny, .and, .devicePasscode]),
  ]
  for (name, flags) in all {
    check("accessControl.\(name)", (try? accessControl(flags)) != nil)
  }
}

func checkKeychainItems() {
  defer { SecItemDelete(password("plain") as CFDictionary) }
  let old = Data("old".utf8), new = Data("new".utf8)

  // https://developer.apple.com/documentation/security/errsecitemnotfound
  checkStatus("item.copy.missing", copy(password("plain")).status, errSecItemNotFound)
  // https://developer.apple.com/documentation/security/updating-and-deleting-keychain-items
  let attributes: [String: Any] = [kSecValueData as String: new]
  checkStatus(
    "item.update.missing",
    SecItemUpdate(
      password("plain") as CFDictionary,
      attributes as CFDictionary), errSecItemNotFound)
  checkStatus("item.delete.missing", SecItemDelete(password("plain") as CFDictionary), errSecItemNotFound)

  // https://developer.apple.com/documentation/security/secitemadd(_:_:)
  let item = password("plain", [kSecValueData as String: old])
  checkStatus("item.add", SecItemAdd(item as CFDictionary, nil))
  // "For generic passwords, the primary keys include kSecAttrAccount and kSecAttrService."
  // https://developer.apple.com/documentation/security/errsecduplicateitem
  checkStatus("item.add.duplicate", SecItemAdd(item as CFDictionary, nil), errSecDuplicateItem)

  // https://developer.apple.com/documentation/security/searching-for-keychain-items
  let found = copy(
    password(
      "plain",
      [
        kSecMatchLimit as String: kSecMatchLimitOne,
        kSecReturnAttributes as String: true,
        kSecReturnData as String: true,
      ]))
  checkStatus("item.copy", found.status)
  let existing = found.item as? [String: Any]
  check("item.copy.data", existing?[kSecValueData as String] as? Data == old)
  check("item.copy.account", existing?[kSecAttrAccount as String] as? String == "plain")

  // https://developer.apple.com/documentation/security/secitemupdate(_:_:)
  checkStatus("item.update", SecItemUpdate(password("plain") as CFDictionary, attributes as CFDictionary))
  let updated = copy(password("plain", [kSecReturnData as String: true]))
  check("item.update.data", updated.item as? Data == new)
  // https://developer.apple.com/documentation/security/secitemdelete(_:)
  checkStatus("item.delete", SecItemDelete(password("plain") as CFDictionary))
  checkStatus("item.copy.deleted", copy(password("plain")).status, errSecItemNotFound)
}

func checkSynchronizableItems() {
  let any: [String: Any] = [kSecAttrSynchronizable as String: kSecAttrSynchronizableAny]
  defer { SecItemDelete(password("sync", any) as CFDictionary) }
  func data(_ more: [String: Any]) -> Data? {
    copy(password("sync", more.merging([kSecReturnData as String: true]) { $1 })).item as? Data
  }
  let local = Data("local".utf8), shared = Data("shared".utf8)

  // kSecAttrSynchronizable is "part of the set of primary keys": the two are no duplicates.
  // https://developer.apple.com/documentation/security/errsecduplicateitem
  checkStatus(
    "sync.add.local",
    SecItemAdd(password("sync", [kSecValueData as String: local]) as CFDictionary, nil))
  let item = password(
    "sync",
    [
      kSecValueData as String: shared,
      kSecAttrSynchronizable as String: kCFBooleanTrue!,
    ])
  checkStatus("sync.add.synchronizable", SecItemAdd(item as CFDictionary, nil))
  // "If the key is not supplied, or has a value of kCFBooleanFalse, then no synchronizable items are
  // added or returned." https://developer.apple.com/documentation/security/ksecattrsynchronizable
  check("sync.copy.default", data([:]) == local)
  check("sync.copy.false", data([kSecAttrSynchronizable as String: false]) == local)
  check("sync.copy.true", data([kSecAttrSynchronizable as String: true]) == shared)
  // "both synchronizable and non-synchronizable results should be returned", also by SecItemDelete
  // https://developer.apple.com/documentation/security/ksecattrsynchronizableany
  let both = any.merging([
    kSecMatchLimit as String: kSecMatchLimitAll,
    kSecReturnAttributes as String: true,
  ]) { $1 }
  check("sync.copy.any", (copy(password("sync", both)).item as? [[String: Any]])?.count == 2)
  checkStatus("sync.delete.any", SecItemDelete(password("sync", any) as CFDictionary))
  checkStatus("sync.copy.any.deleted", copy(password("sync", any)).status, errSecItemNotFound)
}

func checkProtectedItems() async {
  let secret = Data("protected".utf8)
  let all: [(String, SecAccessControlCreateFlags, touch: Bool)] = [
    ("biometryCurrentSet", .biometryCurrentSet, true),
    ("userPresence", .userPresence, false),
    ("or", [.biometryCurrentSet, .or, .devicePasscode], true),
    ("and", [.biometryAny, .and, .devicePasscode], false),
  ]
  for (name, flags, touch) in all {
    defer { SecItemDelete(password(name) as CFDictionary) }
    guard let access = try? accessControl(flags) else { continue }
    // https://developer.apple.com/documentation/localauthentication/accessing-keychain-items-with-face-id-or-touch-id
    let item = password(
      name,
      [
        kSecAttrAccessControl as String: access,
        kSecValueData as String: secret,
      ])
    checkStatus("protected.\(name).add", SecItemAdd(item as CFDictionary, nil))

    // "if user authentication is needed, the function returns errSecInteractionNotAllowed"; the
    // deprecation names LAContext.interactionNotAllowed in its place.
    // https://developer.apple.com/documentation/security/ksecuseauthenticationuifail
    let silent = LAContext()
    silent.interactionNotAllowed = true
    let denied = copy(
      password(
        name,
        [
          kSecUseAuthenticationContext as String: silent,
          kSecReturnData as String: true,
        ]))
    checkStatus("protected.\(name).interactionNotAllowed", denied.status, errSecInteractionNotAllowed)
    guard touch else { continue }

    // "If this key is specified with a context that has not been previously authenticated, the
    // system attempts authentication on the context."
    // https://developer.apple.com/documentation/security/ksecuseauthenticationcontext
    let context = LAContext()
    context.localizedReason = "read the item protected by \(name)"
    let query = password(
      name,
      [
        kSecUseAuthenticationContext as String: context,
        kSecReturnData as String: true,
      ])
    let read = copy(query)
    checkStatus("protected.\(name).copy", read.status)
    check("protected.\(name).data", read.item as? Data == secret)
    // "If successful, the context may be reused in subsequent keychain operations", which "will
    // succeed without asking user for authentication".
    context.interactionNotAllowed = true
    let again = copy(query)
    checkStatus("protected.\(name).reuse", again.status)
    check("protected.\(name).reuse.data", again.item as? Data == secret)
  }
}

func checkSecureEnclaveKey() async {
  let tag = Data("\(service).key".utf8)
  let query: [String: Any] = [
    kSecClass as String: kSecClassKey,
    kSecAttrApplicationTag as String: tag,
    kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
    kSecUseDataProtectionKeychain as String: true,
  ]
  defer { SecItemDelete(query as CFDictionary) }
  let signing = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
  let exchange = SecKeyAlgorithm.ecdhKeyExchangeStandardX963SHA256
  let message = Data("a message".utf8)
  var error: Unmanaged<CFError>?

  // https://developer.apple.com/documentation/security/protecting-keys-with-the-secure-enclave
  guard let access = try? accessControl([.privateKeyUsage, .biometryCurrentSet]) else { return }
  let attributes: [String: Any] = [
    kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
    kSecAttrKeySizeInBits as String: 256,
    kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave,
    kSecUseDataProtectionKeychain as String: true,
    kSecPrivateKeyAttrs as String: [
      kSecAttrIsPermanent as String: true,
      kSecAttrApplicationTag as String: tag,
      kSecAttrAccessControl as String: access,
    ] as [String: Any],
  ]
  let created = SecKeyCreateRandomKey(attributes as CFDictionary, &error)
  check("enclave.create", created != nil, "\(String(describing: error?.takeRetainedValue()))")
  guard let created, let publicKey = SecKeyCopyPublicKey(created) else { return }

  // "The only keychain items supported by the Secure Enclave are 256-bit elliptic curve private keys"
  // https://developer.apple.com/documentation/security/ksecattrtokenidsecureenclave
  let rsa: [String: Any] = [
    kSecAttrKeyType as String: kSecAttrKeyTypeRSA,
    kSecAttrKeySizeInBits as String: 2048,
    kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave,
  ]
  check("enclave.create.RSA", SecKeyCreateRandomKey(rsa as CFDictionary, nil) == nil)

  // "The operation fails if the key is not exportable, for example if it is bound to ... the Secure
  // Enclave." A public elliptic curve key is 04 || X || Y.
  // https://developer.apple.com/documentation/security/seckeycopyexternalrepresentation(_:_:)
  var exportError: Unmanaged<CFError>?
  check("enclave.export.private", SecKeyCopyExternalRepresentation(created, &exportError) == nil)
  check("enclave.export.private.error", exportError?.takeRetainedValue() != nil)
  let bytes = SecKeyCopyExternalRepresentation(publicKey, nil) as Data?
  check("enclave.export.public", bytes?.count == 65 && bytes?.first == 0x04, "\(String(describing: bytes))")

  // https://developer.apple.com/documentation/security/seckeyisalgorithmsupported(_:_:_:)
  check("enclave.supports.sign", SecKeyIsAlgorithmSupported(created, .sign, signing))
  check("enclave.supports.verify", SecKeyIsAlgorithmSupported(publicKey, .verify, signing))
  check("enclave.supports.keyExchange", SecKeyIsAlgorithmSupported(created, .keyExchange, exchange))
  check(
    "enclave.supports.RSA",
    !SecKeyIsAlgorithmSupported(created, .sign, .rsaSignatureMessagePKCS1v15SHA256))

  // The key's access control needs a finger, and this context forbids asking for one.
  // https://developer.apple.com/documentation/security/ksecuseauthenticationcontext
  func stored(_ context: LAContext) -> SecKey? {
    let found = copy(
      query.merging([
        kSecReturnRef as String: true,
        kSecUseAuthenticationContext as String: context,
      ]) { $1 })
    return found.status == errSecSuccess ? (found.item as! SecKey) : nil
  }
  let silent = LAContext()
  silent.interactionNotAllowed = true
  if let key = stored(silent) {
    check(
      "enclave.sign.notInteractive",
      SecKeyCreateSignature(key, signing, message as CFData, nil) == nil)
  }

  // https://developer.apple.com/documentation/localauthentication/lacontext/evaluateaccesscontrol(_:operation:localizedreason:reply:)
  let context = LAContext()
  let evaluated = await succeeds("enclave.evaluateAccessControl") {
    try await context.evaluateAccessControl(
      access, operation: .useKeySign,
      localizedReason: "sign with a Secure Enclave key")
  }
  check("enclave.evaluateAccessControl.result", evaluated == true)
  let key = stored(context)
  check("enclave.copy", key != nil)
  guard let key else { return }

  // https://developer.apple.com/documentation/security/signing-and-verifying
  var signError: Unmanaged<CFError>?
  let signature = SecKeyCreateSignature(key, signing, message as CFData, &signError) as Data?
  check("enclave.sign", signature != nil, "\(String(describing: signError?.takeRetainedValue()))")
  if let signature {
    check(
      "enclave.verify",
      SecKeyVerifySignature(publicKey, signing, message as CFData, signature as CFData, nil))
    var verifyError: Unmanaged<CFError>?
    check(
      "enclave.verify.otherMessage",
      !SecKeyVerifySignature(
        publicKey, signing, Data("another".utf8) as CFData, signature as CFData, &verifyError))
    check("enclave.verify.otherMessage.error", verifyError?.takeRetainedValue() != nil)
  }

  // Diffie-Hellman with a key in memory: both sides come to the same secret, of the requested size.
  // https://developer.apple.com/documentation/security/seckeycopykeyexchangeresult(_:_:_:_:_:)
  let software: [String: Any] = [
    kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
    kSecAttrKeySizeInBits as String: 256,
  ]
  guard let peer = SecKeyCreateRandomKey(software as CFDictionary, nil),
    let peerPublicKey = SecKeyCopyPublicKey(peer)
  else {
    return check("enclave.keyExchange", false, "no key in memory")
  }
  let parameters =
    [
      SecKeyKeyExchangeParameter.requestedSize.rawValue: 32,
      SecKeyKeyExchangeParameter.sharedInfo.rawValue: message,
    ] as [CFString: Any]
  var exchangeError: Unmanaged<CFError>?
  let ours =
    SecKeyCopyKeyExchangeResult(
      key, exchange, peerPublicKey,
      parameters as CFDictionary, &exchangeError) as Data?
  let theirs =
    SecKeyCopyKeyExchangeResult(
      peer, exchange, publicKey,
      parameters as CFDictionary, nil) as Data?
  check(
    "enclave.keyExchange", ours != nil && ours == theirs,
    "\(String(describing: exchangeError?.takeRetainedValue()))")
  check("enclave.keyExchange.size", ours?.count == 32)

  checkStatus("enclave.delete", SecItemDelete(query as CFDictionary))
  checkStatus("enclave.copy.deleted", copy(query).status, errSecItemNotFound)
}

func checkResultCodes() {
  // "Use the SecCopyErrorMessageString function to obtain a human readable string corresponding to
  // these status codes." https://developer.apple.com/documentation/security/security-framework-result-codes
  let codes: [(String, OSStatus)] = [
    ("errSecDuplicateItem", errSecDuplicateItem), ("errSecItemNotFound", errSecItemNotFound),
    ("errSecUserCanceled", errSecUserCanceled), ("errSecAuthFailed", errSecAuthFailed),
    ("errSecInteractionNotAllowed", errSecInteractionNotAllowed), ("errSecParam", errSecParam),
    ("errSecMissingEntitlement", errSecMissingEntitlement),
  ]
  for (name, code) in codes {
    let text = SecCopyErrorMessageString(code, nil) as String?
    check("message.\(name)", text?.isEmpty == false, "no message for \(code)")
  }
}
