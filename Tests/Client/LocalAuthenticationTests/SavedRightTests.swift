import Foundation
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

@testable import LocalAuthentication

@Suite("Saved rights", .serialized, SharedStoreTrait())
struct SavedRightTests {
  private static let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
  private static let message = Data("message".utf8)

  @Test("a saved right's key and secret work only while it is authorized")
  func gate() async throws {
    let machine = try await Machine()
    let person = machine.share([touch])
    let saved = try await LARightStore.shared.saveRight(
      LARight(requirement: .biometryCurrentSet), identifier: "safe", secret: Data("gold".utf8))
    #expect(person.heard.isEmpty, "saving asks nobody")
    let right = try await LARightStore.shared.right(forIdentifier: "safe")
    #expect(right.state == .unknown)
    let refused = LAError.notInteractive.rawValue
    #expect(await failure { _ = try await right.secret.rawData } == refused)
    #expect(await failure { _ = try await right.key.sign(Self.message, algorithm: Self.algorithm) } == refused)
    try await right.authorize(localizedReason: "open the safe")
    #expect(try await right.secret.rawData == Data("gold".utf8))
    let signature = try await right.key.sign(Self.message, algorithm: Self.algorithm)
    try await right.key.publicKey.verify(Self.message, signature: signature, algorithm: Self.algorithm)
    #expect(
      await failure {
        try await saved.key.publicKey.verify(Data("other".utf8), signature: signature, algorithm: Self.algorithm)
      } == Int(errSecVerifyFailed))
    #expect(await failure { _ = try await saved.key.sign(Self.message, algorithm: Self.algorithm) } == refused)
    #expect(person.heard == ["touch", "matched"])
    await right.deauthorize()
    #expect(await failure { _ = try await right.secret.rawData } == refused)
    #expect(await failure { _ = try await right.key.sign(Self.message, algorithm: Self.algorithm) } == refused)
  }

  @Test("the key of a saved right decrypts and exchanges keys in the vault, with the algorithms that it lists")
  func keyUses() async throws {
    let machine = try await Machine()
    machine.share([touch, touch])
    let one = try await LARightStore.shared.saveRight(LARight(requirement: .biometry), identifier: "one")
    let two = try await LARightStore.shared.saveRight(LARight(requirement: .biometry), identifier: "two")
    try await one.authorize(localizedReason: "see")
    try await two.authorize(localizedReason: "see")
    let encryption = SecKeyAlgorithm.eciesEncryptionCofactorX963SHA256AESGCM
    #expect(one.key.publicKey.canEncrypt(using: encryption) && one.key.canDecrypt(using: encryption))
    #expect(one.key.canSign(using: Self.algorithm) && one.key.publicKey.canVerify(using: Self.algorithm))
    #expect(!one.key.canSign(using: .rsaSignatureRaw) && !one.key.canDecrypt(using: .rsaEncryptionPKCS1))
    let encrypted = try await one.key.publicKey.encrypt(Self.message, algorithm: encryption)
    #expect(try await one.key.decrypt(encrypted, algorithm: encryption) == Self.message)
    #expect(await failure { _ = try await two.key.decrypt(encrypted, algorithm: encryption) } == Int(errSecParam))
    #expect(two.state == .authorized, "a wrong ciphertext ends nothing")
    let exchange = SecKeyAlgorithm.ecdhKeyExchangeCofactorX963SHA256
    #expect(one.key.canExchangeKeys(using: exchange))
    let parameters: [AnyHashable: Any] = [SecKeyKeyExchangeParameter.requestedSize.rawValue as String: 40]
    let (first, second) = (try await one.key.publicKey.bytes, try await two.key.publicKey.bytes)
    #expect(first.count == 65)
    let agreed = try await one.key.exchangeKeys(publicKey: second, algorithm: exchange, parameters: parameters)
    #expect(agreed.count == 40)
    #expect(
      try await two.key.exchangeKeys(publicKey: first, algorithm: exchange, parameters: parameters) == agreed)
  }

  @Test("a saved right that is deallocated ends its authorization")
  func released() async throws {
    let machine = try await Machine()
    machine.share([touch])
    var right: LAPersistedRight? = try await LARightStore.shared.saveRight(
      LARight(), identifier: "safe", secret: Data("gold".utf8))
    try await right?.authorize(localizedReason: "see")
    let (key, secret) = try (#require(right?.key), #require(right?.secret))
    #expect(try await secret.rawData == Data("gold".utf8))
    weak let authorization = right?.authorization
    right = nil
    // A call that has just ended may keep it for a moment.
    for _ in 1...200 where authorization != nil { try await Task.sleep(for: .milliseconds(20)) }
    #expect(authorization == nil, "neither key nor secret keeps it")
    let refused = LAError.notInteractive.rawValue
    #expect(await failure { _ = try await secret.rawData } == refused)
    #expect(await failure { _ = try await key.sign(Self.message, algorithm: Self.algorithm) } == refused)
  }

  @Test("a change of the fingers loses saved rights of biometryCurrentSet, and makes other saved rights ask again")
  func changedSet() async throws {
    let machine = try await Machine()
    machine.share([touch, touch, touch])
    let store = LARightStore.shared
    let bound = try await store.saveRight(
      LARight(requirement: .biometryCurrentSet), identifier: "bound", secret: Data("gold".utf8))
    let free = try await store.saveRight(LARight(), identifier: "free", secret: Data("silver".utf8))
    try await bound.authorize(localizedReason: "see")
    try await free.authorize(localizedReason: "see")
    try await machine.enroll(.leftThumb)
    #expect(await failure { _ = try await bound.secret.rawData } != nil)
    #expect(bound.state == .notAuthorized)
    #expect(await failure { _ = try await free.key.sign(Self.message, algorithm: Self.algorithm) } != nil)
    #expect(free.state == .notAuthorized)
    #expect(
      await failure { try await bound.authorize(localizedReason: "see") } == LAError.biometryNotEnrolled.rawValue)
    #expect(await failure { _ = try await store.right(forIdentifier: "bound") } == Int(errSecItemNotFound))
    try await free.authorize(localizedReason: "see")
    #expect(try await free.secret.rawData == Data("silver".utf8))
    let again = try await store.saveRight(LARight(requirement: .biometryCurrentSet), identifier: "bound")
    #expect(await failure { _ = try await again.secret.rawData } == LAError.notInteractive.rawValue)
    try await store.removeRight(forIdentifier: "free")
    try await machine.unenroll(.leftThumb)
    try await store.removeRight(forIdentifier: "bound")
    #expect(try await machine.store.items(ItemSearch(groups: .all, states: [.living, .dead])).isEmpty)
  }

  @Test("locking the session ends the use of a saved right's key and secret, even if it is unlocked at once")
  func lockedSession() async throws {
    let machine = try await Machine()
    machine.share([touch])
    let right = try await LARightStore.shared.saveRight(
      LARight(requirement: .biometry), identifier: "safe", secret: Data("gold".utf8))
    try await right.authorize(localizedReason: "see")
    #expect(try await right.secret.rawData == Data("gold".utf8))
    await machine.vault.sessionsLocked()
    let refused = LAError.notInteractive.rawValue
    #expect(await failure { _ = try await right.secret.rawData } == refused)
    #expect(await failure { _ = try await right.key.sign(Self.message, algorithm: Self.algorithm) } == refused)
    #expect(right.state == .notAuthorized)
  }

  @Test("locking the store ends a saved right's authorization, even if it is unlocked before the next use")
  func lockedStore() async throws {
    let machine = try await Machine(classKeys: ClassKeys(firstUnlock: .passcode))
    machine.share([touch])
    let vault = machine.vault
    let right = try await LARightStore.shared.saveRight(LARight(), identifier: "safe", secret: Data("gold".utf8))
    try await right.authorize(localizedReason: "see")
    #expect(right.state == .authorized)
    try await vault.lock()
    try await Person(passcodes: [Machine.passcode]).with(vault) { try await vault.unlock(in: $0) }
    #expect(right.state == .notAuthorized)
    #expect(await failure { _ = try await right.secret.rawData } == LAError.notInteractive.rawValue)
  }

  @Test("an LARight is not authorized while the store is locked")
  func whileLocked() async throws {
    let machine = try await Machine(classKeys: ClassKeys(firstUnlock: .passcode))
    machine.share([touch])
    try await machine.vault.lock()
    let right = LARight(requirement: .biometry)
    try? await right.authorize(localizedReason: "see")
    #expect(right.state == .notAuthorized)
  }

  @Test("the end of the connection to the vault ends the authorization of LARights")
  func endOfConnection() async throws {
    let machine = try await Machine()
    let session = VaultSession(of: machine.vault)
    let store = SecretStore(service: session)
    store.defaultPrompt = PersonAtPrompt(machine, [touch, touch])
    SecretStore.useAsShared(store)
    let plain = LARight(requirement: .biometry)
    let right = try await LARightStore.shared.saveRight(LARight(), identifier: "safe", secret: Data("gold".utf8))
    try await right.authorize(localizedReason: "see")
    try await plain.authorize(localizedReason: "see")
    await session.close()
    #expect(await failure { _ = try await right.secret.rawData } == LAError.invalidContext.rawValue)
    #expect(right.state == .notAuthorized)
    #expect(plain.state == .notAuthorized)
  }

  @Test("LARightStore saves an identifier once, has no secret for a right without one, and forgets removed rights")
  func removal() async throws {
    let machine = try await Machine()
    machine.share([touch])
    let store = LARightStore.shared
    let first = try await store.saveRight(LARight(), identifier: "first")
    #expect(
      await failure { _ = try await store.saveRight(LARight(), identifier: "first") } == Int(errSecDuplicateItem))
    try await first.authorize(localizedReason: "see")
    #expect(await failure { _ = try await first.secret.rawData } == Int(errSecItemNotFound))
    #expect(first.state == .authorized)
    try await store.removeRight(first)
    #expect(first.state == .notAuthorized)
    #expect(await failure { _ = try await store.right(forIdentifier: "first") } == Int(errSecItemNotFound))
    #expect(await failure { try await store.removeRight(forIdentifier: "first") } == Int(errSecItemNotFound))
    for name in ["a", "b"] { _ = try await store.saveRight(LARight(), identifier: name, secret: Data()) }
    try await store.removeRight(forIdentifier: "a")
    #expect(await failure { _ = try await store.right(forIdentifier: "a") } == Int(errSecItemNotFound))
    _ = try await store.right(forIdentifier: "b")
    try await store.removeAllRights()
    try await store.removeAllRights()
    #expect(try await machine.store.items(ItemSearch(groups: .all)).isEmpty, "nothing is left")
  }

  @Test("saved rights of another access group are not found and not removed")
  func otherGroup() async throws {
    let machine = try await Machine()
    machine.share([touch])
    let store = LARightStore.shared
    _ = try await store.saveRight(LARight(), identifier: "safe", secret: Data("gold".utf8))
    // As if another program had saved it.
    let own = try await machine.store.items(ItemSearch(groups: .all))
    #expect(own.count == 2)
    let context = machine.store.makeContext()
    try await machine.store.update(
      own.map(\.id), ItemChange(attributes: [.accessGroup: .text("another")]), using: context)
    #expect(await failure { _ = try await store.right(forIdentifier: "safe") } == Int(errSecItemNotFound))
    #expect(await failure { try await store.removeRight(forIdentifier: "safe") } == Int(errSecItemNotFound))
    try await store.removeAllRights()
    #expect(try await machine.store.items(ItemSearch(groups: .all)).count == 2)
  }

  @Test("keychain calls give out neither key nor secret of a saved right unasked, and a planted right is refused")
  func attacks() async throws {
    let machine = try await Machine()
    let person = machine.share([.cancel])
    let right = try await LARightStore.shared.saveRight(LARight(), identifier: "safe", secret: Data("gold".utf8))
    for itemClass in [kSecClassKey, kSecClassGenericPassword] {
      let query: [CFString: Any] = [
        kSecClass: itemClass, kSecReturnData: true, kSecUseAuthenticationUI: kSecUseAuthenticationUIFail,
      ]
      var result: CFTypeRef?
      #expect(SecItemCopyMatching(query as CFDictionary, &result) != errSecSuccess)
      #expect(result == nil)
    }
    var found: CFTypeRef?
    let query: [CFString: Any] = [kSecClass: kSecClassKey, kSecReturnRef: true]
    try #require(SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess)
    let key = found as! SecKey
    #expect(SecKeyCreateSignature(key, Self.algorithm, Self.message as NSData, nil) == nil)
    #expect(person.heard == ["touch"], "the person is asked, and cancels")
    let quiet = machine.context(person)
    var silent = query
    silent[kSecUseAuthenticationContext] = quiet
    try #require(SecItemCopyMatching(silent as CFDictionary, &found) == errSecSuccess)
    let handle = found as! SecKey
    quiet.interactionNotAllowed = true
    // Passes the setting on to the context of the handle.
    _ = try quiet.authenticationContext()
    var problem: Unmanaged<CFError>?
    #expect(SecKeyCreateSignature(handle, Self.algorithm, Self.message as NSData, &problem) == nil)
    #expect(problem?.takeRetainedValue().code == LAError.notInteractive.rawValue)
    #expect(SecItemCopyMatching(silent as CFDictionary, &found) == errSecInteractionNotAllowed)
    #expect(person.heard == ["touch"])
    #expect(SecKeyCopyExternalRepresentation(key, nil) == nil, "the key never leaves the vault")
    // A program that calls itself the same can remove a right, but cannot put one there that asks for nothing.
    let items = try await machine.store.items(ItemSearch(groups: .all))
    try await LARightStore.shared.removeRight(right)
    for item in items {
      let planted = NewItem(try #require(item.itemClass), item.attributes)
      if item.itemClass == .key {
        _ = try await machine.store.addKey(planted, from: .generated(.ec(.p256)))
      } else {
        try await machine.store.add(planted, secret: SecretBytes(text: "\u{1}false"))
      }
    }
    #expect(
      await failure { _ = try await LARightStore.shared.right(forIdentifier: "safe") } == Int(errSecItemNotFound))
  }

  @Test("a planted saved right is refused if either of its two items has no requirement", arguments: [true, false])
  func planted(_ isKeyWeak: Bool) async throws {
    let machine = try await Machine()
    machine.share()
    let right = try await LARightStore.shared.saveRight(LARight(), identifier: "safe", secret: Data("gold".utf8))
    let items = try await machine.store.items(ItemSearch(groups: .all))
    try await LARightStore.shared.removeRight(right)
    for item in items {
      let isKey = item.itemClass == .key
      // The weak one asks for nothing. The other one fits it as well as it can.
      let strong = isKey ? try AccessControl([.privateKeyUsage]) : try AccessControl([.userPresence])
      let access = isKey == isKeyWeak ? AccessControl.none : strong
      let planted = NewItem(try #require(item.itemClass), item.attributes, access: access)
      if isKey {
        _ = try await machine.store.addKey(planted, from: .generated(.ec(.p256)))
      } else {
        try await machine.store.add(planted, secret: SecretBytes(text: "\u{1}false"))
      }
    }
    #expect(
      await failure { _ = try await LARightStore.shared.right(forIdentifier: "safe") } == Int(errSecItemNotFound))
  }

  @Test("a saved right that another program removes is not authorized, and one without an identifier is not saved")
  func removedByOthers() async throws {
    let machine = try await Machine()
    machine.share([touch])
    let right = try await LARightStore.shared.saveRight(LARight(), identifier: "safe", secret: Data("gold".utf8))
    try await right.authorize(localizedReason: "see")
    let other = try machine.anotherProgram()
    for itemClass in [ItemClass.key, .genericPassword] {
      _ = try await other.delete(ItemSearch(itemClass, groups: .all, states: [.living, .dead]))
    }
    #expect(right.state == .notAuthorized)
    #expect(await failure { try await right.checkCanAuthorize() } == Int(errSecItemNotFound))
    #expect(await failure { try await right.authorize(localizedReason: "see") } == Int(errSecItemNotFound))
    #expect(await failure { _ = try await LARightStore.shared.saveRight(LARight(), identifier: "") } != nil)
    #expect(try await machine.store.items(ItemSearch(groups: .all)).isEmpty)
  }

  @Test("the end of an earlier authorization of an LARight does not end a later one")
  func later() async throws {
    let machine = try await Machine()
    machine.share([touch, touch])
    let authorization = RightAuthorization(LAAuthenticationRequirement.biometry.access)
    try await authorization.authorize("see")
    let first = try await authorization.provenContext()
    #expect(first.options.interactionNotAllowed, "what it does not prove, it does not ask for")
    authorization.deauthorize()
    try await authorization.authorize("see")
    authorization.end(first)
    #expect(await authorization.currentPhase() == .authorized)
    authorization.deauthorize()
    #expect(await authorization.currentPhase() == .notAuthorized)
  }

  @Test("deallocating an LARight ends its authorization, even if the authorization is still referenced")
  func releasedMeanwhile() async throws {
    let machine = try await Machine()
    machine.share([touch])
    var right: LARight? = LARight(requirement: .biometry)
    try await right?.authorize(localizedReason: "see")
    let authorization = try #require(right?.authorization)
    right = nil
    #expect(await authorization.currentPhase() == .notAuthorized)
  }

  @Test("a refused use of an LARight ends its authorization, and other errors do not")
  func refusedUse() async throws {
    let machine = try await Machine()
    machine.share([touch, touch])
    for (refusal, other) in [
      (LAError(.authenticationFailed) as any Error, VaultError.itemGone as any Error),
      (VaultError.interactionNotAllowed, VaultError.duplicateItem),
    ] {
      let authorization = RightAuthorization(LAAuthenticationRequirement.biometry.access)
      try await authorization.authorize("see")
      let proof = RightProof(authorization)
      #expect(throws: (any Error).self) { try proof.use { _ in throw other } }
      _ = try await authorization.provenContext()
      #expect(throws: (any Error).self) { try proof.use { _ in throw refusal } }
      await #expect(throws: VaultError.interactionNotAllowed) { try await authorization.provenContext() }
    }
  }

  @Test("the key and the secret of a saved right cannot be used while the person is asked")
  func notYet() async throws {
    let machine = try await Machine()
    let press = machine.image.press(.rightIndex)
    let held = Mutex<LAPersistedRight?>(nil)
    let codes = Mutex<[Int?]>([])
    machine.share([
      .run {
        guard let right = held.withLock({ $0 }) else { return }
        let secretCode = await failure { _ = try await right.secret.rawData }
        let keyCode = await failure { _ = try await right.key.sign(Self.message, algorithm: Self.algorithm) }
        codes.withLock { $0 += [secretCode, keyCode] }
        try await press()
      }
    ])
    let right = try await LARightStore.shared.saveRight(
      LARight(requirement: .biometry), identifier: "safe", secret: Data("gold".utf8))
    held.withLock { $0 = right }
    try await right.authorize(localizedReason: "see")
    #expect(codes.withLock { $0 } == [LAError.notInteractive.rawValue, LAError.notInteractive.rawValue])
    #expect(try await right.secret.rawData == Data("gold".utf8))
    _ = try await right.key.sign(Self.message, algorithm: Self.algorithm)
    held.withLock { $0 = nil }
  }

  @Test("locking the session discards the context that proves an LARight's authorization")
  func discarded() async throws {
    let machine = try await Machine()
    machine.share([touch])
    let authorization = RightAuthorization(LAAuthenticationRequirement.biometry.access)
    try await authorization.authorize("see")
    let context = try await authorization.provenContext()
    await machine.vault.sessionsLocked()
    var isDiscarded = false
    for _ in 1...200 where !isDiscarded {
      do { _ = try await context.surroundings() } catch { isDiscarded = true }
      try await Task.sleep(for: .milliseconds(20))
    }
    #expect(isDiscarded)
  }

  @Test("a touch for one saved right opens no other")
  func separate() async throws {
    let machine = try await Machine()
    machine.share([touch])
    let store = LARightStore.shared
    let one = try await store.saveRight(LARight(), identifier: "one", secret: Data("1".utf8))
    let two = try await store.saveRight(LARight(), identifier: "two", secret: Data("2".utf8))
    try await one.authorize(localizedReason: "see")
    #expect(await failure { _ = try await two.secret.rawData } == LAError.notInteractive.rawValue)
    let sameAgain = try await store.right(forIdentifier: "one")
    #expect(await failure { _ = try await sameAgain.secret.rawData } == LAError.notInteractive.rawValue)
  }
}
