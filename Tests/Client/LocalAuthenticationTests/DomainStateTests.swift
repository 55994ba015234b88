import Foundation
import LocalAuthentication
import Testing
import Vault
import Whorl

@Suite("Domain state and biometry type")
struct DomainStateTests {
  private static let biometrics = LAPolicy.deviceOwnerAuthenticationWithBiometrics

  private func state(_ machine: Machine) -> Data? {
    let context = machine.context(PersonAtPrompt(machine))
    #expect(context.problem(Self.biometrics) == nil)
    return context.evaluatedPolicyDomainState
  }

  @Test("evaluatedPolicyDomainState is nil until a biometric policy has succeeded, by check or by evaluation")
  func until() async throws {
    let machine = try await Machine()
    let context = machine.context(PersonAtPrompt(machine, [.press(.rightIndex)]))
    #expect(context.evaluatedPolicyDomainState == nil)
    #expect(context.problem(.deviceOwnerAuthentication) == nil)
    #expect(context.evaluatedPolicyDomainState == nil, "that was no biometric policy")
    #expect(context.domainState.stateHash == nil)
    #expect(await context.evaluate(.deviceOwnerAuthentication) == nil)
    #expect(context.evaluatedPolicyDomainState == nil, "nor that")
    #expect(context.problem(Self.biometrics) == nil)
    let checked = try #require(context.evaluatedPolicyDomainState)
    let other = machine.context(PersonAtPrompt(machine, [.press(.rightIndex)]))
    #expect(await other.evaluate(Self.biometrics) == nil)
    #expect(other.evaluatedPolicyDomainState == checked)
    #expect(other.domainState.biometry.stateHash == checked)
    #expect(other.domainState.stateHash == checked)
    #expect(other.domainState.companion.stateHash == nil)
    let companions: Set<LACompanionType> = other.domainState.companion.availableCompanionTypes
    #expect(companions.isEmpty && other.domainState.companion.stateHash(for: .watch) == nil)
  }

  @Test("evaluatedPolicyDomainState stays nil after a check that failed")
  func failing() async throws {
    let machine = try await Machine(fingers: [])
    let context = machine.context(PersonAtPrompt(machine))
    #expect(context.problem(Self.biometrics) == .biometryNotEnrolled)
    #expect(context.evaluatedPolicyDomainState == nil)
  }

  @Test("evaluatedPolicyDomainState is equal in every program, and changes with every change of the fingers")
  func changes() async throws {
    let machine = try await Machine()
    var seen = [try #require(state(machine))]
    #expect(state(machine) == seen[0])
    let other = LAContext(store: try machine.anotherProgram(), prompt: PersonAtPrompt(machine))
    #expect(other.problem(Self.biometrics) == nil)
    #expect(other.evaluatedPolicyDomainState == seen[0])
    try await machine.enroll(.leftThumb)
    seen.append(try #require(state(machine)))
    try await machine.enroll(.leftThumb)
    seen.append(try #require(state(machine)))
    try await machine.unenroll(.leftThumb)
    seen.append(try #require(state(machine)))
    #expect(Set(seen).count == 4, "the first fingers again are another set")
  }

  @Test(
    "biometryType is none before canEvaluatePolicy, then touchID, whatever the policy and the answer",
    arguments: [LAPolicy.deviceOwnerAuthentication, Self.biometrics, .deviceOwnerAuthenticationWithCompanion])
  func biometryType(_ policy: LAPolicy) async throws {
    let machine = try await Machine(fingers: [])
    let context = machine.context(PersonAtPrompt(machine))
    #expect(context.biometryType == .none)
    let answers: [LAPolicy: LAError.Code] = [
      Self.biometrics: .biometryNotEnrolled, .deviceOwnerAuthenticationWithCompanion: .companionNotAvailable,
    ]
    #expect(context.problem(policy) == answers[policy])
    #expect(context.biometryType == .touchID)
    #expect(context.domainState.biometry.biometryType == .touchID)
  }

  @Test("biometryType is none again once the vault cannot be asked")
  func ended() async throws {
    let machine = try await Machine()
    let context = machine.context(PersonAtPrompt(machine))
    #expect(context.problem(Self.biometrics) == nil && context.biometryType == .touchID)
    await machine.vault.close()
    #expect(context.problem(Self.biometrics) != nil)
    #expect(context.biometryType == .none)
  }

  @Test("biometryType stays none without a reader")
  func noReader() async throws {
    let machine = try await Machine(fingers: [])
    let context = LAContext(store: try machine.withoutReader(), prompt: PersonAtPrompt(machine))
    #expect(context.problem(Self.biometrics) == .biometryNotAvailable)
    #expect(context.biometryType == .none)
  }
}
