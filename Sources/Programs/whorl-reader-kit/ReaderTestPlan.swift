// What a run of `whorl-reader-kit test` does, also where the note of a recording says so.

import CommandBase
import FoundationEssentials
import Primitives
import Settings

/// The plan of a run of `test`.
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
      let chosen = try UsableReaders(session).chosen(from: try await reader.readers(), named: device)
      let opened = try await UsableReaders(session).opened(chosen, reader, session)
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

/// `reader.json` of a recording: the reader, and the steps that it can answer, in order.
struct RecordingNote: Codable {
  static let file = "reader.json"

  var name: String
  var driver: String
  /// Four hexadecimal digits each.
  var vendor: String?
  var product: String?
  var scanType: ReaderDescription.ScanType
  var enrollStages: Int
  var features: [String]
  /// Whether the recording contains pictures of a finger.
  var holdsFingerprint: Bool
  var steps: [String]
  var suspendDuring: String?
  /// The version that made it.
  var whorl: String

  init(
    _ reader: ReaderDescription, _ steps: [ReaderTestStep], suspendDuring: ReaderTestStep?, holdsFingerprint: Bool
  ) {
    name = reader.name
    driver = reader.identity.driver
    vendor = reader.identity.vendor.map { Hexadecimal.text(of: $0) }
    product = reader.identity.product.map { Hexadecimal.text(of: $0) }
    scanType = reader.scanType
    enrollStages = reader.enrollStages
    features = reader.features.map(\.rawValue).sorted()
    self.holdsFingerprint = holdsFingerprint
    self.steps = steps.map(\.rawValue)
    self.suspendDuring = suspendDuring?.rawValue
    whorl = Version.text
  }

  /// Nil if the folder has none, as in libfprint's own recordings.
  static func read(in folder: String) throws(Failure) -> RecordingNote? {
    let path = "\(folder)/\(file)"
    guard let bytes = try? SmallFile.read(path, limit: 64 << 10) else { return nil }
    guard let note = try? JSONDecoder().decode(RecordingNote.self, from: Data(bytes)) else {
      throw Failure(.damaged, "\(path) is no note of a recording", advice: "name the steps with --steps")
    }
    return note
  }

  /// The steps to run.
  func plan(_ form: ReaderTestReport.Form, in folder: String) throws(Failure) -> ReaderTestPlan {
    let known = steps.compactMap(ReaderTestStep.init(rawValue:))
    let suspended = suspendDuring.flatMap(ReaderTestStep.init(rawValue:))
    guard known.count == steps.count, (suspended == nil) == (suspendDuring == nil) else {
      throw Failure(
        .damaged, "\(folder)/\(Self.file) names unknown steps", advice: "name the steps with --steps")
    }
    return ReaderTestPlan(steps: known, suspendDuring: suspended, form: form)
  }
}
