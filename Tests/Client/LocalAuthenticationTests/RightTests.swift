import Foundation
import LocalAuthentication
import Presence
import Primitives
import SecretModel
import Synchronization
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore
import Whorl

extension Machine {
  /// Makes this machine's store the shared one, with a person at its prompts.
  @discardableResult
  func share(_ deeds: [PersonAtPrompt.Deed] = [], passcodes: [String] = []) -> PersonAtPrompt {
    let person = PersonAtPrompt(self, deeds, passcodes: passcodes)
    store.defaultPrompt = person
    SecretStore.useAsShared(store)
    return person
  }
}

/// The code that a call ended with; nil for success.
func failure(_ call: () async throws -> Void) async -> Int? {
  do {
    try await call()
    return nil
  } catch {
    return (error as NSError).code
  }
}

let touch = PersonAtPrompt.Deed.press(.rightIndex)

@Suite("Rights", .serialized, SharedStoreTrait())
struct RightTests {
  @Test("an LARight is unknown, then authorized by one touch, then not authorized")
  func states() async throws {
    let machine = try await Machine()
    let person = machine.share([touch])
    let right = LARight()
    #expect(right.state == .unknown)
    try await right.checkCanAuthorize()
    #expect(right.state == .unknown, "a check changes nothing")
    try await right.authorize(localizedReason: "see")
    #expect(right.state == .authorized)
    try await right.authorize(localizedReason: "see again")
    #expect(person.heard == ["touch", "matched"], "an authorized right does not ask")
    #expect(machine.store.changes.isWaiting)
    await right.deauthorize()
    #expect(right.state == .notAuthorized)
    #expect(!machine.store.changes.isWaiting, "there is nothing left to end")
  }

  @Test("an LARight is authorizing while the person is asked, and deauthorizing ends that with appCancel")
  func authorizing() async throws {
    let machine = try await Machine()
    let held = Mutex<LARight?>(nil)
    let seen = Mutex<LARight.State?>(nil)
    machine.share([
      .run {
        let right = held.withLock { $0 }
        seen.withLock { $0 = right?.state }
        await right?.deauthorize()
      }
    ])
    let right = LARight(requirement: .biometry)
    held.withLock { $0 = right }
    #expect(await failure { try await right.authorize(localizedReason: "see") } == LAError.appCancel.rawValue)
    #expect(seen.withLock { $0 } == .authorizing)
    #expect(right.state == .notAuthorized)
    held.withLock { $0 = nil }
  }

