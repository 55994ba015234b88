import Foundation
import LocalAuthentication
import Presence
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore
import Whorl

@Suite("Calls with a context that was satisfied before")
struct SatisfiedContextTests {
  private static let biometrics = LAPolicy.deviceOwnerAuthenticationWithBiometrics

  @Test("a context satisfied by evaluatePolicy reads without a prompt until invalidated, also an hour later")
  func afterPolicy() async throws {
    let machine = try await Machine()
    let bound = try await machine.add("bound", .biometryCurrentSet)
    let present = try await machine.add("present", .userPresence)
    let person = PersonAtPrompt(machine, [.press(.rightIndex)])
    let context = machine.context(person)
    #expect(await context.evaluate(Self.biometrics) == nil)
    context.interactionNotAllowed = true
    for _ in 1...2 {
      #expect(try await machine.read(bound, in: context) == "secret")
      #expect(try await machine.read(present, in: context) == "secret")
    }
    machine.clock.advance(seconds: 3600)
    #expect(try await machine.read(bound, in: context) == "secret", "it does not run out")
    #expect(person.heard == ["touch", "matched"])
    context.invalidate()
    await #expect(throws: VaultError.contextInvalidated) { try await machine.read(bound, in: context) }
  }

  @Test("a context satisfied by a passcode opens only what a passcode may open")
  func afterPasscode() async throws {
    let machine = try await Machine(fingers: [.rightIndex])
    let bound = try await machine.add("bound", .biometryCurrentSet)
    let present = try await machine.add("present", .userPresence)
    let coded = try await machine.add("coded", .devicePasscode)
    let person = PersonAtPrompt(machine, [.pressStranger, .fallback], passcodes: [Machine.passcode])
    let context = machine.context(person)
    #expect(await context.evaluate(.deviceOwnerAuthentication) == nil)
    context.interactionNotAllowed = true
    #expect(try await machine.read(present, in: context) == "secret")
    #expect(try await machine.read(coded, in: context) == "secret")
    await #expect(throws: VaultError.interactionNotAllowed) { try await machine.read(bound, in: context) }
  }

  @Test("a context satisfied by a finger does not open an item that needs the passcode")
  func fingerIsNoPasscode() async throws {
    let machine = try await Machine()
    let coded = try await machine.add("coded", .devicePasscode)
    let context = machine.context(PersonAtPrompt(machine, [.press(.rightIndex)]))
    #expect(await context.evaluate(Self.biometrics) == nil)
    context.interactionNotAllowed = true
    await #expect(throws: VaultError.interactionNotAllowed) { try await machine.read(coded, in: context) }
  }

  @Test(
    "a context satisfied by evaluateAccessControl reads without a prompt, for every access control",
    arguments: [
      SecAccessControlCreateFlags.userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode,
      [.biometryCurrentSet, .devicePasscode], [.biometryAny, .or, .devicePasscode],
    ])
  func afterAccessControl(flags: SecAccessControlCreateFlags) async throws {
    let machine = try await Machine()
    let control = try #require(SecAccessControl.of(flags))
    let item = try await machine.add("item", control.access.flags)
    let person = PersonAtPrompt(machine, [.press(.rightIndex)], passcodes: [Machine.passcode])
    let context = machine.context(person)
    let code = await outcome {
      try await context.evaluateAccessControl(control, operation: .useItem, localizedReason: "see")
    }
    #expect(code == nil)
    #expect(!person.heard.isEmpty)
    context.interactionNotAllowed = true
    #expect(try await machine.read(item, in: context) == "secret")
  }

