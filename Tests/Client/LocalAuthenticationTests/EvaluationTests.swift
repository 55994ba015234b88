import LocalAuthentication
import Presence
import Testing
import Vault
import VaultDriver
import VaultStore
import Whorl

@Suite("One evaluation, through libfprint's virtual image reader")
struct EvaluationTests {
  private static let right = Machine.passcode

  @Test("an enrolled finger satisfies biometric and device-owner policies, with one touch and no other prompt")
  func match() async throws {
    let machine = try await Machine()
    for policy in [LAPolicy.deviceOwnerAuthenticationWithBiometrics, .deviceOwnerAuthentication] {
      let person = PersonAtPrompt(machine, [.press(.rightIndex)])
      #expect(await machine.context(person).evaluate(policy) == nil)
      #expect(person.heard == ["touch", "matched"])
    }
  }

  @Test("an evaluation that is cancelled while the reader opens does not block later ones")
  func givenUpWhileOpening() async throws {
    let machine = try await Machine()
    for milliseconds in stride(from: 0, through: 80, by: 2) {
      let context = machine.context(PersonAtPrompt(machine))
      let end = Task {
        try? await Task.sleep(for: .milliseconds(milliseconds))
        context.invalidate()
      }
      #expect(await context.evaluate(.deviceOwnerAuthenticationWithBiometrics) != nil)
      await end.value
    }
    let person = PersonAtPrompt(machine, [.press(.rightIndex)])
    #expect(await machine.context(person).evaluate(.deviceOwnerAuthenticationWithBiometrics) == nil)
  }

  @Test("three non-matches end the biometrics-only policy with authenticationFailed")
  func threeNonMatches() async throws {
    let machine = try await Machine()
    let person = PersonAtPrompt(machine, [.pressStranger, .pressStranger, .pressStranger, .press(.rightIndex)])
    let context = machine.context(person)
    #expect(await context.evaluate(.deviceOwnerAuthenticationWithBiometrics) == .authenticationFailed)
    #expect(person.heard.filter { $0.hasPrefix("touch") }.count == 3)
    #expect(try await machine.failures() == 3)
  }

  @Test("three non-matches under the device-owner policy lead to the passcode")
  func passcodeAfterThree() async throws {
    let machine = try await Machine()
    let strangers = Array(repeating: PersonAtPrompt.Deed.pressStranger, count: 3)
    let person = PersonAtPrompt(machine, strangers, passcodes: [Self.right])
    #expect(await machine.context(person).evaluate(.deviceOwnerAuthentication) == nil)
    #expect(person.heard.last == "passcode 1")
    #expect(try await machine.failures() == 0, "a right passcode clears the count")
  }

  @Test("the fallback of an evaluation shows after the first non-match, and an empty title hides it")
  func fallbackShows() async throws {
    let machine = try await Machine()
    for policy in [LAPolicy.deviceOwnerAuthenticationWithBiometrics, .deviceOwnerAuthentication] {
      for title in [nil, "Enter password", ""] {
        let person = PersonAtPrompt(machine, [.pressStranger, .press(.rightIndex)])
        let context = machine.context(person)
        context.localizedFallbackTitle = title
        #expect(await context.evaluate(policy) == nil)
        let second = title == "" ? "touch" : "touch or fallback"
        #expect(person.heard == ["touch", "no match, 2 left", second, "matched"], "\(policy), \(title ?? "nil")")
      }
    }
  }

  @Test("the fallback of an evaluation cannot be chosen while it is not shown")
  func fallbackTooEarly() async throws {
    let machine = try await Machine()
    for policy in [LAPolicy.deviceOwnerAuthenticationWithBiometrics, .deviceOwnerAuthentication] {
      let early = PersonAtPrompt(machine, [.fallbackAndPress(.rightIndex)], passcodes: [Self.right])
      #expect(await machine.context(early).evaluate(policy) == nil)
      #expect(early.heard == ["touch", "matched"], "\(policy): it goes on waiting for a finger")
      let person = PersonAtPrompt(
        machine, [.pressStranger, .fallbackAndPress(.rightIndex)], passcodes: [Self.right])
      let context = machine.context(person)
      context.localizedFallbackTitle = ""
      #expect(await context.evaluate(policy) == nil)
      #expect(person.heard == ["touch", "no match, 2 left", "touch", "matched"], "\(policy): it is hidden")
    }
  }

