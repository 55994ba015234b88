import LocalAuthentication
import Presence
import Testing
import Vault
import VaultStore
import Whorl

@Suite("Reusing a recent match")
struct ReuseTests {
  private static let biometrics = LAPolicy.deviceOwnerAuthenticationWithBiometrics

  private func matched() async throws -> Machine {
    let machine = try await Machine()
    let context = machine.context(PersonAtPrompt(machine, [.press(.rightIndex)]))
    #expect(await context.evaluate(Self.biometrics) == nil)
    return machine
  }

  /// The result of an evaluation in a new context that may ask nobody.
  private func unasked(_ machine: Machine, accepting seconds: Double) async -> LAError.Code? {
    let context = machine.context(PersonAtPrompt(machine))
    context.touchIDAuthenticationAllowableReuseDuration = seconds
    context.interactionNotAllowed = true
    return await context.evaluate(Self.biometrics)
  }

  @Test("a context does not accept the match of another context by default")
  func defaultZero() async throws {
    let machine = try await matched()
    #expect(LAContext().touchIDAuthenticationAllowableReuseDuration == 0)
    #expect(await unasked(machine, accepting: 0) == .notInteractive)
    #expect(await unasked(machine, accepting: -1) == .notInteractive)
    #expect(await unasked(machine, accepting: .nan) == .notInteractive)
  }

  @Test("a reuse duration accepts the match of another context if that is not older")
  func duration() async throws {
    let machine = try await matched()
    #expect(await unasked(machine, accepting: 60) == nil)
    machine.clock.advance(seconds: 59)
    #expect(await unasked(machine, accepting: 120) == nil)
    machine.clock.advance(seconds: 5)
    #expect(await unasked(machine, accepting: 60) == .notInteractive)
    #expect(await unasked(machine, accepting: 120) == nil)
  }

  @Test("the longest reuse duration of a match is 300 seconds, whatever is set")
  func longest() async throws {
    let machine = try await matched()
    machine.clock.advance(seconds: 290)
    #expect(await unasked(machine, accepting: 1e12) == nil)
    machine.clock.advance(seconds: 11)
    #expect(await unasked(machine, accepting: 1e12) == .notInteractive)
    #expect(await unasked(machine, accepting: .infinity) == .notInteractive)
    #expect(LATouchIDAuthenticationMaximumAllowableReuseDuration == 300)
  }

  @Test("a reused match does not extend the reuse duration")
  func noRenewal() async throws {
    let machine = try await matched()
    machine.clock.advance(seconds: 50)
    #expect(await unasked(machine, accepting: 60) == nil)
    machine.clock.advance(seconds: 50)
    #expect(await unasked(machine, accepting: 60) == .notInteractive)
  }

  @Test("a match cannot be reused in another context after a change of the enrolled fingers")
  func changedSet() async throws {
    let machine = try await matched()
    try await machine.enroll(.leftThumb)
    #expect(await unasked(machine, accepting: 300) == .notInteractive)
  }

  @Test("a passcode does not count as a match that another context can reuse")
  func passcode() async throws {
    let machine = try await Machine(fingers: [.rightIndex])
    let person = PersonAtPrompt(machine, [.pressStranger, .fallback], passcodes: [Machine.passcode])
    #expect(await machine.context(person).evaluate(.deviceOwnerAuthentication) == nil)
    #expect(await unasked(machine, accepting: 300) == .notInteractive)
  }
}
