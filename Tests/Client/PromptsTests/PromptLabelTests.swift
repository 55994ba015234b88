import Primitives
import SecretModel
import Testing

@testable import Prompts

@Suite("Labels of other programs in a prompt")
struct PromptLabelTests {
  @Test(
    "other programs' labels in a prompt have no quotation marks, brackets, line ends or bidirectional marks",
    arguments: [
      ("Bank” (asked by /usr/bin/ssh, says whorl-agent)", "Bank asked by /usr/bin/ssh, says whorl-agent"),
      ("a\u{202E}b\u{2066}c\u{200F}d\u{200B}e", "abcde"),
      ("one\ntwo\r\nthree\u{2028}four\tfive", "one two three four five"),
      ("\u{1B}[2J", "2J"), ("„a‚ «b» ‹c› ‘d’ `e´ \"f' ＂g＇ 「h」 『i』 ″j", "a b c d e f g h i j"),
      ("[a] {b} <c> （d） ⟨e⟩ ❨f❩", "a b c d e f"), ("  a \u{3164}\u{2800}\u{A0} b  ", "a b"), ("”“", ""),
      ("é 日本 🙂", "é 日本 🙂"),
    ])
  func signs(_ name: String, _ shown: String) {
    #expect(PromptLabel.text(name) == shown)
  }

  @Test("other programs' labels in a prompt have at most 64 characters; a longer label loses its middle")
  func long() {
    let (start, end) = (String(repeating: "a", count: 32), String(repeating: "z", count: 31))
    #expect(PromptLabel.text(start + "x" + end) == start + "x" + end)
    #expect(PromptLabel.text(start + "xy" + end) == start + "…" + end)
    let marks = "e" + String(repeating: "\u{301}", count: 1_000)
    #expect(PromptLabel.text(marks).unicodeScalars.count == 64)
  }

  @Test("other programs' labels in a prompt are each put between quotation marks")
  func several() {
    #expect(PromptLabel.names(["a", "", "b”, “c", "d", "e"]) == "“a”, “a secret without a name”, “b, c”, “d”, “e”")
  }

  @Test("a prompt for a touch names every item that the touch releases")
  func items() throws {
    let reader = ReaderDescription(
      id: "1", name: "virtual", identity: ReaderIdentity(driver: "virtual"), scanType: .press, enrollStages: 5,
      features: [], temperature: .cold, nature: .virtual)
    let names = try ["a", "b (c)", "d", "e", "f"].map { try ItemName(parsing: $0) }
    let request = TouchRequest(
      purpose: .read(items: names, reason: nil), reader: reader, passcodeInstead: false)
    #expect(
      PromptText.touch(request, keys: nil) == "Touch the reader (virtual reader) to use “a”, “b c”, “d”, “e”, “f”")
    #expect(
      PromptText.notice(.readerInUse(.program("mail", items: [names[1]])))
        == "A program that calls itself “mail” has the reader for “b c”; this request waits for it.")
  }
}