  @Test("an access control without a constraint asks for nothing")
  func openControl() async throws {
    let machine = try await Machine(fingers: [])
    let person = PersonAtPrompt(machine)
    let control = try #require(SecAccessControl.of([]))
    #expect(
      try await machine.context(person).evaluateAccessControl(control, operation: .useItem, localizedReason: "see"))
    #expect(person.heard.isEmpty)
  }

  @Test("a context asks at its first read of an item, and not at the next read")
  func afterRead() async throws {
    let machine = try await Machine()
    let item = try await machine.add("item", .biometryAny)
    let person = PersonAtPrompt(machine, [.press(.rightIndex)])
    let context = machine.context(person)
    #expect(try await machine.read(item, in: context) == "secret")
    context.interactionNotAllowed = true
    #expect(try await machine.read(item, in: context) == "secret")
    #expect(person.heard == ["touch", "matched"])
  }

  @Test("a context satisfied by a finger has to ask again after a change of the fingers, for bound items as well")
  func changedSet() async throws {
    let machine = try await Machine()
    let item = try await machine.add("item", .biometryAny)
    let lost = try await machine.add("lost", .biometryCurrentSet)
    let context = machine.context(PersonAtPrompt(machine, [.press(.rightIndex)]))
    #expect(await context.evaluate(Self.biometrics) == nil)
    try await machine.enroll(.leftThumb)
    let bound = try await machine.add("bound", .biometryCurrentSet)
    context.interactionNotAllowed = true
    for id in [item, bound] {
      await #expect(throws: VaultError.interactionNotAllowed) { try await machine.read(id, in: context) }
    }
    await #expect(throws: VaultError.itemGone) { try await machine.read(lost, in: context) }
    #expect(await context.evaluate(Self.biometrics) == .notInteractive)
  }

  @Test("a context has to ask even if another context was satisfied")
  func anotherContext() async throws {
    let machine = try await Machine()
    let item = try await machine.add("item", .biometryAny)
    let satisfied = machine.context(PersonAtPrompt(machine, [.press(.rightIndex)]))
    #expect(await satisfied.evaluate(Self.biometrics) == nil)
    let other = machine.context(PersonAtPrompt(machine))
    other.interactionNotAllowed = true
    await #expect(throws: VaultError.interactionNotAllowed) { try await machine.read(item, in: other) }
  }

  @Test("an application password set in a context is used without a prompt, and a wrong one opens nothing")
  func applicationPassword() async throws {
    let machine = try await Machine(fingers: [])
    let flags: AccessControl.Flags = .applicationPassword
    let writer = machine.context(PersonAtPrompt(machine))
    #expect(!writer.isCredentialSet(.applicationPassword))
    #expect(writer.setCredential(Data("of its own".utf8), type: .applicationPassword))
    #expect(writer.isCredentialSet(.applicationPassword))
    #expect(!writer.setCredential(Data("1234".utf8), type: .smartCardPIN))
    #expect(!writer.isCredentialSet(.smartCardPIN))
    let item = NewItem(.genericPassword, [.service: .text("item")], access: try AccessControl(flags))
    let id = try await machine.store.add(
      item, secret: SecretBytes(text: "secret"), using: try writer.authenticationContext()
    ).id
    #expect(try await machine.read(id, in: writer) == "secret")
    let wrong = machine.context(PersonAtPrompt(machine))
    wrong.setCredential(Data("another".utf8), type: .applicationPassword)
    await #expect(throws: VaultError.wrongApplicationPassword) { try await machine.read(id, in: wrong) }
    wrong.setCredential(nil, type: .applicationPassword)
    #expect(!wrong.isCredentialSet(.applicationPassword))
    wrong.interactionNotAllowed = true
    await #expect(throws: VaultError.interactionNotAllowed) { try await machine.read(id, in: wrong) }
    let asked = PersonAtPrompt(machine, applicationPassword: "of its own")
    #expect(try await machine.read(id, in: machine.context(asked)) == "secret")
    #expect(asked.heard == ["application password"])
  }
}

extension SecAccessControl {
  /// An access control with these flags, for items readable while the store is.
  static func of(_ flags: SecAccessControlCreateFlags) -> SecAccessControl? {
    SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, flags, nil)
  }
}
