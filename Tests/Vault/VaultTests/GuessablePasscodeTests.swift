import Keys
import Primitives
import SecretModel
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("Guessable passcodes")
struct GuessablePasscodeTests {
  private func guesses(_ passcode: String) -> Double { PasscodeGuesses.estimate(SecretBytes(text: passcode)) }

  @Test(
    "short passcodes, runs, repetitions, dates and common words are guessed within a day",
    arguments: [
      "1234", "0000", "4711", "836915", "8369152", "12345678", "987654321", "aaaaaaaaaaaa", "abcdefghijkl", "47114711",
      "xyxyxyxyxyxy", "24121999", "12241999", "19991224", "k7f2", "hxkqz", "password", "Password1", "PASSWORD12",
      "qwertyuiop", "1letmein1", "iloveyou22", "äöü",
    ])
  func weak(_ passcode: String) { #expect(guesses(passcode) <= PasscodeGuesses.inADay) }

  @Test(
    "long passcodes without a pattern take more than a day to guess",
    arguments: [
      "83691527", "hxkqzw", "k7f2q9", "correct horse", "battery staple", "another", "open sesame, please", "äöüß",
      "password for the bank", "\u{6f22}\u{5b57}\u{306e}\u{9375}",
    ])
  func strong(_ passcode: String) { #expect(guesses(passcode) > PasscodeGuesses.inADay) }

  @Test("a new store accepts a guessable passcode only from a person who insists")
  func newStore() async throws {
    let store = try await ScratchStore(passcode: nil)
    func make(_ name: String, _ passcode: String, insisting: Bool) async throws {
      let (new, _) = try await StoreCreation.newStore(
        at: store.folder + "/" + name, passcode: SecretBytes(text: passcode), floor: .weakForTests,
        allowsGuessable: insisting)
      try new.keep()
    }
    await #expect(throws: VaultError.guessablePasscode) { try await make("a", "8369", insisting: false) }
    try await make("b", "8369", insisting: true)
    await #expect(throws: VaultError.invalidPasscode("it is shorter than 4 characters")) {
      try await make("c", "836", insisting: true)
    }
  }

  @Test("changing or recovering a passcode accepts a guessable one only if the person insists")
  func change() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    var insisting = ContextOptions(timeout: .seconds(20))
    insisting.allowsGuessablePasscode = true
    func change(_ options: ContextOptions) async throws {
      try await Person(passcodes: [ScratchStore.passcode], newPasscode: "8369").with(vault, options) {
        try await vault.changePasscode(in: $0)
      }
    }
    func recover(_ options: ContextOptions) async throws {
      _ = try await Person(newPasscode: "4711", recoveryKey: store.recoveryKey).with(vault, options) {
        try await vault.recover(accepting: nil, in: $0)
      }
    }
    await #expect(throws: VaultError.guessablePasscode) { try await change(ContextOptions(timeout: .seconds(20))) }
    try await change(insisting)
    await #expect(throws: VaultError.guessablePasscode) { try await recover(ContextOptions(timeout: .seconds(20))) }
    try await recover(insisting)
    try await Person(passcodes: ["4711"]).with(vault) { try await vault.unlock(in: $0) }
  }

  @Test("a store with a TPM allows a guessable passcode, since nobody can guess at a copy of the store")
  func tiers() {
    #expect(VaultStatus.Tier.keyFile.isOpenToGuesses && VaultStatus.Tier.credential.isOpenToGuesses)
    #expect(!VaultStatus.Tier.tpm.isOpenToGuesses && !VaultStatus.Tier.credentialOfTPM.isOpenToGuesses)
    #expect(throws: Never.self) {
      try Passcodes.check(SecretBytes(text: "8369"), shortest: 4, in: .tpm, allowsGuessable: false)
    }
  }
}
