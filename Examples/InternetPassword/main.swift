// swift-format-ignore-file: NeverForceUnwrap
// Force-unwraps what cannot be nil here, as articles about the keychain do.

// A server's password that needs a finger or the passcode. It is read with a context, read again within the reuse
// window of the touch, and skipped in a broad search that must not prompt.

import LocalAuthentication

#if canImport(Darwin)
  import Security
#else
  import KeychainServices
#endif

let server = "www.example.com"

func check(_ status: OSStatus, _ what: String) {
  guard status != errSecSuccess else { return print(what) }
  print("\(what): \(SecCopyErrorMessageString(status, nil) as String? ?? "") (\(status))")
}

func base(_ account: String) -> [String: Any] {
  [
    kSecClass as String: kSecClassInternetPassword,
    kSecAttrServer as String: server,
    kSecAttrProtocol as String: kSecAttrProtocolHTTPS,
    kSecAttrAccount as String: account,
  ]
}

// 1. Add: there is no prompt, whatever protects the item.
let access = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, .userPresence, nil)!
var guarded = base("alice")
guarded[kSecAttrAccessControl as String] = access
guarded[kSecValueData as String] = "pine cone".data(using: .utf8)!
check(SecItemAdd(guarded as CFDictionary, nil), "stored the password of alice")

var open = base("newsletter")
open[kSecValueData as String] = "no secret at all".data(using: .utf8)!
check(SecItemAdd(open as CFDictionary, nil), "stored that of newsletter, which nobody guards")

// 2. Read with a context. It gives the reason for the prompt, and allows one touch to be reused for ten seconds.
func password(of account: String, _ context: LAContext) -> String {
  var query = base(account)
  query[kSecReturnAttributes as String] = true
  query[kSecReturnData as String] = true
  query[kSecUseAuthenticationContext as String] = context
  var result: CFTypeRef?
  let status = SecItemCopyMatching(query as CFDictionary, &result)
  guard status == errSecSuccess else { return "refused (\(status))" }
  guard let item = result as? [String: Any], let data = item[kSecValueData as String] as? Data,
    let password = String(data: data, encoding: .utf8)
  else { return "unexpected" }
  return password
}

let context = LAContext()
context.localizedReason = "read your password"
context.touchIDAuthenticationAllowableReuseDuration = 10
print("with a touch: \(password(of: "alice", context))")

// 3. A second context with a reuse window reuses that touch. A context without one would have to prompt, which is
// forbidden here.
let later = LAContext()
later.touchIDAuthenticationAllowableReuseDuration = 10
later.interactionNotAllowed = true
print("within the window: \(password(of: "alice", later))")

let strict = LAContext()
strict.interactionNotAllowed = true
print("without a window: \(password(of: "alice", strict))")

// 4. Search broadly, and skip the items that need a prompt.
let everything: [String: Any] = [
  kSecClass as String: kSecClassInternetPassword,
  kSecMatchLimit as String: kSecMatchLimitAll,
  kSecReturnAttributes as String: true,
  kSecReturnData as String: true,
  kSecUseAuthenticationUI as String: kSecUseAuthenticationUISkip,
]
var found: CFTypeRef?
check(SecItemCopyMatching(everything as CFDictionary, &found), "searched")
for item in found as? [[String: Any]] ?? [] {
  print("found \(item[kSecAttrAccount as String] ?? "?") at \(item[kSecAttrServer as String] ?? "?")")
}

// 5. Delete: there is no prompt.
check(SecItemDelete(base("alice") as CFDictionary), "deleted the password of alice")
check(SecItemDelete(base("newsletter") as CFDictionary), "deleted that of newsletter")
check(SecItemDelete(base("alice") as CFDictionary), "deleted it again")
