import Glibc
import Processes
import SecureMemory
import SessionPrompts
import Whorl

/// A command that the person has chosen, run at their terminal, as a shell would run it.
struct ChosenCommand {
  /// An option of the command that names a descriptor, and the secret to read there.
  typealias Answer = (option: String, secret: SharedSecret)

  private let words: [String]

  init(_ words: [String]) { self.words = words }

  /// Runs it to its end, with this program's terminal and environment, and with the limits that this program was
  /// started with. The status is that of a shell: 127 if there is no such program. If a signal ends the command, this
  /// program says how to continue and ends by the same signal.
  ///
  /// - Parameter answers: secrets that the command reads from the descriptors of these options instead of prompting
  ///   again.
  func run(_ hardening: Hardening, answers: [Answer] = []) -> Int32 {
    let inputs = answers.compactMap { answer in Self.input(of: answer.secret).map { (answer.option, $0) } }
    defer { for (_, input) in inputs { close(input) } }
    let options = inputs.enumerated().flatMap { place, input in [input.0, "\(place + 3)"] }
    let command = try? Interruption.start { () throws(ChildStartError) in
      try hardening.undone { () throws(ChildStartError) in
        try ForegroundCommand(program, words + options, given: inputs.map(\.1))
      }
    }
    guard let command else { return Self.notFound }
    defer { Interruption.hasEnded() }
    let ending = command.ending()
    if let signal = ending.endingSignal { Interruption.follow(signal) }
    return ending.status
  }

  /// A descriptor of a memory file that repeats the secret, one line for each prompt of a command. Nil if there is no
  /// memory; the command then prompts.
  private static func input(of secret: SharedSecret) -> Int32? {
    do {
      var writer = try SealedFile.Writer()
      for _ in 1...2 {
        _ = try writer.append(secret.bytes)
        var newline = SecretBytes(count: 1)
        newline.withUnsafeMutableBytes { $0[0] = UInt8(ascii: "\n") }
        _ = try writer.append(newline)
      }
      return try writer.seal().release()
    } catch {
      return nil
    }
  }

  /// Whether it ends with status 0, run without output; nil if there is no such program.
  func isTrue() -> Bool? {
    guard let command = try? ForegroundCommand(program, words, isQuiet: true) else { return nil }
    let status = command.status()
    return status == Self.notFound ? nil : status == 0
  }

  private static let notFound: Int32 = 127

  /// This program's own executable, not one from `PATH`. If possible its path, since a program started through
  /// `/proc/self/exe` is called "exe" in prompts and the log.
  private static var executable: String {
    guard let path = ClientProgram(getpid()).path, access(path, X_OK) == 0 else { return "/proc/self/exe" }
    return path
  }

  private var program: String { words[0] == "whorl" ? Self.executable : words[0] }
}

/// A command in shell syntax.
enum ShellLine {
  static func text(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

  private static func quoted(_ word: String) -> String {
    let isPlain =
      !word.isEmpty
      && word.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "_@%+=:,./-".utf8.contains(byte)
        }
      }
    return isPlain
      ? word : "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
  }
}
