// swift-format-ignore-file: NeverForceUnwrap
// Force-unwraps what cannot be nil here, as articles about the keychain do.

// A secret that is bound to the fingers enrolled now. Somebody who enrols another finger later cannot read it.
//
//     bound-secret add        stores it without a prompt
//     bound-secret read       reads it without a context: the keychain asks for a finger
//     bound-secret evaluate   asks for a finger through an LAContext first, then reads the secret twice with it
//
// Run `whorl enroll left-thumb` between `add` and `read` to see the difference.

import LocalAuthentication

#if canImport(Darwin)
  import Security
#else
  import KeychainServices
#endif

let service = "org.example.bound-secret"
let account = "alice"

func boundToTheseFingers() -> SecAccessControl {
  var error: Unmanaged<CFError>?
  guard
    let access = SecAccessControlCreateWithFlags(
      kCFAllocatorDefault, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, .biometryCurrentSet, &error)
  else { fatalError("no access control: \(error!.takeRetainedValue())") }
  return access
}

func add(_ secret: String) -> OSStatus {
  let item: [String: Any] = [
    kSecClass as String: kSecClassGenericPassword,
    kSecAttrService as String: service,
    kSecAttrAccount as String: account,
    kSecAttrAccessControl as String: boundToTheseFingers(),
    kSecValueData as String: Data(secret.utf8),
  ]
  return SecItemAdd(item as CFDictionary, nil)
}

func read(with context: LAContext? = nil) -> (OSStatus, String?) {
  var query: [String: Any] = [
    kSecClass as String: kSecClassGenericPassword,
    kSecAttrService as String: service,
    kSecAttrAccount as String: account,
    kSecMatchLimit as String: kSecMatchLimitOne,
    kSecReturnData as String: true,
  ]
  if let context {
    query[kSecUseAuthenticationContext as String] = context
  } else {
    query[kSecUseOperationPrompt as String] = "see where the treasure is"
  }
  var result: CFTypeRef?
  let status = SecItemCopyMatching(query as CFDictionary, &result)
  return (status, (result as? Data).flatMap { String(data: $0, encoding: .utf8) })
}

func report(_ what: String, _ outcome: (status: OSStatus, secret: String?)) {
  switch outcome.status {
  case errSecSuccess: print("\(what): \(outcome.secret ?? "no text")")
  case errSecItemNotFound: print("\(what): no such item, or bound to fingers that have changed since")
  case errSecUserCanceled: print("\(what): cancelled")
  case let status: print("\(what): \(SecCopyErrorMessageString(status, nil) as String? ?? "") (\(status))")
  }
}

switch CommandLine.arguments.dropFirst().first {
case "add":
  switch add("behind the mirror") {
  case errSecSuccess: print("added")
  case errSecDuplicateItem: print("there is one already")
  case let status: print("not added: \(status)")
  }
case "read":
  report("read without a context", read())
case "evaluate":
  let context = LAContext()
  do {
    try await context.evaluateAccessControl(
      boundToTheseFingers(), operation: .useItem, localizedReason: "see where the treasure is")
    print("evaluated")
  } catch {
    print("not evaluated: \(error.localizedDescription)")
  }
  context.interactionNotAllowed = true
  report("read with the context", read(with: context))
  report("read once more", read(with: context))
  context.invalidate()
  report("read after the context was invalidated", read(with: context))
default:
  print("usage: bound-secret add | read | evaluate")
  exit(64)
}
