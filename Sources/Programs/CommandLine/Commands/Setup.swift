import ArgumentParser
import SecretModel
import Whorl

struct Setup: Command {
  static let configuration = CommandConfiguration(
    commandName: "setup",
    abstract: "Look at this computer, and set up what you choose.",
    discussion: """
      Looks at the service, your store, the reader, your fingers, what a login opens, ssh and git. Then it asks for each step \
      that is left, and runs the command of those that you choose: the same commands that you could type yourself. \
      Every step names the command that takes it back; --json names those of the steps that are done, too. It can be \
      ended and run again at any time.

      Without a terminal, and with --json, it only tells what there is.

      Examples:
        whorl setup
        whorl setup --json
      """)

  @OptionGroup var options: GlobalOptions

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let survey = SetupSurvey(session: session)
    let findings = try await survey.findings()
    guard !options.json else { return try JSON.print(["steps": findings]) }
    for line in findings.flatMap(\.lines) { try StandardOutput.line(Visible.text(line)) }
    guard findings.contains(where: { $0.state == .open }) else { return }
    guard let terminal = Terminal() else {
      return try StandardOutput.line("Run 'whorl setup' at a terminal to choose.")
    }
    for step in SetupStep.allCases {
      var done: [[String]] = []
      // Look again each time: an earlier step may have changed the state of this one, and a step may need several
      // commands.
      while let finding = try await survey.findings().first(where: { $0.step == step }), finding.state == .open,
        let command = finding.commands.first(where: { !done.contains($0) }), try isChosen(command, at: terminal)
      {
        let status = ChosenCommand(command).run(hardening)
        guard status == 0 else {
          throw Failure(
            .unavailable, "'\(command.joined(separator: " "))' ended with status \(status)",
            advice: "'whorl setup' goes on from here")
        }
        done.append(command)
      }
    }
    try StandardOutput.line("'whorl doctor' checks everything.")
  }

  private func isChosen(_ command: [String], at terminal: Terminal) throws(Failure) -> Bool {
    do {
      return try terminal.confirm("Run '\(Visible.text(command.joined(separator: " ")))' now?")
    } catch {
      throw Failure(error)
    }
  }
}
