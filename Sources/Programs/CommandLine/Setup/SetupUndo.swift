import Moving
import Processes
internal import Prompts
import SecretModel
import Settings
import Whorl

/// `whorl setup --undo`: undoes the steps, each after those that it needs, and finally removes the store with everything
/// in it.
struct SetupUndo {
  private let session: Session
  private let hardening: Hardening
  /// Whether to skip the prompts. The store is then kept.
  private let isAgreed: Bool
  private let place: StorePlace

  init(session: Session, hardening: Hardening, isAgreed: Bool) throws(Failure) {
    (self.session, self.hardening, self.isAgreed) = (session, hardening, isAgreed)
    place = try session.place()
  }

  func run() async throws(Failure) {
    var unfinished = try UnfinishedUndo(for: place)
    let findings = try await SetupSurvey(at: session).findings()
    let steps = UndoPlan(findings, unfinished: unfinished.steps, for: session.named).steps
    let removal = StoreRemoval(session: session, place: place, hardening: hardening)
    // A machine that leaves the circle no longer tells what the others have.
    let shared = try await removal.itemsOnOtherMachines()
    if !steps.isEmpty {
      StandardError.line("This takes back, one after the other:")
      for line in steps.flatMap(\.finding.wayBackLines) { StandardError.line(Visible.text(line)) }
      if !isAgreed { try session.answers().confirm("Go on?", assent: "--yes") }
    }
    // What is noted and no longer on was taken back by its own command, but for what is to be copied.
    for step in unfinished.steps where !steps.contains(where: { $0.step == step }) { try unfinished.finish(step) }
    await session.close()
    try unfinished.begin(steps.map(\.step))
    var failed: [UndoPlan.Step] = []
    for step in steps {
      if let needed = step.step.undoneAfter.first(where: { needed in failed.contains { $0.step == needed } }) {
        StandardError.line("Not taken back before '\(needed.rawValue)' is: \(step.step.rawValue)")
        failed.append(step)
        continue
      }
      StandardError.line(Visible.text("> \(ShellLine.text(step.command))"))
      let status = ChosenCommand(step.command).run(hardening)
      guard !Interruption.isFollowing else {
        throw Failure(
          .unavailable, "this ended with status \(status): \(ShellLine.text(step.command))",
          advice: "'whorl setup --undo' goes on from here")
      }
      if status == 0 { try unfinished.finish(step.step) } else { failed.append(step) }
    }
    // While anything is left to do, the store may have what it needs.
    if failed.isEmpty, try await removeStore(findings, removal, elsewhere: shared) { return }
    tellOfTheRest(findings)
    guard let command = failed.first?.command else { return }
    throw Failure(
      .unavailable, "this command failed, for the reason above: \(ShellLine.text(command))",
      advice: "put that right and run 'whorl setup --undo' again")
  }

  /// Removes the store if the person wants that. Returns whether nothing is left to say.
  private func removeStore(
    _ findings: [Finding], _ removal: StoreRemoval, elsewhere: Set<ItemID>
  ) async throws(Failure) -> Bool {
    guard findings.contains(where: { $0.step == .store && $0.isSetUp }) else {
      if findings.allSatisfy({ $0.undo == nil || !$0.isSetUp }) { StandardError.line("Nothing is set up.") }
      return true
    }
    guard !isAgreed, let terminal = Terminal() else { return false }
    let contents = try await removal.contents(elsewhere: elsewhere)
    let isWanted =
      contents.only.isEmpty
      ? try SetupDialogue(terminal: terminal).isChosen(
        "Remove the store, too, for good? Everything in it was seen elsewhere.")
      : try contents.only.isAgreed(to: "the store", session.answers())
    guard isWanted, try await removal.remove(with: contents) else { return false }
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
