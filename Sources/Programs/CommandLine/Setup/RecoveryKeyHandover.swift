import Glibc
import SecureMemory
internal import TerminalLines

/// Gives a new recovery key to the person: shows it and asks for a part of it, or saves it in a file.
struct RecoveryKeyHandover {
  let dialogue: SetupDialogue
  let output: RecoveryKeyOutput

  /// Letters and digits in each group of the key, and the dash after it.
  private static let groupWidth = 6
  /// The number of characters to type.
  private static let sample = 4

  func hand(over key: borrowing SecretBytes) throws(Failure) {
    dialogue.tell(
      "The recovery key opens the store when the passcode is forgotten. There is no other way, so keep it outside of this",
      "computer. Enter shows it, to be written down. Or name a new file for it, such as /media/stick/whorl-key.")
    while true {
      guard let place = try dialogue.line("Show it [Enter], or the file:") else { throw .stopped }
      guard !place.isEmpty else { break }
      do throws(Failure) {
        try save(key, at: Self.path(of: place))
        return dialogue.add("The recovery key is in \(place). Take it away from this computer.")
      } catch {
        dialogue.add("That does not work: \(error.what).")
      }
    }
    do {
      try output.show(key, "The recovery key, shown this once. Write it down:", otherwise: "no store is made")
    } catch {
      throw Failure(error)
    }
    try checkWriting(of: key)
  }

  /// Asks for four characters, to check that the key was written down.
  private func checkWriting(of key: borrowing SecretBytes) throws(Failure) {
    let group = Int.random(in: 1...((key.count + 1) / Self.groupWidth))
    let start = (group - 1) * Self.groupWidth
    while true {
      let typed = try dialogue.asked { () throws(Unanswered) in
        try dialogue.terminal.readSecret("From what you wrote: the first \(Self.sample) characters of group \(group)")
      }
      let isSame = key.withUnsafeBytes { key in
        typed.withUnsafeBytes { typed in
          typed.count == Self.sample && (0..<Self.sample).allSatisfy { Self.symbol(typed[$0]) == key[start + $0] }
        }
      }
      if isSame { return }
      dialogue.add("Those are not the first characters of group \(group), counted from the left. Look at it again.")
    }
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
