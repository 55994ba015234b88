// swift-format-ignore-file: NeverForceUnwrap, NeverUseForceTry
// As articles write it: what cannot be nil here is unwrapped.

import Foundation
import Security

// A simple wrapper as in many articles: texts under a key, in one service.

final class KeychainWrapper {
  enum KeychainError: Error, Equatable {
    case noPassword
    case unexpectedPasswordData
    case unhandledError(status: OSStatus)
  }

  let service: String

  init(service: String = Bundle.main.bundleIdentifier ?? "org.example.published-code") {
    self.service = service
  }

  private func query(for key: String) -> [String: Any] {
    return [
      kSecClass as String: kSecClassGenericPassword,
      kSecAttrService as String: service,
      kSecAttrAccount as String: key,
    ]
  }

  func save(_ value: String, for key: String) throws {
    guard let data = value.data(using: .utf8) else { throw KeychainError.unexpectedPasswordData }
    var newItem = query(for: key)
    newItem[kSecValueData as String] = data
    newItem[kSecAttrAccessible as String] = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
    let status = SecItemAdd(newItem as CFDictionary, nil)
    if status == errSecDuplicateItem {
      try update(data, for: key)
    } else if status != errSecSuccess {
      throw KeychainError.unhandledError(status: status)
    }
  }

  private func update(_ data: Data, for key: String) throws {
    let attributes: [String: Any] = [kSecValueData as String: data]
    let status = SecItemUpdate(query(for: key) as CFDictionary, attributes as CFDictionary)
    guard status != errSecItemNotFound else { throw KeychainError.noPassword }
    guard status == errSecSuccess else { throw KeychainError.unhandledError(status: status) }
  }

  func read(_ key: String) throws -> String {
    var search = query(for: key)
    search[kSecMatchLimit as String] = kSecMatchLimitOne
    search[kSecReturnAttributes as String] = true
    search[kSecReturnData as String] = true
    var item: CFTypeRef?
    let status = SecItemCopyMatching(search as CFDictionary, &item)
    guard status != errSecItemNotFound else { throw KeychainError.noPassword }
    guard status == errSecSuccess else { throw KeychainError.unhandledError(status: status) }
    guard let existingItem = item as? [String: Any],
      let data = existingItem[kSecValueData as String] as? Data,
      let value = String(data: data, encoding: .utf8)
    else { throw KeychainError.unexpectedPasswordData }
    return value
  }

  func delete(_ key: String) throws {
    let status = SecItemDelete(query(for: key) as CFDictionary)
    guard status == errSecSuccess || status == errSecItemNotFound else {
      throw KeychainError.unhandledError(status: status)
    }
  }

  func allKeys() -> [String] {
    let search: [String: Any] = [
      kSecClass as String: kSecClassGenericPassword,
      kSecAttrService as String: service,
      kSecMatchLimit as String: kSecMatchLimitAll,
      kSecReturnAttributes as String: kCFBooleanTrue!,
    ]
    var result: AnyObject?
    guard SecItemCopyMatching(search as CFDictionary, &result) == noErr else { return [] }
    return (result as? [[String: Any]] ?? []).compactMap { $0[kSecAttrAccount as String] as? String }
  }
}

func useWrapper() {
  let keychain = KeychainWrapper(service: "org.example.wrapper")
  do {
    try keychain.save("first", for: "token")
    print("saved: \(try keychain.read("token"))")
    try keychain.save("second", for: "token")
    print("saved again: \(try keychain.read("token"))")
    try keychain.save("other", for: "refresh")
    print("keys: \(keychain.allKeys().sorted().joined(separator: " "))")
    try keychain.delete("token")
    try keychain.delete("token")
    print("keys: \(keychain.allKeys().joined(separator: " "))")
    _ = try keychain.read("token")
  } catch KeychainWrapper.KeychainError.noPassword {
    print("no password")
  } catch {
    print("unexpected: \(error)")
  }
}
