// swift-format-ignore-file: NeverForceUnwrap, NeverUseForceTry
// As articles write it: what cannot be nil here is unwrapped.

import Foundation
import LocalAuthentication
import Security

// An item protected by biometry, as in articles, and every result of reading it.

enum BiometricItem {
  static let service = "org.example.biometric-item"

  static func accessControl(_ flags: SecAccessControlCreateFlags) -> SecAccessControl {
    var error: Unmanaged<CFError>?
    let access = SecAccessControlCreateWithFlags(
      nil, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, flags, &error)
    precondition(access != nil, "SecAccessControlCreateWithFlags failed")
    return access!
  }

  static func save(_ secret: String, _ flags: SecAccessControlCreateFlags) {
    let query =
      [
        kSecClass: kSecClassGenericPassword,
        kSecAttrService: service,
        kSecAttrAccount: "alice",
      ] as [CFString: Any]
    SecItemDelete(query as CFDictionary)
    var attributes = query
    attributes[kSecAttrAccessControl] = accessControl(flags)
    attributes[kSecValueData] = secret.data(using: .utf8)!
    print("saved: \(SecItemAdd(attributes as CFDictionary, nil))")
  }

  static func read(_ prompt: String, context: LAContext? = nil) -> String {
    var query: [String: Any] = [
      kSecClass as String: kSecClassGenericPassword,
      kSecAttrService as String: service,
      kSecAttrAccount as String: "alice",
      kSecReturnData as String: kCFBooleanTrue as Any,
      kSecMatchLimit as String: kSecMatchLimitOne,
    ]
    if let context = context {
      context.localizedReason = prompt
      query[kSecUseAuthenticationContext as String] = context
    } else {
      query[kSecUseOperationPrompt as String] = prompt
    }
    var dataTypeRef: CFTypeRef?
    let status = withUnsafeMutablePointer(to: &dataTypeRef) { SecItemCopyMatching(query as CFDictionary, $0) }
    switch status {
    case errSecSuccess: return String(data: dataTypeRef as! Data, encoding: .utf8)!
    case errSecUserCanceled: return "cancelled by the user (\(status))"
    case errSecAuthFailed: return "authentication failed (\(status))"
    case errSecItemNotFound: return "not found (\(status))"
    case errSecInteractionNotAllowed: return "interaction not allowed (\(status))"
    default: return "\(SecCopyErrorMessageString(status, nil)! as String) (\(status))"
    }
  }

  /// Whether there is an item, without asking for anything.
  static func exists() -> Bool {
    let context = LAContext()
    context.interactionNotAllowed = true
    let query =
      [
        kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: "alice",
        kSecUseAuthenticationContext: context,
      ] as [CFString: Any]
    let status = SecItemCopyMatching(query as CFDictionary, nil)
    return status == errSecSuccess || status == errSecInteractionNotAllowed
  }
}
