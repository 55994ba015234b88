import Foundation
import LocalAuthentication
import Synchronization
import Testing
import Vault
import VaultDriver
import Whorl

@Suite("Keychain calls and evaluations at the same time")
struct KeychainCallTests {
  private static let biometrics = LAPolicy.deviceOwnerAuthenticationWithBiometrics

  /// Runs a test with the machine's store as the shared one.
  private func sharing(_ machine: Machine, _ body: () async throws -> Void) async throws {
    await SharedStoreTurn.shared.take()
    SecretStore.useAsShared(machine.store)
    do {
      try await body()
    } catch {
      await SharedStoreTurn.shared.give()
      throw error
    }
    await SharedStoreTurn.shared.give()
  }

  /// Reads the item of this service; what a call answers, and the secret.
  private static func read(_ service: String, _ context: LAContext) -> (OSStatus, String?) {
    let query: [CFString: Any] = [
      kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecReturnData: true,
      kSecUseAuthenticationContext: context,
    ]
    var result: CFTypeRef?
    let status = SecItemCopyMatching(query as CFDictionary, &result)
    return (status, (result as? Data).map { String(decoding: $0, as: UTF8.self) })
  }

  @Test("a reply reads an item with its own context, and so does a task that it starts")
  func insideReply() async throws {
    let machine = try await Machine()
    try await machine.add("item", .biometryCurrentSet)
    let person = PersonAtPrompt(machine, [.press(.rightIndex)])
    let context = machine.context(person)
    try await sharing(machine) {
      let (reply, later) = await withCheckedContinuation { continuation in
        context.evaluatePolicy(Self.biometrics, localizedReason: "see") { success, _ in
          #expect(success)
          let read = Self.read("item", context)
          Task { continuation.resume(returning: (read, Self.read("item", context))) }
        }
      }
      #expect(reply == (errSecSuccess, "secret"))
      #expect(later == (errSecSuccess, "secret"))
    }
    #expect(person.heard == ["touch", "matched"])
  }

  @Test("many threads read through one context, and one touch is for all of them")
  func crowd() async throws {
    let machine = try await Machine()
    try await machine.add("item", .biometryAny)
    let person = PersonAtPrompt(machine, [.press(.rightIndex)])
    let context = machine.context(person)
    try await sharing(machine) {
      let answers = await withTaskGroup(of: Bool.self) { group in
        for _ in 1...12 { group.addTask { Self.read("item", context) == (errSecSuccess, "secret") } }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(answers == Array(repeating: true, count: 12))
    }
    #expect(person.heard == ["touch", "matched"])
  }

  @Test("a context that is invalidated while a call asks ends the call with errSecAuthFailed")
  func invalidatedDuringCopy() async throws {
    let machine = try await Machine()
    try await machine.add("item", .biometryAny)
    let held = Mutex<LAContext?>(nil)
    let person = PersonAtPrompt(machine, [.run { held.withLock { $0 }?.invalidate() }])
    let context = machine.context(person)
    held.withLock { $0 = context }
    try await sharing(machine) {
      #expect(Self.read("item", context) == (errSecAuthFailed, nil))
      #expect(Self.read("item", context) == (errSecAuthFailed, nil))
    }
    held.withLock { $0 = nil }
    #expect(person.heard == ["touch"])
  }

  @Test("two evaluations of one context at once both end, and one touch is for both")
  func twiceAtOnce() async throws {
    let machine = try await Machine()
    let person = PersonAtPrompt(machine, [.press(.rightIndex)])
    let context = machine.context(person)
    async let one = context.evaluate(Self.biometrics)
    async let other = context.evaluate(Self.biometrics)
    #expect(await [one, other] == [nil, nil])
    #expect(person.heard == ["touch", "matched"])
  }

  @Test("two contexts that evaluate at once each get a touch of their own")
  func twoContexts() async throws {
    let machine = try await Machine()
    let people = [PersonAtPrompt(machine, [.press(.rightIndex)]), PersonAtPrompt(machine, [.press(.rightIndex)])]
    async let one = machine.context(people[0]).evaluate(Self.biometrics)
    async let other = machine.context(people[1]).evaluate(Self.biometrics)
    #expect(await [one, other] == [nil, nil])
    for person in people { #expect(person.heard == ["touch", "matched"]) }
  }

  @Test("invalidate ends every evaluation of the context, and none of another's")
  func invalidateOne() async throws {
    let machine = try await Machine()
    let held = Mutex<LAContext?>(nil)
    let context = machine.context(PersonAtPrompt(machine, [.run { held.withLock { $0 }?.invalidate() }]))
    held.withLock { $0 = context }
    async let one = context.evaluate(Self.biometrics)
    async let other = context.evaluate(Self.biometrics)
    let ends = await [one, other]
    #expect(ends.contains(.appCancel))
    #expect(ends.allSatisfy { $0 == .appCancel || $0 == .invalidContext }, "\(ends)")
    held.withLock { $0 = nil }
    #expect(await machine.context(PersonAtPrompt(machine, [.press(.rightIndex)])).evaluate(Self.biometrics) == nil)
  }

  @Test("an evaluation with a task that is cancelled still ends")
  func cancelledTask() async throws {
    let machine = try await Machine()
    let person = PersonAtPrompt(machine, [.press(.rightIndex)])
    let context = machine.context(person)
    let evaluation = Task { await context.evaluate(Self.biometrics) }
    evaluation.cancel()
    #expect(await evaluation.value == nil)
  }

  @Test("several constraints without a word mean all of them, and with `or` one is enough")
  func combinations() async throws {
    let machine = try await Machine()
    let unsaid = try await machine.add("unsaid", [.biometryAny, .devicePasscode])
    let said = try await machine.add("said", [.biometryAny, .and, .devicePasscode])
    let either = try await machine.add("either", [.biometryAny, .or, .devicePasscode])
    let companion = try await machine.add("companion", [.biometryAny, .or, .companion])
    let finger = machine.context(PersonAtPrompt(machine, [.press(.rightIndex)]))
    #expect(await finger.evaluate(Self.biometrics) == nil)
    finger.interactionNotAllowed = true
    for both in [unsaid, said] {
      await #expect(throws: VaultError.interactionNotAllowed) { try await machine.read(both, in: finger) }
    }
    #expect(try await machine.read(either, in: finger) == "secret")
    #expect(try await machine.read(companion, in: finger) == "secret")
    for both in [unsaid, said] {
      let person = PersonAtPrompt(machine, [.press(.rightIndex)], passcodes: [Machine.passcode])
      #expect(try await machine.read(both, in: machine.context(person)) == "secret")
      #expect(person.heard == ["touch", "matched", "passcode 1"])
    }
  }

  @Test("a credential is no longer set in a context that was invalidated")
  func invalidCredential() async throws {
    let machine = try await Machine(fingers: [])
    let context = machine.context(PersonAtPrompt(machine))
    #expect(context.setCredential(Data("its own".utf8), type: .applicationPassword))
    context.invalidate()
    #expect(!context.isCredentialSet(.applicationPassword))
  }
}
