import Testing

@testable import Primitives

@Suite("The names of fingers and readers")
struct SelectionTests {
  @Test(
    "the name of a reader is parsed, and its description is the same text",
    arguments: [
      "auto", "fprintd", "fprintd:Synaptics Sensors", "libfprint", "libfprint:Goodix MOC: 1", "virtual-image:/run/a:b",
      "virtual-storage:s", "replay:../elan",
    ])
  func readers(text: String) {
    #expect(ReaderSelection(text)?.description == text)
  }

  @Test(
    "text in none of the known forms is not the name of a reader",
    arguments: [
      "", "Auto", "auto:", "fprintd:", "libfprint:", "virtual-image", "virtual-image:", "replay:", "fprint",
      "virtual:x",
    ])
  func others(text: String) {
    #expect(ReaderSelection(text) == nil)
  }

  @Test("only the names of virtual or replayed readers select a simulated reader")
  func natures() {
    #expect(ReaderSelection("auto")?.nature == .physical)
    #expect(ReaderSelection("libfprint:x")?.nature == .physical)
    #expect(ReaderSelection("fprintd")?.nature == .physical)
    #expect(ReaderSelection("virtual-image:x")?.nature == .virtual)
    #expect(ReaderSelection("virtual-storage:x")?.nature == .virtual)
    #expect(ReaderSelection("replay:x")?.nature == .replayed)
  }

  @Test("fprintd's text for a finger is parsed, and only its exact spelling")
  func fprintdPrints() {
    let digest = (0..<32).map { UInt8($0 * 7 & 255) }
    for print in [FprintdPrint(finger: .leftThumb, digest: nil), FprintdPrint(finger: .rightIndex, digest: digest)] {
      #expect(FprintdPrint(print.template) == print)
    }
    let known = FprintdPrint(finger: .rightIndex, digest: digest)
    #expect(known.isStill(FprintdPrint(finger: .rightIndex, digest: nil)))
    #expect(known.isStill(known))
    #expect(!FprintdPrint(finger: .rightIndex, digest: nil).isStill(known))
    #expect(!known.isStill(FprintdPrint(finger: .rightMiddle, digest: nil)))
    let hex = String(repeating: "aB", count: 32)
    for text in [
      "", "FP3", "fprintd 1 right-index", "fprintd 1 right-index -x", "fprintd 1 toe -",
      "fprintd 1 right-index \(hex)", "fprintd 1 right-index - ", "fprintd 2 right-index -",
      "fprintd 1 right-index \(String(repeating: "0", count: 63))g",
    ] {
      #expect(FprintdPrint(Template(bytes: Array(text.utf8))) == nil, "\(text)")
    }
  }

  @Test("there are ten fingers, five on each hand, and their names for display have no dash")
  func fingers() {
    #expect(Finger.allCases.count == 10)
    #expect(Finger.allCases.filter { $0.rawValue.hasPrefix("left-") }.count == 5)
    #expect(Finger(rawValue: "right-index")?.spokenName == "right index")
  }
}
