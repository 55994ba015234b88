import ArgumentParser
import Fingerprint

struct ReaderTest: Command {
  static let configuration = CommandConfiguration(
    commandName: "test",
    abstract: "Test a reader with your own finger.",
    discussion: """
      Runs the steps in the order given, within one claim of the reader, without a store. What is enrolled is a test \
      print: keep 'delete' as the last step, so that none stays on a reader that stores prints itself. 'clear' ERASES \
      every print on such a reader, other systems' too, and is done only when it is named.

      The result is a line for each step, TAP with --tap, or JSON. The exit status is that of the first step that \
      failed.

      Examples:
        whorl reader test
        whorl reader test --steps enroll,verify,delete --tap
        whorl reader test --steps enroll,verify,delete --suspend-during verify
      """)

  static let spoken = "reader test"

  @OptionGroup var options: GlobalOptions

  @Option(
    help: ArgumentHelp(
      "The steps, with commas between: clear, enroll, list, verify, identify, delete.", valueName: "list"))
  var steps: StepList = StepList(steps: [.enroll, .list, .verify, .identify, .delete])

  @Option(
    help: ArgumentHelp("Suspend and resume the reader while this step (verify or identify) waits.", valueName: "step"))
  var suspendDuring: ReaderTestStep?

  @Flag(help: "Print the Test Anything Protocol.")
  var tap = false

  func validate() throws {
    if tap, options.json { throw ValidationError("--tap and --json exclude each other.") }
    if let suspendDuring {
      guard suspendDuring == .verify || suspendDuring == .identify else {
        throw ValidationError("--suspend-during takes verify or identify.")
      }
      guard steps.steps.contains(suspendDuring) else {
        throw ValidationError("--suspend-during names a step that is not run.")
      }
    }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let reader = session.reader()
    let (steps, suspendDuring) = (steps.steps, suspendDuring)
    let form: ReaderTestReport.Form = options.json ? .json : tap ? .tap : .human
    let task = Task {
      await Self.run(reader, steps, suspendDuring, form, session)
    }
    Interruption.onSignal { task.cancel() }
    let result = await task.value
    try? await reader.close()
    Interruption.onSignal(nil)
    try result.get()
  }

  private static func run(
    _ reader: any FingerprintReader, _ steps: [ReaderTestStep], _ suspendDuring: ReaderTestStep?,
    _ form: ReaderTestReport.Form, _ session: Session
  ) async -> Result<Void, Failure> {
    do {
      let opened = try await reader.open(session.chosen(from: try await reader.readers()).id)
      var report = try ReaderTestReport(form, opened, steps)
      let test = ReaderTestRun(reader: reader, description: opened, suspendDuring: suspendDuring)
      var failure: Failure?
      for step in steps {
        let start = ContinuousClock.now
        let outcome = await test.run(step)
        try report.add(step, outcome, ContinuousClock.now - start)
        if case .failed(let problem) = outcome, failure == nil {
          failure = problem
          failure?.what = "\(step.rawValue): \(problem.what)"
        }
      }
      // A fresh task: this one may be cancelled, and a test print must not stay where the test was to delete it.
      if steps.contains(.delete) { await Task { await test.forgetPrint() }.value }
      try report.finish()
      return failure.map { .failure($0) } ?? .success(())
    } catch {
      return .failure(session.explained(error))
    }
  }
}

/// One step of `reader test`.
enum ReaderTestStep: String, CaseIterable, ExpressibleByArgument {
  case clear, enroll, list, verify, identify, delete
}

/// The value of `--steps`.
struct StepList: ExpressibleByArgument {
  var steps: [ReaderTestStep]

  init(steps: [ReaderTestStep]) { self.steps = steps }

  init?(argument: String) {
    let names = argument.split(separator: ",", omittingEmptySubsequences: false)
    steps = names.compactMap { ReaderTestStep(rawValue: String($0)) }
    guard steps.count == names.count else { return nil }
  }

  var defaultValueDescription: String { steps.map(\.rawValue).joined(separator: ",") }
}
