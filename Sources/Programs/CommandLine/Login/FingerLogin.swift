import Glibc
import Processes
internal import PromptTexts
import Settings

/// `whorl login enable sudo`, `polkit` and `screen`: an administrator's program changes the PAM files, which belong to root.
struct FingerLogin {
  let choice: LoginChoice

  enum Change: String {
    case enable, disable
  }

  /// Runs the program at the terminal, where it asks for an administrator's password and says what it has done.
  func make(_ change: Change, _ hardening: Hardening) throws(Failure) {
    guard let path = HelperPlaces.fingerLogin.locate() else {
      throw Failure(
        .unavailable, "the part of Whorl that changes logins is not installed",
        advice: "its page docs/login-administration.md shows the lines to write by hand")
    }
    let program: HelperProgram
    do throws(HelperProgramError) {
      program = try HelperProgram(at: path)
    } catch {
      throw Failure(.refused, error.words, advice: "install Whorl again")
    }
    let command = (geteuid() == 0 ? [] : ["sudo"]) + [program.path, change.rawValue, choice.rawValue]
    StandardError.line(Visible.text("> \(ShellLine.text(command))"))
    let status = ChosenCommand(command).run(hardening)
    guard status == 0 else {
      throw Failure(
        .refused, "the command ended with status \(status)",
        advice: "it has said why, and left the logins of this computer as they were")
    }
  }
}
