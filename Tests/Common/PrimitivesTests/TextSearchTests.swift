import Primitives
import Testing

@Suite("Words in a text")
struct TextSearchTests {
  @Test("words are found at the start, in the middle and at the end", arguments: ["one", "two", "three"])
  func found(_ words: String) { #expect("one two three".hasBytes(of: words)) }

  @Test("words that are there in part, or in other bytes, are not found", arguments: ["threes", "TWO", "e\u{301}"])
  func missing(_ words: String) { #expect(!"one two three \u{E9}".hasBytes(of: words)) }

  @Test("an empty text has no words")
  func empty() { #expect(!"".hasBytes(of: "one")) }
}