  @Test("three touches of a stranger leave an LARight not authorized")
  func stranger() async throws {
    let machine = try await Machine()
    machine.share([.pressStranger, .pressStranger, .pressStranger])
    let right = LARight(requirement: .biometry)
    #expect(
      await failure { try await right.authorize(localizedReason: "see") } == LAError.authenticationFailed.rawValue)
    #expect(right.state == .notAuthorized)
  }

  @Test("an LARight refuses an empty reason before anything is asked")
  func emptyReason() async throws {
    let machine = try await Machine()
    let person = machine.share([touch])
    #expect(await failure { try await LARight().authorize(localizedReason: " ") } != nil)
    #expect(person.heard.isEmpty)
  }

  @Test("an LARight without enrolled fingers refuses biometry, and takes the passcode by default")
  func noFinger() async throws {
    let machine = try await Machine(fingers: [])
    machine.share(passcodes: [Machine.passcode])
    let biometry = LARight(requirement: .biometry)
    #expect(await failure { try await biometry.checkCanAuthorize() } == LAError.biometryNotEnrolled.rawValue)
    let right = LARight(requirement: .default)
    try await right.authorize(localizedReason: "see")
    #expect(right.state == .authorized)
    machine.share(passcodes: [Machine.passcode])
    let fallback = LARight(requirement: .biometry(fallback: .devicePasscode))
    try await fallback.authorize(localizedReason: "see")
    #expect(fallback.state == .authorized)
  }

  @Test("a change of the fingers ends an LARight's authorization, for good with biometryCurrentSet")
  func changedSet() async throws {
    let machine = try await Machine()
    machine.share([touch, touch, touch])
    let right = LARight(requirement: .biometry)
    let bound = LARight(requirement: .biometryCurrentSet)
    try await right.authorize(localizedReason: "see")
    try await bound.authorize(localizedReason: "see")
    try await machine.enroll(.leftThumb)
    #expect(right.state == .notAuthorized)
    #expect(bound.state == .notAuthorized)
    try await right.authorize(localizedReason: "see")
    #expect(right.state == .authorized)
    #expect(
      await failure { try await bound.authorize(localizedReason: "see") } == LAError.biometryNotEnrolled.rawValue)
    try await machine.unenroll(.leftThumb)
    #expect(await failure { try await bound.checkCanAuthorize() } == LAError.biometryNotEnrolled.rawValue)
  }

  @Test("locking the session ends an LARight's authorization, even if it is unlocked before the next use")
  func lockedSession() async throws {
    let machine = try await Machine()
    machine.share([touch, touch])
    let right = LARight(requirement: .biometry)
    try await right.authorize(localizedReason: "see")
    await machine.vault.sessionsLocked()
    #expect(try await machine.store.isUnlocked(), "it is unlocked again")
    #expect(right.state == .notAuthorized)
    try await right.authorize(localizedReason: "see")
    #expect(right.state == .authorized)
  }

  @Test("an LARight asks the person again after the session was locked")
  func anew() async throws {
    let machine = try await Machine()
    let person = machine.share([touch, touch])
    let right = LARight(requirement: .biometry)
    try await right.authorize(localizedReason: "see")
    await machine.vault.sessionsLocked()
    try await right.authorize(localizedReason: "see")
    #expect(person.heard == ["touch", "matched", "touch", "matched"])
    #expect(right.state == .authorized)
  }

  @Test("an LARight is not authorized if the session is locked or a finger removed while the person is asked")
  func changedMeanwhile() async throws {
    let machine = try await Machine(fingers: [.rightIndex, .leftThumb])
    let press = machine.image.press(.rightIndex)
    machine.share([
      .run {
        await machine.vault.sessionsLocked()
        try await press()
      },
      .run {
        try await machine.unenroll(.leftThumb)
        try await press()
      },
    ])
    for _ in 1...2 {
      let right = LARight(requirement: .biometry)
      try? await right.authorize(localizedReason: "see")
      #expect(right.state == .notAuthorized)
    }
  }

  @Test("an authorized LARight stays authorized while it is authorized again")
  func again() async throws {
    let machine = try await Machine()
    machine.share([touch])
    let right = LARight(requirement: .biometry)
    try await right.authorize(localizedReason: "see")
    let others = Task { for _ in 1...20 { try await right.authorize(localizedReason: "see") } }
    for _ in 1...20 { #expect(right.state == .authorized) }
    try await others.value
  }

  @Test("all authorized LARights lose their authorization when the session is locked")
  func manyRights() async throws {
    let machine = try await Machine()
    machine.share(Array(repeating: touch, count: 3))
    let rights = (1...3).map { _ in LARight(requirement: .biometry) }
    for right in rights { try await right.authorize(localizedReason: "see") }
    await machine.vault.sessionsLocked()
    #expect(rights.map(\.state) == Array(repeating: .notAuthorized, count: 3))
  }

  @Test("the completion-handler forms of LARight check, authorize and deauthorize")
  func completions() async throws {
    let machine = try await Machine()
    machine.share([touch])
    let right = LARight()
    right.tag = 7
    let errors = await withCheckedContinuation { continuation in
      right.checkCanAuthorize { first in
        right.authorize(localizedReason: "see") { second in
          let isAuthorized = right.state == .authorized
          right.deauthorize { continuation.resume(returning: (first == nil, second == nil, isAuthorized)) }
        }
      }
    }
    #expect(errors == (true, true, true))
    #expect(right.state == .notAuthorized)
    #expect(right.tag == 7)
  }

  @Test("a completion handler of an LARight may block in a keychain call with a new context")
  func blockingHandler() async throws {
    let machine = try await Machine()
    try await machine.add("item", .biometryAny)
    machine.share([touch, touch])
    let status = await withCheckedContinuation { continuation in
      LARight(requirement: .biometry).authorize(localizedReason: "see") { _ in
        let query: [CFString: Any] = [
          kSecClass: kSecClassGenericPassword, kSecAttrService: "item", kSecReturnData: true,
          kSecUseAuthenticationContext: LAContext(),
        ]
        var result: CFTypeRef?
        continuation.resume(returning: SecItemCopyMatching(query as CFDictionary, &result))
      }
    }
    #expect(status == errSecSuccess)
  }
}
