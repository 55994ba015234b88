import Testing

@testable import Primitives

@Suite("Texts with places")
struct TextTests {
  @Test("A text is English in a program that has not chosen the language of the session")
  func english() {
    #expect(Text.of("Back") == "Back")
    #expect(Text.of("needs {rule}", ["rule": "a finger"]) == "needs a finger")
  }

  @Test("A text takes the form of its number, and has the number in its place", arguments: [0, 1, 2])
  func plural(_ count: Int) {
    let text = Text.plural("delete your only one", "delete all of your {count} from {place}", count, ["place": "here"])
    #expect(text == (count == 1 ? "delete your only one" : "delete all of your \(count) from here"))
  }

  @Test("A value that looks like a place is not filled in once more")
  func values() {
    #expect(Text.filled("{a} and {b}", or: "{a} {b}", ["a": "{b}", "b": "{a}"]) == "{b} and {a}")
  }

  @Test("A translation may have the places in another order, and more than once")
  func order() {
    #expect(Text.filled("{b}, {a}, {b}", or: "{a} and {b}", ["a": "1", "b": "2"]) == "2, 1, 2")
  }

  @Test(
    "A translation with a place too few, too many or with another name is not used",
    arguments: ["only {a}", "{a} {b} {c}", "{a} {x}", "%s %n {a}", ""])
  func places(_ translation: String) {
    #expect(Text.filled(translation, or: "{a} and {b}", ["a": "1", "b": "2"]) == "1 and 2")
  }

  @Test("A form for one number may lack the number, and no other place")
  func spare() {
    let english = "all of {count} from {place}"
    let places = ["count": "3", "place": "here"]
    #expect(Text.filled("tous de {place}", or: english, places, mayLack: "count") == "tous de here")
    #expect(Text.filled("tous les {count}", or: english, places, mayLack: "count") == "all of 3 from here")
  }

  @Test("Braces that name no value stay as they are")
  func braces() {
    #expect(Text.filled("a } b { c", or: "a } b { c", [:]) == "a } b { c")
    #expect(Text.filled("{unknown}", or: "{unknown}", [:]) == "{unknown}")
  }

  @Test("A list of languages has no path in it", arguments: ["de", "pt_BR:pt:en", "sr@latin", "de_DE.UTF-8", ""])
  func languages(_ list: String) { #expect(Text.isList(list)) }

  @Test("A path is no list of languages", arguments: ["../../tmp/x", "/tmp/x", "de:..", "de de", "de\n", "dé"])
  func paths(_ list: String) { #expect(!Text.isList(list)) }
}
