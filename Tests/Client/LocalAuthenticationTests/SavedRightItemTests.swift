import Foundation
import Presence
import Primitives
import SecretModel
import Security
import Testing
import Vault
import VaultDriver
import Whorl

@testable import LocalAuthentication

@Suite("The items of saved rights", .serialized, SharedStoreTrait())
struct SavedRightItemTests {
  @Test("a new passcode ends the authorization of LARights by the old one, and is then asked for")
  func changedPasscode() async throws {
    let machine = try await Machine(fingers: [])
    let person = machine.share(passcodes: [Machine.passcode, Machine.passcode, "another one"])
    let saved = try await LARightStore.shared.saveRight(LARight(), identifier: "safe")
    let plain = LARight()
    for right in [saved, plain] { try await right.authorize(localizedReason: "see") }
    let other = try machine.image.store.open()
    let changer = Person(passcodes: [Machine.passcode], newPasscode: "another one")
    try await changer.with(other) { try await other.changePasscode(in: $0) }
    #expect(saved.state == .notAuthorized)
    try await plain.authorize(localizedReason: "see")
    #expect(person.heard.filter { $0.hasPrefix("passcode") }.count == 3)
    #expect(plain.state == .authorized)
  }

  @Test("saving an LARight again replaces the key of an interrupted save, and a failed save leaves nothing")
  func unfinished() async throws {
    let machine = try await Machine(fingers: [])
    machine.share()
    let store = LARightStore.shared
    _ = try await store.saveRight(LARight(), identifier: "safe")
    _ = try await machine.anotherProgram().delete(ItemSearch(.genericPassword, groups: .all))
    _ = try await store.saveRight(LARight(), identifier: "safe")
    #expect(try await machine.store.items(ItemSearch(.key, groups: .all)).count == 1)
    let long = Data(count: NewItem.secretLimit)
    #expect(await failure { _ = try await store.saveRight(LARight(), identifier: "long", secret: long) } != nil)
    #expect(try await machine.store.items(ItemSearch(groups: .all)).count == 2)
  }

  @Test("removing a saved right, also an unreadable one, ends its authorization at once and keeps other items")
  func removed() async throws {
    let machine = try await Machine()
    machine.share([touch])
    let store = LARightStore.shared
    let right = try await store.saveRight(LARight(requirement: .biometry), identifier: "safe")
    let bound = try await store.saveRight(LARight(requirement: .biometryCurrentSet), identifier: "bound")
    try await right.authorize(localizedReason: "see")
    let proof = try await right.authorization.provenContext()
    try await store.removeRight(right)
    await #expect(throws: VaultError.contextInvalidated) { try await proof.surroundings() }
    try await machine.enroll(.leftThumb)
    try await store.removeRight(bound)
    let own: [CFString: Any] = [
      kSecClass: kSecClassGenericPassword, kSecAttrAccount: "own", kSecValueData: Data("secret".utf8),
    ]
    #expect(SecItemAdd(own as CFDictionary, nil) == errSecSuccess)
    _ = try await store.saveRight(LARight(), identifier: "third")
    try await store.removeAllRights()
    let left = try await machine.store.items(ItemSearch(groups: .all, states: [.living, .dead]))
    #expect(left.map { $0.attributes[.account] } == [.text("own")])
  }
}
