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

  /// Runs it to its end, with this program's terminal and environment, and with the limits that this program was started
  /// with. The status is that of a shell: 127 where there is no such program. A signal ends the command, and this program
  /// then ends by the same one, once it has told how to go on.
  ///
  /// - Parameter answers: what the command reads from the descriptors that these options name, so that nobody is asked
  ///   again.
  func run(_ hardening: Hardening, answers: [Answer] = []) -> Int32 {
    let inputs = answers.compactMap { answer in Self.input(of: answer.secret).map { (answer.option, $0) } }
    defer { for (_, input) in inputs { close(input) } }
    let options = inputs.enumerated().flatMap { place, input in [input.0, "\(place + 3)"] }
    let command = try? hardening.undone { () throws(ChildStartError) in
      try ForegroundCommand(program, words + options, given: inputs.map(\.1))
    }
    guard let command else { return Self.notFound }
    Interruption.pass(to: command)
    defer { Interruption.pass(to: nil) }
    let ending = command.ending()
    if let signal = ending.endingSignal { Interruption.follow(signal) }
    return ending.status
  }

  /// A descriptor of the secret as lines of a file in memory: as many as a command may ask for. Nil where there is no memory
  /// for it, and the command then asks the person.
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

  /// Whether it ends with status 0, without showing anything; nil where there is no such program.
  func isTrue() -> Bool? {
    guard let command = try? ForegroundCommand(program, words, isQuiet: true) else { return nil }
    let status = command.status()
    return status == Self.notFound ? nil : status == 0
  }

  private static let notFound: Int32 = 127

  /// This very program, and not another of its name in `PATH`. By its path where that is known: the kernel calls a program
  /// "exe" that was started through `/proc/self/exe`, and prompts and the log would show that name.
  private static var executable: String {
    guard let path = ClientProgram(getpid()).path, access(path, X_OK) == 0 else { return "/proc/self/exe" }
    return path
  }

  private var program: String { words[0] == "whorl" ? Self.executable : words[0] }
}

/// A command as a shell reads it.
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
