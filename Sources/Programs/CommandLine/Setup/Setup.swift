import ArgumentParser
import CommandBase
internal import Prompts
import SecretModel
import Settings

struct Setup: Command {
  static let configuration = CommandConfiguration(
    commandName: "setup",
    abstract: "Set up everything, a question at a time.",
    discussion: """
      Makes the store with its passcode and recovery key, takes the fingers of the desktop's settings or enrols one, and \
      offers what else there is on this computer: logins, a finger at sudo and in the dialogs that ask for an \
      administrator, the passwords of the desktop's programs, passkeys, ssh, git and GnuPG. A step is carried out by the command that it shows, which you could type yourself. It looks first and asks for what is left, so \
      that it can be ended anywhere and run again. It ends with what is on, and the command that takes each back.

      --undo takes back what is on, after a question. What one run could not take back, the next one goes on with. Then it \
      names what exists only in the store, and removes the store after you have typed the word for it; Enter keeps it.

      Without a terminal, and with --json, it only tells what there is.

      Examples:
        whorl setup
        whorl setup --json
        whorl setup --undo
      """)

  @OptionGroup var options: GlobalOptions

  @Flag(help: "Take back what is set up.")
  var undo = false

  @Flag(name: .shortAndLong, help: "With --undo: do not ask, and keep the store.")
  var yes = false

  func validate() throws {
    if yes, !undo { throw ValidationError("--yes goes with --undo.") }
    if undo, options.json { throw ValidationError("--undo and --json do not go together.") }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let survey = SetupSurvey(at: session)
    guard !undo else {
      return try await SetupUndoConversation(session: session, hardening: hardening, isAgreed: yes).run()
    }
    let terminal = options.json ? nil : Terminal()
    if let terminal { try requireOwnAccount(SetupDialogue(terminal: terminal)) }
    let findings = try await survey.findings()
    guard !options.json else { return try JSON.print(["steps": findings.map(SetupReport.init)]) }
    for line in findings.flatMap(\.setupLines) { try StandardOutput.line(Visible.text(line)) }
    guard let terminal else {
      guard findings.contains(where: { $0.state == .open }) else { return }
      return try StandardOutput.line("Run 'whorl setup' at a terminal to choose.")
    }
    try await SetupConversation(session, SetupDialogue(terminal: terminal), hardening).run(findings)
  }

  /// Asks whether root's store is meant, if sudo runs this for another user. Nothing else depends on that: the store is
  /// always that of the user who runs the program.
  private func requireOwnAccount(_ dialogue: SetupDialogue) throws(Failure) {
    guard let name = UserEnvironment.askedThroughSudo else { return }
    let question =
      "This sets up root's store, since sudo runs it. Yours is set up by 'whorl setup' without sudo. Go on?"
    guard try !dialogue.isChosen(question) else { return }
    throw Failure(
      .refused, "nothing was set up for root", advice: "run 'whorl setup' as \(Visible.text(name)), without sudo")
  }
}
