import Glibc
import Processes
import SessionPrompts
import Whorl

/// A command that the person has chosen, run at their terminal, as a shell would run it.
struct ChosenCommand {
  private let words: [String]

  init(_ words: [String]) { self.words = words }

  /// Runs it to its end, with this program's terminal and environment, and with the limits that this program was started
  /// with. The status is that of a shell: 127 where there is no such program. A signal ends the command, and this program
  /// then ends by the same one, once it has told how to go on.
  func run(_ hardening: Hardening) -> Int32 {
    let command = try? hardening.undone { () throws(ChildStartError) in try ForegroundCommand(program, words) }
    guard let command else { return Self.notFound }
    Interruption.pass(to: command)
    defer { Interruption.pass(to: nil) }
    let ending = command.ending()
    if let signal = ending.endingSignal { Interruption.follow(signal) }
    return ending.status
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
