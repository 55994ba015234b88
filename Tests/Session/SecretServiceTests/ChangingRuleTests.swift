import SDBus
import SecretModel
import Testing
import Whorl

@Suite("Changing the rule of a Secret Service item")
struct ChangingRuleTests {
  @Test("a rule that a Secret Service item gets while its secret is being set is kept")
  func gatedDuringSetSecret() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      for number in 0..<8 {
        let label = "Mail \(number)"
        let mail = try await client.create("old", label: label, ["number": "\(number)"], session: session)
        let secret = ServiceClient.structure("new", "text/plain", session)
        let setting = Task {
          for _ in 0..<60 { _ = await client.error(mail, "Item", "SetSecret", [secret]) }
        }
        var isGated = false
        while !isGated {
          do {
            try await service.gate(label, .currentSet)
            isGated = true
          } catch VaultError.busy {
            // The secret was set after the gate had read the item and before the change.
          }
        }
        await setting.value
        #expect(try await client.search(["number": "\(number)"]).locked == [mail])
      }
    }
  }
}
