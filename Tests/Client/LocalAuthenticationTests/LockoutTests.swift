import LocalAuthentication
import Presence
import Testing
import Vault
import VaultItems
import VaultStore
import Whorl

@Suite("Lockout and delays over several evaluations and programs")
struct LockoutTests {
  private static let right = Machine.passcode
  private static let biometrics = LAPolicy.deviceOwnerAuthenticationWithBiometrics

  /// Five non-matches, over two programs.
  private func lockOut(_ machine: Machine) async throws {
    let strangers = Array(repeating: PersonAtPrompt.Deed.pressStranger, count: 3)
    let first = LAContext(store: try machine.anotherProgram(), prompt: PersonAtPrompt(machine, strangers))
    #expect(await first.evaluate(Self.biometrics) == .authenticationFailed)
    let second = machine.context(PersonAtPrompt(machine, strangers))
    #expect(await second.evaluate(Self.biometrics) == .biometryLockout, "the fifth ends the evaluation")
  }

  @Test("five consecutive non-matches over evaluations and programs are a biometryLockout, for every program")
  func lockout() async throws {
    let machine = try await Machine()
    try await lockOut(machine)
    for store in [machine.store, try machine.anotherProgram()] {
      let person = PersonAtPrompt(machine, [.press(.rightIndex)])
      let context = LAContext(store: store, prompt: person)
      #expect(context.problem(Self.biometrics) == .biometryLockout)
      #expect(await context.evaluate(Self.biometrics) == .biometryLockout)
      #expect(person.heard.isEmpty, "the reader is not armed")
      #expect(context.biometryType == .touchID)
    }
  }

  @Test("a match after fewer than five non-matches resets the count towards a biometryLockout")
  func brokenRow() async throws {
    let machine = try await Machine()
    for _ in 1...3 {
      let person = PersonAtPrompt(machine, [.pressStranger, .pressStranger, .press(.rightIndex)])
      #expect(await machine.context(person).evaluate(Self.biometrics) == nil)
    }
  }

  @Test("the device-owner policy asks for the passcode at once in a lockout, and the right passcode ends the lockout")
  func clearing() async throws {
    let machine = try await Machine()
    try await lockOut(machine)
    let wrong = PersonAtPrompt(machine, passcodes: ["wrong"])
    #expect(await machine.context(wrong).evaluate(.deviceOwnerAuthentication) == .authenticationFailed)
    #expect(machine.context(wrong).problem(Self.biometrics) == .biometryLockout)
    let person = PersonAtPrompt(machine, passcodes: [Self.right])
    #expect(await machine.context(person).evaluate(.deviceOwnerAuthentication) == nil)
    #expect(person.heard == ["no finger", "passcode 1"])
    #expect(machine.context(person).problem(Self.biometrics) == nil)
    let finger = PersonAtPrompt(machine, [.press(.rightIndex)])
    #expect(await machine.context(finger).evaluate(Self.biometrics) == nil)
  }

  @Test("wrong passcodes cause the store's delays, over evaluations and programs")
  func delays() async throws {
    let machine = try await Machine(fingers: [])
    let first = PersonAtPrompt(machine, passcodes: ["a", "b", "c"])
    #expect(await machine.context(first).evaluate(.deviceOwnerAuthentication) == .authenticationFailed)
    #expect(first.heard == ["no finger", "passcode 1", "passcode 2", "passcode 3"])
    let second = PersonAtPrompt(machine, passcodes: ["d", "e", Self.right])
    let other = LAContext(store: try machine.anotherProgram(), prompt: second)
    #expect(await other.evaluate(.deviceOwnerAuthentication) == .authenticationFailed)
    #expect(second.heard == ["no finger", "passcode 1", "passcode 2", "delay of 60"], "the fifth starts a delay")
    let early = PersonAtPrompt(machine, passcodes: [Self.right])
    #expect(await machine.context(early).evaluate(.deviceOwnerAuthentication) == .authenticationFailed)
    #expect(early.heard.first == "no finger" && early.heard.count == 2, "no passcode is taken while it runs")
    machine.clock.advance(seconds: 61)
    let late = PersonAtPrompt(machine, passcodes: [Self.right])
    #expect(await machine.context(late).evaluate(.deviceOwnerAuthentication) == nil)
  }

  @Test("a try during a passcode delay reports the time that is left, in the error and at the prompt")
  func delay() async throws {
    let machine = try await Machine(fingers: [])
    let wrong = PersonAtPrompt(machine, passcodes: Array(repeating: "wrong", count: 5))
    for _ in 1...2 {
      #expect(await machine.context(wrong).evaluate(.deviceOwnerAuthentication) == .authenticationFailed)
    }
    #expect(wrong.heard.last == "delay of 60")
    machine.clock.advance(seconds: 20)
    let person = PersonAtPrompt(machine, passcodes: [Self.right])
    await #expect {
      try await machine.context(person).evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "see")
    } throws: { error in
      (error as? LAError)?.code == .authenticationFailed
        && error.localizedDescription.hasPrefix("Too many wrong passcodes: the next one is taken in 40 ")
    }
    #expect(person.heard.last == "delay of 40")
    let unasked = machine.context(person)
    unasked.interactionNotAllowed = true
    _ = await unasked.evaluate(.deviceOwnerAuthentication)
    #expect(person.heard.filter { $0.hasPrefix("delay") }.count == 1, "nothing is shown where nothing may be asked")
  }

  @Test("a companion-only policy fails at once; a policy with biometrics or a companion accepts a finger")
  func companion() async throws {
    let machine = try await Machine()
    let person = PersonAtPrompt(machine, [.press(.rightIndex)])
    let context = machine.context(person)
    #expect(context.problem(.deviceOwnerAuthenticationWithWatch) == .companionNotAvailable)
    #expect(await context.evaluate(.deviceOwnerAuthenticationWithWatch) == .companionNotAvailable)
    #expect(person.heard.isEmpty)
    #expect(context.problem(.deviceOwnerAuthenticationWithBiometricsOrWatch) == nil)
    #expect(await context.evaluate(.deviceOwnerAuthenticationWithBiometricsOrWatch) == nil)
    #expect(person.heard == ["touch", "matched"])
    context.invalidate()
    #expect(await context.evaluate(.deviceOwnerAuthenticationWithWatch) == .invalidContext)
  }
}
