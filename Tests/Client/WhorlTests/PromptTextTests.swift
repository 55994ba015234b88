import Fingerprint
import SecretModel
import Testing

@testable import Whorl

@Suite("The text of a prompt")
struct PromptTextTests {
  private func touch(_ name: String, _ nature: ReaderDescription.Nature) -> String {
    let reader = ReaderDescription(
      id: "1", name: name,
      identity: ReaderIdentity(driver: "synaptics"),
      scanType: .press, enrollStages: 5, features: [], temperature: .cold, nature: nature)
    let request = TouchRequest(purpose: .evaluate(reason: "sign in"), reader: reader, passcodeInstead: true)
    return PromptText.touch(request, keys: nil)
  }

  @Test("names the reader, so that a person with two knows which one to touch")
  func name() {
    #expect(touch("Synaptics Sensors", .physical) == "Touch the reader (Synaptics Sensors) to sign in")
    #expect(touch("Synaptics\nSensors", .physical) == "Touch the reader (Synaptics\\u{a}Sensors) to sign in")
  }

  @Test("says that a reader is not a physical one")
  func nature() {
    #expect(touch("Synaptics Sensors", .virtual) == "Touch the reader (virtual reader) to sign in")
    #expect(touch("Synaptics Sensors", .replayed) == "Touch the reader (replayed reader) to sign in")
  }
}
