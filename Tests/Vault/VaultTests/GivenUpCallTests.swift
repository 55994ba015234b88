import Primitives
import Testing

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("A cancelled call")
struct GivenUpCallTests {
  private func context() -> Context {
    let context = Context(askingNobodyFor: 1000)
    context.options.keepsEvidence = true
    context.begin()
    return context
  }

  private var passcode: ProvenPasscode { ProvenPasscode(key: SharedSecret(SecretBytes(count: 32)), slot: [1]) }

  @Test("a cancelled call uses no factor that was given for it, and ends with the reason of its cancellation")
  func evidence() throws {
    for isGivenUp in [false, true] {
      let context = context()
      let evidence = Evidence(GivenProofs(passcode: passcode), in: context)
      if isGivenUp { context.cancel(because: .systemCancelled) }
      do {
        let shown = try evidence.current()
        #expect(!isGivenUp && shown.passcode != nil)
      } catch {
        #expect(isGivenUp && error == .systemCancelled)
      }
    }
  }

  @Test("a cancelled call leaves no factor that was given for it to later calls of its context")
  func kept() {
    for isGivenUp in [false, true] {
      let context = context()
      if isGivenUp { context.cancel() }
      context.keep(passcode: passcode)
      #expect((context.proofs.passcode == nil) == isGivenUp)
    }
  }
}
