import OtherStores
import Processes
internal import PromptTexts
import SecretModel
internal import TerminalLines
import Whorl

/// `whorl setup --undo`: undoes the steps, each after those that it needs, and finally removes the store with everything
/// in it.
struct SetupUndo {
  private let survey: SetupSurvey
  private let hardening: Hardening
  /// Whether to skip the prompts. The store is then kept.
  private let isAgreed: Bool
  private let place: StorePlace

  init(survey: SetupSurvey, hardening: Hardening, isAgreed: Bool) throws(Failure) {
    (self.survey, self.hardening, self.isAgreed) = (survey, hardening, isAgreed)
    place = try survey.session.place()
  }

  private struct Step {
    let step: SetupStep
    let command: [String]
    /// What is said about it before it is undone.
    let lines: [String]
  }

  func run() async throws(Failure) {
    var unfinished = try UnfinishedUndo(for: place.word)
    let findings = try await survey.findings()
    let steps = UndoOrder.steps.compactMap { step in self.step(step, findings, unfinished) }
    let removal = StoreRemoval(session: survey.session, place: place, hardening: hardening)
    // A machine that leaves the circle no longer tells what the others have.
    let shared = try await removal.itemsOnOtherMachines()
    if !steps.isEmpty {
      StandardError.line("This takes back, one after the other:")
      for line in steps.flatMap(\.lines) { StandardError.line(Visible.text(line)) }
      if !isAgreed { try survey.session.answers().confirm("Go on?", assent: "--yes") }
    }
    // What is noted and no longer on was taken back by its own command, but for what is to be copied.
    for step in unfinished.steps where !steps.contains(where: { $0.step == step }) { try unfinished.finish(step) }
    await survey.session.close()
    try unfinished.begin(steps.map(\.step))
    var failed: [Step] = []
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

  /// A step to take back: one that is on, or one that an earlier run has not finished.
  private func step(_ step: SetupStep, _ findings: [SetupFinding], _ unfinished: UnfinishedUndo) -> Step? {
    if let found = findings.first(where: { $0.step == step && $0.state == .done }), let command = found.undo {
      return Step(step: step, command: command, lines: found.wayBackLines)
    }
    guard step == .secrets, unfinished.steps.contains(step) else { return nil }
    let words = "off, but not all passwords were copied back yet"
    return Step(
      step: step, command: survey.copyingBack,
      lines: SetupFinding.done(step, words, undo: survey.copyingBack).wayBackLines)
  }

  /// Removes the store if the person wants that. Returns whether nothing is left to say.
  private func removeStore(
    _ findings: [SetupFinding], _ removal: StoreRemoval, elsewhere: Set<ItemID>
  ) async throws(Failure) -> Bool {
    guard findings.contains(where: { $0.step == .store && $0.state == .done }) else {
      if findings.allSatisfy({ $0.undo == nil || $0.state != .done }) { StandardError.line("Nothing is set up.") }
      return true
    }
    guard !isAgreed, let terminal = Terminal() else { return false }
    let contents = try await removal.contents(elsewhere: elsewhere)
    let isWanted =
      contents.only.isEmpty
      ? try SetupDialogue(terminal: terminal).isChosen(
        "Remove the store, too, for good? Everything in it was seen elsewhere.")
      : try contents.only.isAgreed(to: "the store", survey.session.answers())
    guard isWanted, try await removal.remove(with: contents) else { return false }
    StandardError.line("Everything was undone. A finger in the desktop's settings stays there.")
    return true
  }

  /// Lists what stays, and how to remove it.
  private func tellOfTheRest(_ findings: [SetupFinding]) {
    guard let store = findings.first(where: { $0.step == .store && $0.state == .done }) else { return }
    StandardError.line("The store stays, with its passcode, its fingers and what is in it. To remove it for good:")
    StandardError.line(Visible.text("  \(store.wayBack ?? "")"))
  }
}

extension StorePlace {
  /// Names the store in the file of an unfinished undo.
  fileprivate var word: String {
    switch self {
    case .own: "service"
    case .folder(let folder): folder.directory
    }
  }
}
