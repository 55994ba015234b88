import CommandBase
import Primitives
import Processes
internal import Prompts
import Settings

/// `whorl setup` at a terminal: asks for each remaining step and carries out what is chosen. It checks the machine
/// again before each question, so that it can be stopped anywhere and continued later.
final class SetupConversation {
  private let session: Session
  private let dialogue: SetupDialogue
  private let hardening: Hardening
  /// The passcode and the recovery key of a new store, so that no command asks for them again.
  private var store: StoreMaking.Choice?
  /// The commands that failed.
  private var failed: [[String]] = []

  init(_ session: Session, _ dialogue: SetupDialogue, _ hardening: Hardening) {
    (self.session, self.dialogue, self.hardening) = (session, dialogue, hardening)
  }

  /// - Parameter findings: the survey's findings, already printed.
  func run(_ findings: [Finding]) async throws(Failure) {
    Interruption.atEnd { StandardError.line("\(SetupDialogue.goesOn).") }
    guard findings.contains(where: { $0.state == .open }) else { return try await page() }
    dialogue.tell("Each step is asked for and can be taken back. Ctrl-C ends this anywhere: \(SetupDialogue.goesOn).")
    for step in SetupStep.allCases { try await carryOut(step) }
    try await page()
    if let command = failed.first {
      throw Failure(
        .unavailable, "the rest was set up, but this command failed: \(ShellLine.text(command))",
        advice: "'whorl setup' tries it again")
    }
  }

  private func carryOut(_ step: SetupStep) async throws(Failure) {
    var done: [[String]] = []
    // A step may need several commands, and an earlier step may have changed the state of this one.
    while let finding = try await SetupSurvey(at: session).findings().first(where: { $0.step == step }),
      finding.state == .open
    {
      if step == .store { return try await makeStore() }
      if let advice = finding.advice {
        guard step == .fingers else { return dialogue.tell("Whorl is \(finding.words).", "To change that, \(advice)") }
        return try await wait(for: step, finding.words, advice)
      }
      guard let offer = finding.offers.first(where: { !done.contains($0.command) }),
        try isChosen(offer, of: step), try run(offer, of: step)
      else { return }
      done.append(offer.command)
    }
  }

  private func makeStore() async throws(Failure) {
    let made: Result<StoreMaking.Choice, Failure>
    do throws(Failure) {
      made = .success(try await StoreMaking(session: session, dialogue: dialogue).make())
    } catch {
      made = .failure(error)
    }
    // This also removes a new store that was not kept.
    await session.close()
    store = try made.get()
    dialogue.tell("The store is made.")
    if store?.isInKeyFile == true {
      dialogue.add(
        "Its keys are in a file, not in a security chip (TPM) of this computer. You need not do anything."
      )
    }
  }

  private func isChosen(_ offer: SetupOffer, of step: SetupStep) throws(Failure) -> Bool {
    // Already chosen together with the passcode.
    if step == .login, store?.isLoginPassword == true { return true }
    dialogue.tell()
    return try dialogue.isChosen(offer.question, standard: offer.isYesByDefault)
  }

  /// Runs a command, and again if it failed and the person wants that. False if it failed.
  private func run(_ offer: SetupOffer, of step: SetupStep) throws(Failure) -> Bool {
    dialogue.add("> \(ShellLine.text(offer.command))")
    var answers = answers(for: step)
    while true {
      let status = ChosenCommand(offer.command).run(hardening, answers: answers)
      guard status != 0 else { return true }
      guard !Interruption.isFollowing else {
        throw Failure(
          .unavailable, "this ended with status \(status): \(ShellLine.text(offer.command))",
          advice: SetupDialogue.goesOn)
      }
      // The answers may have been wrong.
      answers = []
      guard try dialogue.isChosen("That did not work, for the reason above. Try it again?") else {
        failed.append(offer.command)
        return false
      }
    }
  }

  /// The answers for a command of this step, so that it does not prompt.
  private func answers(for step: SetupStep) -> [ChosenCommand.Answer] {
    guard let store else { return [] }
    switch step {
    case .fingers, .login: return [("--passcode-fd", store.passcode)]
    case .keyring:
      let recovery = ("--recovery-fd", store.recoveryKey)
      // A keyring that the desktop has made has the login password.
      return store.isLoginPassword ? [("--password-fd", store.passcode), recovery] : [recovery]
    default: return []
    }
  }

  /// Waits for a finger that another program enrols.
  private func wait(for step: SetupStep, _ words: String, _ advice: String) async throws(Failure) {
    dialogue.tell(
      "Fingers: \(words).", "To have one, \(advice).", "Waiting for it. Press Enter to continue without it.")
    while try !dialogue.isEntered(within: .seconds(2)) {
      guard await FprintdFingers(session).isAnyEnrolled() != false else { continue }
      guard let finding = try await SetupSurvey(at: session).findings().first(where: { $0.step == step }),
        finding.isSetUp
      else {
        continue
      }
      return dialogue.add("Found: \(finding.words).")
    }
  }

  /// The final summary: what is on, how to undo it, and what is left.
  private func page() async throws(Failure) {
    let findings = try await SetupSurvey(at: session).findings()
    var lines = ["", "On:"] + findings.filter { $0.isSetUp }.flatMap(\.wayBackLines)
    let left = findings.filter { $0.state == .open }
    if !left.isEmpty { lines += ["", "Not done yet; 'whorl setup' continues with:"] + left.flatMap(\.setupLines) }
    let next = findings.first(where: { $0.state == .faulty })?.advice ?? "whorl set mail/me"
    lines += [
      "", "'whorl setup --undo' takes all of it back. 'whorl doctor' checks everything. Next: \(next)",
    ]
    for line in lines { try StandardOutput.line(Visible.text(line)) }
  }
}
