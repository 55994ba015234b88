import Testing

@testable import Fingerprint

@Suite("The words for fingers and readers")
struct SelectionTests {
  @Test(
    "what names a reader is read and said back in the same words",
    arguments: [
      "auto", "libfprint", "libfprint:Goodix MOC: 1", "virtual-image:/run/a:b", "virtual-storage:s", "replay:../elan",
    ])
  func readers(text: String) {
    #expect(ReaderSelection(text)?.description == text)
  }

  @Test(
    "anything else names no reader",
    arguments: ["", "Auto", "auto:", "libfprint:", "virtual-image", "virtual-image:", "replay:", "fprint", "virtual:x"])
  func others(text: String) {
    #expect(ReaderSelection(text) == nil)
  }

  @Test("only a named virtual or replayed reader is one")
  func natures() {
    #expect(ReaderSelection("auto")?.nature == .physical)
    #expect(ReaderSelection("libfprint:x")?.nature == .physical)
    #expect(ReaderSelection("virtual-image:x")?.nature == .virtual)
    #expect(ReaderSelection("virtual-storage:x")?.nature == .virtual)
    #expect(ReaderSelection("replay:x")?.nature == .replayed)
  }

  @Test("there are ten fingers, five on each hand, spoken without a dash")
  func fingers() {
    #expect(Finger.allCases.count == 10)
    #expect(Finger.allCases.filter { $0.rawValue.hasPrefix("left-") }.count == 5)
    #expect(Finger(rawValue: "right-index")?.spokenName == "right index")
  }
}
