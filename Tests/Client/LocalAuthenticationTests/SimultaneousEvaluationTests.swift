import Foundation
import LocalAuthentication
import Presence
import Primitives
import Synchronization
import Testing
import Vault
import VaultItems
import VaultStore

@Suite("Evaluations at the same time")
struct SimultaneousEvaluationTests {
  private static let biometrics = LAPolicy.deviceOwnerAuthenticationWithBiometrics

  @Test("two simultaneous evaluations of one context share one touch")
  func twiceAtOnce() async throws {
    let machine = try await Machine()
    let person = PersonAtPrompt(machine, [.press(.rightIndex)])
    let context = machine.context(person)
    async let one = context.evaluate(Self.biometrics)
    async let other = context.evaluate(Self.biometrics)
    #expect(await [one, other] == [nil, nil])
    #expect(person.heard == ["touch", "matched"])
  }

  @Test("two contexts with simultaneous evaluations each need a touch of their own")
  func twoContexts() async throws {
    let machine = try await Machine()
    let people = [PersonAtPrompt(machine, [.press(.rightIndex)]), PersonAtPrompt(machine, [.press(.rightIndex)])]
    async let one = machine.context(people[0]).evaluate(Self.biometrics)
    async let other = machine.context(people[1]).evaluate(Self.biometrics)
    #expect(await [one, other] == [nil, nil])
    for person in people { #expect(person.heard == ["touch", "matched"]) }
  }

  @Test("invalidating a context ends every evaluation of that context, and leaves another context usable")
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

  @Test("an evaluation whose task is cancelled still ends")
  func cancelledTask() async throws {
    let machine = try await Machine()
    let person = PersonAtPrompt(machine, [.press(.rightIndex)])
    let context = machine.context(person)
    let evaluation = Task { await context.evaluate(Self.biometrics) }
    evaluation.cancel()
    #expect(await evaluation.value == nil)
  }

  @Test("an item with several constraints needs all of them, and with `or` one is enough")
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
      #expect(person.heard == ["passcode 1", "touch", "matched"])
    }
  }

  @Test("a credential set in a context is gone once the context is invalidated")
  func invalidCredential() async throws {
    let machine = try await Machine(fingers: [])
    let context = machine.context(PersonAtPrompt(machine))
    #expect(context.setCredential(Data("its own".utf8), type: .applicationPassword))
    context.invalidate()
    #expect(!context.isCredentialSet(.applicationPassword))
  }
}
