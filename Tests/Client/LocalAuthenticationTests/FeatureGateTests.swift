import Presence
import Primitives
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore
import Whorl

@Suite("A biometric feature gate")
struct FeatureGateTests {
  @Test("a biometric feature gate is not enabled until a finger enables it, and then opens for a finger")
  func enables() async throws {
    let machine = try await Machine()
    let gate = machine.gate()
    #expect(await !gate.isEnabled())
    await #expect(throws: BiometricFeatureGateError.notEnabled) { try await gate.authenticate(reason: "export") }
    #expect(await gate.availability() == .available)

    let person = PersonAtPrompt(machine, [.press(.rightIndex), .press(.rightIndex)])
    machine.store.defaultPrompt = person
    try await gate.enable(reason: "export with a finger")
    #expect(await gate.isEnabled())
    #expect(person.heard == ["touch", "matched"])
    try await gate.authenticate(reason: "export")
    #expect(person.heard == ["touch", "matched", "touch", "matched"], "each way through is asked for")
    #expect(await !machine.gate("another").isEnabled(), "one feature's choice is not another's")
    #expect(try await BiometricFeatureGate(feature: "export", store: machine.anotherProgram()).isEnabled())
  }

  @Test("a biometric feature gate cannot be enabled, passed or disabled by a finger that is not enrolled")
  func stranger() async throws {
    let machine = try await Machine()
    let gate = machine.gate()
    func refused(_ call: (AuthenticationContext) async throws -> Void) async {
      let context = machine.store.makeContext(
        prompt: PersonAtPrompt(machine, [.pressStranger, .pressStranger, .pressStranger]))
      await #expect(throws: BiometricFeatureGateError.refused(.authenticationFailed)) { try await call(context) }
    }
    await refused { try await gate.enable(reason: "x", using: $0) }
    #expect(await !gate.isEnabled())
    try await machine.enable(gate)
    await refused { try await gate.authenticate(reason: "x", using: $0) }
    try await machine.unlock()
    // The device owner's policy continues with the passcode, which the stranger does not know either.
    let context = machine.store.makeContext(
      prompt: PersonAtPrompt(machine, [.pressStranger, .pressStranger, .pressStranger], passcodes: ["a guess"]))
    await #expect(throws: BiometricFeatureGateError.self) { try await gate.disable(reason: "x", using: context) }
    #expect(await gate.isEnabled())
  }

  @Test("a biometric feature gate is disabled by a finger or the passcode, and needs neither if not enabled")
  func disables() async throws {
    let machine = try await Machine()
    let gate = machine.gate()
    let idle = PersonAtPrompt(machine)
    try await gate.disable(reason: "x", using: machine.store.makeContext(prompt: idle))
    #expect(idle.heard == [])
    for deeds in [[PersonAtPrompt.Deed.press(.rightIndex)], [.pressStranger, .fallback]] {
      try await machine.enable(gate)
      let person = PersonAtPrompt(machine, deeds, passcodes: [Machine.passcode])
      try await gate.disable(reason: "x", using: machine.store.makeContext(prompt: person))
      #expect(person.heard.first == "touch or fallback" || person.heard.first == "touch")
      #expect(await !gate.isEnabled())
    }
  }

  @Test("a biometric feature gate in a store without a passcode is disabled by a finger")
  func disablesWithoutPasscode() async throws {
    let machine = try await Machine()
    let gate = machine.gate()
    let vault = machine.vault
    _ = try await Person(passcodes: [Machine.passcode]).with(vault) { try await vault.removePasscode(in: $0) }
    try await machine.enable(gate)
    try await gate.disable(
      reason: "x", using: machine.store.makeContext(prompt: PersonAtPrompt(machine, [.press(.rightIndex)])))
    #expect(await !gate.isEnabled())
  }

  @Test("a biometric feature gate is not enabled after a finger was added, and can be enabled again")
  func changedSet() async throws {
    let machine = try await Machine()
    let gate = machine.gate()
    try await machine.enable(gate)
    try await machine.enroll(.leftThumb)
    #expect(await !gate.isEnabled())
    await #expect(throws: BiometricFeatureGateError.notEnabled) { try await gate.authenticate(reason: "x") }
    try await machine.enable(gate, with: .leftThumb)
    #expect(await gate.isEnabled())
  }

