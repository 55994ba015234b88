import CommandBase
import Glibc
import Processes
internal import Prompts
import Settings

/// `whorl login enable sudo`, `polkit` and `screen`: an administrator's program changes the PAM files, which belong to root.
struct FingerLogin {
  /// ``SetupStep/sudo`` or ``SetupStep/polkit``.
  let step: SetupStep

  /// Runs the program at the terminal, where it asks for an administrator's password and says what it has done.
  func make(_ change: FingerStep.Change, _ hardening: Hardening) throws(Failure) {
    let command = (geteuid() == 0 ? [] : ["sudo"]) + (try FingerStep.command(to: change, step))
    StandardError.line(Visible.text("> \(ShellLine.text(command))"))
    let status = ChosenCommand(command).run(hardening)
    guard status == 0 else {
      throw Failure(
        .refused, "the command ended with status \(status)",
        advice: "it has said why, and left the logins of this computer as they were")
    }
  }
}
