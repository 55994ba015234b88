import Foundation
import LocalAuthentication
import Presence
import Primitives
import Synchronization
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore
import Whorl

@Suite("Keychain calls with a context", .serialized, SharedStoreTrait())
struct KeychainCallTests {
  private static let biometrics = LAPolicy.deviceOwnerAuthenticationWithBiometrics

  /// Reads the item of this service. Returns the status and the secret.
  private static func read(_ service: String, _ context: LAContext) -> (OSStatus, String?) {
    let query: [CFString: Any] = [
      kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecReturnData: true,
      kSecUseAuthenticationContext: context,
    ]
    var result: CFTypeRef?
    let status = SecItemCopyMatching(query as CFDictionary, &result)
    return (status, (result as? Data).map { String(decoding: $0, as: UTF8.self) })
  }

  @Test("a reply of evaluatePolicy reads an item with its context, and so does a task that the reply starts")
  func insideReply() async throws {
    let machine = try await Machine()
    SecretStore.useAsShared(machine.store)
    try await machine.add("item", .biometryCurrentSet)
    let person = PersonAtPrompt(machine, [.press(.rightIndex)])
    let context = machine.context(person)
    let (reply, later) = await withCheckedContinuation { continuation in
      context.evaluatePolicy(Self.biometrics, localizedReason: "see") { success, _ in
        #expect(success)
        let read = Self.read("item", context)
        Task { continuation.resume(returning: (read, Self.read("item", context))) }
      }
    }
    #expect(reply == (errSecSuccess, "secret"))
    #expect(later == (errSecSuccess, "secret"))
    #expect(person.heard == ["touch", "matched"])
  }

  @Test("keychain reads of many threads through one context share one touch")
  func crowd() async throws {
    let machine = try await Machine()
    SecretStore.useAsShared(machine.store)
    try await machine.add("item", .biometryAny)
    let person = PersonAtPrompt(machine, [.press(.rightIndex)])
    let context = machine.context(person)
    let answers = await withTaskGroup(of: Bool.self) { group in
      for _ in 1...12 { group.addTask { Self.read("item", context) == (errSecSuccess, "secret") } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers == Array(repeating: true, count: 12))
    #expect(person.heard == ["touch", "matched"])
  }

  @Test("a keychain call whose context is invalidated while the person is asked ends with errSecAuthFailed")
  func invalidatedDuringCopy() async throws {
    let machine = try await Machine()
    SecretStore.useAsShared(machine.store)
    try await machine.add("item", .biometryAny)
    let held = Mutex<LAContext?>(nil)
    let person = PersonAtPrompt(machine, [.run { held.withLock { $0 }?.invalidate() }])
    let context = machine.context(person)
    held.withLock { $0 = context }
    #expect(Self.read("item", context) == (errSecAuthFailed, nil))
    #expect(Self.read("item", context) == (errSecAuthFailed, nil))
    held.withLock { $0 = nil }
    #expect(person.heard == ["touch"])
  }
}