  @Test("a biometric feature gate is not enabled if the fingers change while it is being enabled")
  func changedWhileEnabling() async throws {
    let machine = try await Machine()
    let gate = machine.gate()
    let person = PersonAtPrompt(machine, [.press(.rightIndex)])
    let context = machine.store.makeContext(prompt: EnrollsAfterwards(machine: machine, person: person))
    await #expect(throws: BiometricFeatureGateError.refused(.setChanged)) {
      try await gate.enable(reason: "x", using: context)
    }
    #expect(person.heard == ["touch", "matched"])
    #expect(await !gate.isEnabled())
  }

  @Test("a biometric feature gate ignores a stored item with a weaker access control than biometryCurrentSet")
  func plantedChoice() async throws {
    let machine = try await Machine()
    let gate = machine.gate()
    for flags in [AccessControl.Flags(), .userPresence, .biometryAny, .devicePasscode] {
      let names: [AttributeName: AttributeValue] = [
        .service: .text("whorl.feature-gate"), .account: .text(gate.feature),
      ]
      let planted = try await machine.store.add(
        NewItem(.genericPassword, names, access: try AccessControl(flags)), secret: SecretBytes(text: "enabled"))
      #expect(await !gate.isEnabled())
      await #expect(throws: BiometricFeatureGateError.notEnabled) { try await gate.authenticate(reason: "x") }
      // It does not prevent a valid choice either.
      try await machine.enable(gate)
      #expect(await gate.isEnabled())
      try await machine.store.delete(try await machine.store.items(ItemSearch(.genericPassword, names)).map(\.id))
      #expect(planted.access.flags == flags)
    }
  }

  @Test("a biometric feature gate whose stored choice was deleted is not enabled, and lets nobody through")
  func deletedChoice() async throws {
    let machine = try await Machine()
    let gate = machine.gate()
    try await machine.enable(gate)
    try await machine.store.delete(try await machine.store.items(ItemSearch(.genericPassword)).map(\.id))
    #expect(await !gate.isEnabled())
    await #expect(throws: BiometricFeatureGateError.notEnabled) { try await gate.authenticate(reason: "x") }
  }

  @Test("a biometric feature gate reports why biometry is not available, and stays closed")
  func unavailable() async throws {
    let machine = try await Machine(fingers: [])
    #expect(await machine.gate().availability() == .unavailable(.notEnrolled))
    await #expect(throws: BiometricFeatureGateError.refused(.notEnrolled)) {
      try await machine.gate().enable(reason: "x")
    }
    try await machine.enroll(.rightIndex)
    let gate = machine.gate()
    try await machine.enable(gate)
    let unplugged = BiometricFeatureGate(feature: gate.feature, store: try machine.withoutReader())
    #expect(await unplugged.availability() == .unavailable(.reader(.removed)))
    #expect(await unplugged.isEnabled(), "the choice is there, and of no use without a reader")
    await #expect(throws: BiometricFeatureGateError.self) { try await unplugged.authenticate(reason: "x") }
  }
}

/// Forwards everything to a person, and enrols another finger after an evaluation.
private struct EnrollsAfterwards: AuthenticationPrompt {
  let machine: Machine
  let person: PersonAtPrompt

  func handle(_ event: AuthenticationEvent, in session: PromptSession) async {
    await person.handle(event, in: session)
  }

  func finished(in session: PromptSession) async { try? await machine.enroll(.leftThumb) }
}

extension Machine {
  fileprivate func gate(_ feature: String = "export") -> BiometricFeatureGate {
    BiometricFeatureGate(feature: feature, store: store)
  }

  fileprivate func enable(_ gate: BiometricFeatureGate, with finger: Finger = .rightIndex) async throws {
    let context = store.makeContext(prompt: PersonAtPrompt(self, [.press(finger)]))
    try await gate.enable(reason: "open it with a finger", using: context)
  }

  /// Clears the count of failures with the passcode.
  fileprivate func unlock() async throws {
    let context = store.makeContext(
      prompt: PersonAtPrompt(self, [.pressStranger, .fallback], passcodes: [Self.passcode]))
    try await context.evaluate(.deviceOwner, reason: "start anew")
  }
}
