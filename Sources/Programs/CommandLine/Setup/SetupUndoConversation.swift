import CommandBase
import Moving
import Processes
internal import Prompts
import Settings

/// `whorl setup --undo`: takes back the steps after a question, and finally removes the store with everything in it.
struct SetupUndoConversation {
  private let session: Session
  private let hardening: Hardening
  /// Whether to skip the prompts. The store is then kept.
  private let isAgreed: Bool

  init(session: Session, hardening: Hardening, isAgreed: Bool) {
    (self.session, self.hardening, self.isAgreed) = (session, hardening, isAgreed)
  }

  func run() async throws(Failure) {
    var undo = try await SetupUndo(session, onGap: UsableReaders.tell)
    let removal = try await StoreRemoval(CommandDialogue(session, of: "setup"))
    if !undo.steps.isEmpty {
      StandardError.line("This takes back, one after the other:")
      for line in undo.steps.flatMap(\.finding.wayBackLines) { StandardError.line(Visible.text(line)) }
      if !isAgreed { try session.answers().confirm("Go on?", assent: "--yes") }
    }
    await session.close()
    let failed = try await undo.run(takeBack) { step, outcome in
      guard case .waiting(let needed) = outcome else { return }
      StandardError.line("Not taken back before '\(needed.rawValue)' is: \(step.step.rawValue)")
    }
    // While anything is left to do, the store may have what it needs.
    if failed.isEmpty, try await removeStore(undo.findings, removal) { return }
    tellOfTheRest(undo.findings)
    guard let command = failed.first?.command else { return }
    throw Failure(
      .unavailable, "this command failed, for the reason above: \(ShellLine.text(command))",
      advice: "put that right and run 'whorl setup --undo' again")
  }

  private func takeBack(_ step: UndoPlan.Step) throws(Failure) -> Bool {
    let status = run(step.command)
    guard !Interruption.isFollowing else {
      throw Failure(
        .unavailable, "this ended with status \(status): \(ShellLine.text(step.command))",
        advice: "'whorl setup --undo' goes on from here")
    }
    return status == 0
  }

  private func run(_ command: [String]) -> Int32 {
    StandardError.line(Visible.text("> \(ShellLine.text(command))"))
    return ChosenCommand(command).run(hardening)
  }

  /// Removes the store if the person wants that. Returns whether nothing is left to say.
  private func removeStore(_ findings: [Finding], _ removal: StoreRemoval) async throws(Failure) -> Bool {
    guard findings.contains(where: { $0.step == .store && $0.isSetUp }) else {
      if findings.allSatisfy({ $0.undo == nil || !$0.isSetUp }) { StandardError.line("Nothing is set up.") }
      return true
    }
    guard !isAgreed, let terminal = Terminal() else { return false }
    let contents = try await removal.contents()
    let isWanted =
      contents.only.isEmpty
      ? try SetupDialogue(terminal: terminal).isChosen(
        "Remove the store, too, for good? Everything in it was seen elsewhere.")
      : try contents.only.isAgreed(to: "the store", session.answers())
    guard isWanted, try await removal.remove(with: contents, runAsRoot: { run($0) == 0 }) else { return false }
    StandardError.line("Everything was undone. A finger in the desktop's settings stays there.")
    return true
  }

  /// Lists what stays, and how to remove it.
  private func tellOfTheRest(_ findings: [Finding]) {
    guard let store = findings.first(where: { $0.step == .store && $0.isSetUp }) else { return }
    StandardError.line("The store stays, with its passcode, its fingers and what is in it. To remove it for good:")
    StandardError.line(Visible.text("  \(store.wayBack ?? "")"))
  }
}
