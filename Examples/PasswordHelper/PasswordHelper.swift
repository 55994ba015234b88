#if canImport(Darwin)
  import Security
#else
  import KeychainServices
#endif

/// A typical keychain wrapper: passwords by service and account.
enum PasswordHelper {
  enum Failure: Error {
    case notText
    case status(OSStatus)
  }

  /// Stores a password. Replaces an existing one.
  static func set(_ password: String, service: String, account: String) throws {
    let data = Data(password.utf8)
    var item = query(service, account)
    item[kSecValueData] = data
    item[kSecAttrAccessible] = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
    var status = SecItemAdd(item as CFDictionary, nil)
    if status == errSecDuplicateItem {
      status = SecItemUpdate(query(service, account) as CFDictionary, [kSecValueData: data] as CFDictionary)
    }
    guard status == errSecSuccess else { throw Failure.status(status) }
  }

  /// Returns the password, or nil if there is none.
  static func get(service: String, account: String) throws -> String? {
    var item = query(service, account)
    item[kSecReturnData] = kCFBooleanTrue
    item[kSecMatchLimit] = kSecMatchLimitOne
    var result: AnyObject?
    switch SecItemCopyMatching(item as CFDictionary, &result) {
    case errSecSuccess:
      guard let data = result as? Data, let text = String(data: data, encoding: .utf8) else { throw Failure.notText }
      return text
    case errSecItemNotFound: return nil
    case let status: throw Failure.status(status)
    }
  }

  /// Removes the password, if there is one.
  static func delete(service: String, account: String) throws {
    let status = SecItemDelete(query(service, account) as CFDictionary)
    guard status == errSecSuccess || status == errSecItemNotFound else { throw Failure.status(status) }
  }

  private static func query(_ service: String, _ account: String) -> [CFString: Any] {
    [kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account]
  }
}
