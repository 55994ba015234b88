import Fingerprint

/// The plan of a run of `reader test`.
struct ReaderTestPlan {
  /// Nil for the usual steps of the reader that is found.
  var steps: [ReaderTestStep]?
  var touches = 0
  var suspendDuring: ReaderTestStep?
  /// Nil to print no report.
  var form: ReaderTestReport.Form?
  /// The file for the picture of the step `capture`; nil if the picture must not leave the reader process.
  var image: NewFile?

  struct Result {
    var report: ReaderTestReport
    /// The failure of the first failed step.
    var failure: Failure?
  }

  /// Runs it within one claim of the reader. Ctrl-C cancels it.
  ///
  /// - Parameter device: the id or name of the reader; nil for the first one.
  func run(
    on reader: any FingerprintReader, _ session: Session, named device: String?
  ) async throws(Failure) -> Result {
    let task = Task { await self.result(on: reader, session, device) }
    Interruption.onSignal { task.cancel() }
    let result = await task.value
    try? await reader.close()
    Interruption.onSignal(nil)
    return try result.get()
  }

  private func result(
    on reader: any FingerprintReader, _ session: Session, _ device: String?
  ) async -> Swift.Result<Result, Failure> {
    do {
      let chosen = try CommandReaders(session: session).chosen(from: try await reader.readers(), named: device)
      let opened = try await CommandReaders(session: session).opened(chosen, reader)
      let steps = self.steps ?? ReaderTestStep.usual(for: opened, touches: touches)
      if image != nil, steps.count(where: { $0 == .capture }) != 1 {
        throw Failure.usage("this run has no step 'capture', or more than one", advice: "name the steps with --steps")
      }
      let test = ReaderTestRun(
        reader: reader, description: opened, touches: touches, suspendDuring: suspendDuring, image: image)
      var result: Result
      do {
        result = try await run(steps, test, ReaderTestReport(form, opened, steps))
      } catch {
        await forgetPrint(of: test, steps)
        throw error
      }
      await forgetPrint(of: test, steps)
      try result.report.finish()
      return .success(result)
    } catch {
      return .failure(session.explained(error))
    }
  }

  /// Deletes the test's print if the steps say so, even if a step failed or the report cannot be written.
  private func forgetPrint(of test: ReaderTestRun, _ steps: [ReaderTestStep]) async {
    // A new task, since this one may be cancelled.
    if steps.contains(.delete) { await Task { await test.forgetPrint() }.value }
  }

  private func run(
    _ steps: [ReaderTestStep], _ test: ReaderTestRun, _ report: ReaderTestReport
  ) async throws -> Result {
    var result = Result(report: report)
    for step in steps {
      let start = ContinuousClock.now
      let outcome = await test.run(step)
      try result.report.add(step, outcome, ContinuousClock.now - start)
      if case .failed(var problem) = outcome, result.failure == nil {
        problem.what = "\(step.rawValue): \(problem.what)"
        result.failure = problem
      }
      // Further steps would be cancelled as well.
      if Task.isCancelled { break }
    }
    return result
  }
}
