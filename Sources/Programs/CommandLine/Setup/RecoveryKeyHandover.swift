import CommandBase
import Glibc
import Primitives
import Processes
internal import Prompts
import Settings
import Synchronization

/// Gives a new recovery key to the person: shows it and asks for a part of it, or saves it in a file.
struct RecoveryKeyHandover {
  let dialogue: SetupDialogue
  let output: RecoveryKeyOutput

  /// Letters and digits in each group of the key, and the dash after it.
  private static let groupWidth = 6
  /// The number of characters to type.
  private static let sample = 4
  /// How often the characters are asked for before the key is shown again.
  private static let tries = 3
  /// How often the key is shown.
  private static let showings = 2
  /// Says once, of a key that was shown, that the setup has ended before the store was kept.
  private final class VoidKey: Sendable {
    private let isTold = Atomic(false)

    func tell() {
      guard !isTold.exchange(true, ordering: .relaxed) else { return }
      StandardError.line("No store was made: the recovery key above opens nothing. The next run shows another one.")
    }
  }

  func hand(over key: borrowing SecretBytes) throws(Failure) {
    dialogue.tell(
      "The recovery key opens the store when the passcode is forgotten. There is no other way, so keep it outside of this",
      "computer. Enter shows it, to be written down. Or name a new file for it, such as /media/stick/whorl-key.")
    for showing in 1...Self.showings {
      if try isSaved(key) { return }
      // Somebody may have it on paper already, and end this with Ctrl-C.
      let void = VoidKey()
      let (_, shown) = Unfinished.ofThisProgram.make({}, undo: { _ in void.tell() })
      defer { Unfinished.ofThisProgram.forget(shown) }
      do {
        try output.show(
          key, showing == 1 ? "The recovery key, shown this once. Write it down:" : "The recovery key, once more:",
          otherwise: "no store is made")
      } catch {
        throw Failure(error)
      }
      do throws(Failure) {
        if try isWritten(key) { return }
      } catch {
        void.tell()
        throw error
      }
      if showing < Self.showings { dialogue.add("Without the recovery key there is no store. Once more, then:") }
    }
    throw Failure(
      .refused, "the recovery key was not typed back, so that no store was made", name: "errSecParam",
      advice: "have a pen or a USB stick ready, then \(SetupDialogue.goesOn)")
  }

  /// Asks for a file, and saves the key there. False after Enter: the key is to be shown.
  private func isSaved(_ key: borrowing SecretBytes) throws(Failure) -> Bool {
    while true {
      guard let place = try dialogue.line("Show it [Enter], or the file:") else { throw .stopped }
      // A "y" answers "Show it", and is not the name of a file.
      guard !place.isEmpty, !["y", "yes"].contains(place.lowercased()) else { return false }
      guard place.contains("/") else {
        dialogue.add("Enter shows the key. A file is named with its folder here, as ~/recovery-key.")
        continue
      }
      do throws(Failure) {
        try save(key, at: Self.path(of: place))
        dialogue.add("The recovery key is in \(place). Take it away from this computer.")
        return true
      } catch {
        dialogue.add("That does not work: \(error.what).")
      }
    }
  }

  /// Asks for four characters of the key, to check that it was written down. False if they are not typed.
  private func isWritten(_ key: borrowing SecretBytes) throws(Failure) -> Bool {
    let group = Int.random(in: 1...((key.count + 1) / Self.groupWidth))
    let start = (group - 1) * Self.groupWidth
    for _ in 1...Self.tries {
      let typed = try dialogue.asked { () throws(Unanswered) in
        // The key itself was just on the screen.
        try dialogue.terminal.readSecret(
          "From what you wrote: the first \(Self.sample) characters of group \(group)", display: .shown)
      }
      if Self.begins(typed, key, at: start) { return true }
      dialogue.add("Those are not the first characters of group \(group), counted from the left. Look at it again.")
    }
    return false
  }

  /// Whether the key has these characters from a place on. Who types more than was asked for, up to the rest of the key,
  /// has it in front of them.
  private static func begins(_ typed: borrowing SecretBytes, _ key: borrowing SecretBytes, at start: Int) -> Bool {
    let place = typed.withUnsafeBytes { typed in
      key.withUnsafeBytes { key in
        var place = start
        for byte in typed where byte != UInt8(ascii: " ") && byte != UInt8(ascii: "-") {
          if place < key.count, key[place] == UInt8(ascii: "-") { place += 1 }
          guard place < key.count, symbol(byte) == key[place] else { return start }
          place += 1
        }
        return place
      }
    }
    return place - start >= sample
  }

  /// Normalizes a symbol like `RecoveryKey`: accepts lower case, O for 0, and I or L for 1.
  private static func symbol(_ typed: UInt8) -> UInt8 {
    let upper = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(typed) ? typed - 32 : typed
    return switch upper {
    case UInt8(ascii: "O"): UInt8(ascii: "0")
    case UInt8(ascii: "I"), UInt8(ascii: "L"): UInt8(ascii: "1")
    default: upper
    }
  }

  private func save(_ key: borrowing SecretBytes, at path: String) throws(Failure) {
    let file = try NewFile(path)
    let shared = SharedSecret(key.copy())
    try file.write(mode: 0o600) { descriptor in
      do throws(WriteError) {
        try shared.bytes.write(to: descriptor)
      } catch {
        if case .system(let code) = error { return code }
        return EPIPE
      }
      if let code = writeAll("\n", to: descriptor) { return code }
      return fsync(descriptor) == 0 ? nil : errno
    }
  }

  /// `~` is the home directory, as in a shell.
  private static func path(of text: String) -> String {
    guard text.hasPrefix("~/"), let home = getenv("HOME") else { return text }
    return String(cString: home) + text.dropFirst()
  }
}
