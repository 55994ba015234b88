import CommandBase
import Primitives
internal import Prompts
import Settings

/// The prompts of `whorl setup` for the passcode of a new store. They end, whatever is typed: a person who only presses
/// Enter, or types the same unusable word again and again, is not asked for ever.
struct PasscodeChoice {
  /// Where the passcode comes from.
  enum Source {
    /// It is the login password of this user.
    case loginPassword
    /// It is a word for Whorl alone.
    case another
  }

  let dialogue: SetupDialogue
  private(set) var source: Source
  /// How many passcodes could not be taken so far.
  private var refused = 0

  /// The number of unusable passcodes that ends the setup.
  private static let limit = 3

  init(dialogue: SetupDialogue, source: Source) { (self.dialogue, self.source) = (dialogue, source) }

  /// Asks for the first passcode.
  mutating func first() async throws(Failure) -> SharedSecret {
    guard source == .loginPassword else { return try anotherPasscode() }
    dialogue.add("Type your login password where it asks for the new passcode.")
    for attempt in 1...Self.limit {
      let word = try typed()
      // If it cannot be checked here, the next login does it.
      guard await LoginPassword.check(word.bytes) == .wrong else { return word }
      if attempt < Self.limit { dialogue.add("That is not your login password. Nothing is lost: type it once more.") }
    }
    dialogue.add("That is not your login password either.")
    return try anotherPasscode()
  }

  /// Asks for another passcode, after one that was not taken. The login password would be the same one again, so that
  /// this is a word of its own.
  mutating func next() async throws(Failure) -> SharedSecret {
    refused += 1
    guard refused < Self.limit else {
      throw Failure(
        .refused, "no passcode was chosen, and no store was made", name: "errSecParam",
        advice: "think of one, such as four words, and then \(SetupDialogue.goesOn)")
    }
    return try anotherPasscode()
  }

  private mutating func anotherPasscode() throws(Failure) -> SharedSecret {
    if source == .loginPassword {
      source = .another
      dialogue.add(
        "Choose a passcode for Whorl alone, then: four words, for example. Your login password stays as it is.")
    }
    return try typed()
  }

  /// Asks twice, and again if the two differ.
  private func typed() throws(Failure) -> SharedSecret {
    for _ in 1...Self.limit {
      do throws(Unanswered) {
        return SharedSecret(try dialogue.terminal.readNewSecret("passcode"))
      } catch .differed {
        dialogue.add("The two entries differ. Type the same word twice.")
      } catch .cancelled {
        throw .stopped
      } catch {
        throw Failure(error)
      }
    }
    throw Failure(
      .refused, "the two entries of the passcode differed each time, and no store was made", name: "errSecParam",
      advice: SetupDialogue.goesOn)
  }
}