  @Test("a touch that could not be read does not count as a failure")
  func retries() async throws {
    let machine = try await Machine()
    let retries = (1...4).map { _ in PersonAtPrompt.Deed.run(machine.image.retry()) }
    let person = PersonAtPrompt(machine, retries + [.press(.rightIndex)])
    #expect(await machine.context(person).evaluate(.deviceOwnerAuthenticationWithBiometrics) == nil)
    #expect(person.heard.filter { $0 == "retry" }.count == 4)
  }

  @Test("the fallback under the biometrics-only policy gives userFallback without asking for a passcode")
  func userFallback() async throws {
    let machine = try await Machine()
    let person = PersonAtPrompt(machine, [.pressStranger, .fallback], passcodes: [Self.right])
    let context = machine.context(person)
    #expect(await context.evaluate(.deviceOwnerAuthenticationWithBiometrics) == .userFallback)
    #expect(person.heard == ["touch", "no match, 2 left", "touch or fallback"])
  }

  @Test("the biometrics-only policy asks for no passcode, even if no finger can be used")
  func noPasscodeInstead() async throws {
    let machine = try await Machine(fingers: [])
    let person = PersonAtPrompt(machine, passcodes: [Self.right])
    let context = machine.context(person)
    #expect(await context.evaluate(.deviceOwnerAuthenticationWithBiometrics) == .biometryNotEnrolled)
    let away = LAContext(store: try machine.withoutReader(), prompt: person)
    #expect(await away.evaluate(.deviceOwnerAuthenticationWithBiometrics) == .biometryNotAvailable)
    #expect(person.heard.isEmpty)
  }

  @Test("the fallback under the device-owner policy leads to the passcode")
  func chosenPasscode() async throws {
    let machine = try await Machine()
    let person = PersonAtPrompt(machine, [.pressStranger, .fallback], passcodes: [Self.right])
    #expect(await machine.context(person).evaluate(.deviceOwnerAuthentication) == nil)
    #expect(person.heard == ["touch", "no match, 2 left", "touch or fallback", "passcode 1"])
  }

  @Test("the passcode alone satisfies the device-owner policy if no finger can be used")
  func passcodeAlone() async throws {
    let machine = try await Machine(fingers: [])
    let person = PersonAtPrompt(machine, passcodes: [Self.right, Self.right])
    #expect(machine.context(person).problem(.deviceOwnerAuthentication) == nil)
    #expect(await machine.context(person).evaluate(.deviceOwnerAuthentication) == nil)
    #expect(person.heard == ["no finger", "passcode 1"])
    let away = LAContext(store: try machine.withoutReader(), prompt: person)
    #expect(await away.evaluate(.deviceOwnerAuthentication) == nil)
  }

  @Test("the device-owner policy without fingers or passcode gives passcodeNotSet, and asks nothing")
  func passcodeNotSet() async throws {
    let machine = try await Machine(passcode: nil, fingers: [])
    let person = PersonAtPrompt(machine)
    #expect(machine.context(person).problem(.deviceOwnerAuthentication) == .passcodeNotSet)
    #expect(await machine.context(person).evaluate(.deviceOwnerAuthentication) == .passcodeNotSet)
    #expect(person.heard.isEmpty)
  }

  @Test("an evaluation without a reason is refused before anything is asked")
  func noReason() async throws {
    let machine = try await Machine()
    let person = PersonAtPrompt(machine, [.press(.rightIndex)])
    for reason in ["", " \n"] {
      let code = await outcome {
        try await machine.context(person).evaluatePolicy(.deviceOwnerAuthentication, localizedReason: reason)
      }
      #expect(code == .authenticationFailed)
    }
    #expect(person.heard.isEmpty)
  }
}
