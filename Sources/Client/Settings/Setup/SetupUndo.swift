/// Takes back what is set up, in the order of ``UndoPlan``, and goes on with what an earlier run has not finished. Making one
/// only looks. How a step is taken back is the program's part: the command line runs the command of the step, and a window
/// makes the same change itself.
package struct SetupUndo: Sendable {
  /// What became of a step.
  package enum Outcome: Sendable {
    case done
    /// It is not taken back, or not completely. The other steps go on.
    case failed
    /// It was not tried, since this step has to be taken back before it.
    case waiting(for: SetupStep)
  }

  package let findings: [Finding]
  /// What is taken back, in order.
  package let steps: [UndoPlan.Step]
  private var unfinished: UnfinishedUndo

  /// - Parameter onGap: told why readers may be missing in what is found.
  package init(
    _ context: any SettingsContext, onGap: @escaping @Sendable (Failure) -> Void
  ) async throws(Failure) {
    // First, since nothing may be taken back if this cannot be understood.
    unfinished = try UnfinishedUndo(for: try context.place())
    findings = try await SetupSurvey(context, onGap: onGap).findings()
    steps = UndoPlan(findings, unfinished: unfinished.steps, for: context.named).steps
  }

  /// Takes back all steps.
  ///
  /// - Parameters:
  ///   - takeBack: takes one step back, and returns whether it is taken back completely. After an error no further step is
  ///     tried, and the next run goes on with this one.
  ///   - tell: told what became of each step.
  /// - Returns: the steps that are not taken back.
  package mutating func run(
    _ takeBack: (UndoPlan.Step) async throws(Failure) -> Bool, tell: (UndoPlan.Step, Outcome) async -> Void
  ) async throws(Failure) -> [UndoPlan.Step] {
    // What is noted and no longer on was taken back by its own command, but for what is to be copied.
    for step in unfinished.steps where !steps.contains(where: { $0.step == step }) { try unfinished.finish(step) }
    try unfinished.begin(steps.map(\.step))
    var failed: [UndoPlan.Step] = []
    for step in steps {
      if let needed = step.step.undoneAfter.first(where: { needed in failed.contains { $0.step == needed } }) {
        failed.append(step)
        await tell(step, .waiting(for: needed))
      } else if try await takeBack(step) {
        try unfinished.finish(step.step)
        await tell(step, .done)
      } else {
        failed.append(step)
        await tell(step, .failed)
      }
    }
    return failed
  }
}
