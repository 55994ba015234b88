import Glibc
import KeychainServices
import LocalAuthentication
import Testing
import VaultDriver
import Whorl
import WhorlTesting

@Suite("A throw-away store for the tests of other programs")
struct TemporaryStoreTests {
  private static let programs = ReaderBuild.program.split(separator: "/").dropLast().map { "/\($0)" }.joined()

  private func make(passcode: String? = "1234", _ fingers: Finger...) async throws -> TemporaryStore {
    try await TemporaryStore(passcode: passcode, enrolled: fingers, programs: Self.programs)
  }

  private func put(_ flags: AccessControl.Flags, in store: SecretStore) async throws -> ItemID {
    let item = NewItem(.genericPassword, [.service: .text("token")], access: try AccessControl(flags))
    return try await store.add(item, secret: SecretBytes(copying: Array("abc".utf8).span)).id
  }

  private func read(_ id: ItemID, from store: SecretStore) async throws -> String {
    let released = try await store.secrets(of: [id], reason: "read the token")
    return released[0].secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
  }

  @Test("a TemporaryStore releases a bound item to one of its enrolled fingers, and to no other finger")
  func touch() async throws {
    let temporary = try await make(.rightIndex)
    let id = try await put(.biometryCurrentSet, in: temporary.store)
    #expect(try await read(id, from: temporary.store) == "abc")
    temporary.person.willRespond(.touch(by: .somebodyElse), .mistake, .touch(by: .finger(.leftThumb)))
    await #expect(throws: VaultError.authenticationFailed) { try await read(id, from: temporary.store) }
    temporary.person.willRespond(.unreadableTouch, .touch(by: .somebodyElse))
    #expect(try await read(id, from: temporary.store) == "abc")
    #expect(temporary.person.touchesWanted == 7)
  }

  @Test("a TemporaryStore lets the simulated person cancel, and choose the passcode")
  func person() async throws {
    let temporary = try await make(.rightIndex)
    let id = try await put(.userPresence, in: temporary.store)
    temporary.person.willRespond(.cancel)
    await #expect(throws: VaultError.cancelled) { try await read(id, from: temporary.store) }
    temporary.person.willRespond(.mistake, .fallback, .mistake)
    #expect(try await read(id, from: temporary.store) == "abc")
  }

  @Test("a TemporaryStore invalidates bound items when a finger is added or removed")
  func changedFingers() async throws {
    let temporary = try await make(passcode: nil, .rightIndex)
    let first = try await put(.biometryCurrentSet, in: temporary.store)
    try await temporary.enroll(.leftIndex)
    await #expect(throws: VaultError.itemGone) {
      try await read(first, from: temporary.store)
    }
    let second = try await put(.biometryCurrentSet, in: temporary.store)
    try await temporary.unenroll(.rightIndex)
    await #expect(throws: VaultError.itemGone) {
      try await read(second, from: temporary.store)
    }
    let third = try await put(.biometryAny, in: temporary.store)
    #expect(try await read(third, from: temporary.store) == "abc")
  }
}

@Suite("Keychain Services and LocalAuthentication over a throw-away store", SharedStoreTrait(), .serialized)
struct SharedTemporaryStoreTests {
  @Test("keychain calls and LAContext over a TemporaryStore ask its simulated person, whose touch gives the secret")
  func calls() async throws {
    let programs = ReaderBuild.program.split(separator: "/").dropLast().map { "/\($0)" }.joined()
    let temporary = try await TemporaryStore(enrolled: [.rightIndex], programs: programs)
    SecretStore.useAsShared(temporary.store)
    defer { SecretStore.useAsShared(nil) }
    let item: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: "token"]
    let control = try #require(
      SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .biometryCurrentSet, nil))
    var adding = item
    adding[kSecAttrAccessControl] = control
    adding[kSecValueData] = Data("abc".utf8)
    #expect(SecItemAdd(adding as CFDictionary, nil) == errSecSuccess)
    func read(in context: LAContext) -> (OSStatus, Data?) {
      var query = item
      query[kSecReturnData] = true
      query[kSecUseAuthenticationContext] = context
      var result: CFTypeRef?
      let status = SecItemCopyMatching(query as CFDictionary, &result)
      return (status, result as? Data)
    }
    #expect(read(in: LAContext()) == (errSecSuccess, Data("abc".utf8)))
    #expect(temporary.person.touchesWanted == 1)
    let context = LAContext()
    #expect(try await context.evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "sign in"))
    #expect(read(in: context) == (errSecSuccess, Data("abc".utf8)))
    #expect(temporary.person.touchesWanted == 2, "the evaluation is enough for the call")
    temporary.person.willRespond(.cancel)
    #expect(read(in: LAContext()) == (errSecUserCanceled, nil))
    temporary.person.willRespond(.cancel)
    await #expect(throws: LAError.self) {
      try await LAContext().evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "sign in")
    }
  }
}
