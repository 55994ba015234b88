import ArgumentParser
import CommandBase
import Primitives
internal import Prompts
import Settings

struct ReaderTest: Command {
  static let configuration = CommandConfiguration(
    commandName: "test",
    abstract: "Test a reader with your own finger.",
    discussion: """
      A guided run on one reader, through fprintd or libfprint, without a store: it tells what to do, and whether the \
      reader is good enough for a secret store. Without --steps it takes the picture of a finger where the reader hands \
      one out, and says how good it is; enrols a finger, lists, verifies and identifies it, \
      tries another finger and a bad touch, cancels a scan, suspends and resumes in one, has a pluggable reader \
      unplugged, and deletes the print; of a recording it plays what was recorded.

      What is enrolled is a test print: keep 'delete' as the last step, so that none stays on a reader that stores \
      prints itself. 'clear' ERASES every print on such a reader, other systems' too, and is done only when it is \
      named; 'unplug' is asked of a built-in reader only when it is named. Through fprintd the finger is enrolled as \
      the left little one.

      'list' and 'identify' may stand before 'enroll' and after 'delete', too: 'list' counts the prints on the reader, \
      and 'identify' must match nothing. 'capture' reports the picture's size, resolution, minutiae and quality. The \
      picture itself leaves the reader process only with --image, into a file that only you can read.

      Where the system service is installed, it lends its reader for the test, and polkit asks for an administrator's \
      password. 'clear' and --image are root's there.

      The result is a line for each step with its time; TAP, JUnit or JSON with --format; and with --page a page to \
      attach to a bug. The exit status is that of the first step that failed.

      Examples:
        whorl-reader-kit test --page results.md
        whorl-reader-kit test --touches 50 --format junit >results.xml
        whorl-reader-kit test --steps enroll,verify,delete --format tap
        whorl-reader-kit test --steps capture --image finger.png
      """)

  static let spoken = "test"

  @OptionGroup var options: GlobalOptions

  @Option(
    help: ArgumentHelp(
      """
      The steps, with commas between: capture, clear, enroll, list, verify, identify, wrong, retry, cancel, suspend, touches, \
      unplug, delete.
      """, valueName: "list"))
  var steps: StepList?

  @Option(help: ArgumentHelp("Count false rejects over this many touches (1 to 1000).", valueName: "n"))
  var touches: Int?

  @Option(
    help: ArgumentHelp("Suspend and resume the reader while this step (verify or identify) waits.", valueName: "step"))
  var suspendDuring: ReaderTestStep?

  @Option(help: ArgumentHelp("human, tap, junit or json.", valueName: "form"))
  var format: ReaderTestReport.Form?

  @Option(
    help: ArgumentHelp(
      "Keep the picture of the step 'capture', YOUR FINGERPRINT, in this new file (PNG).", valueName: "file"))
  var image: String?

  @Option(help: ArgumentHelp("Write the results as a page (Markdown) to this new file.", valueName: "file"))
  var page: String?

  func validate() throws {
    if options.json, let format, format != .json { throw ValidationError("--json and --format exclude each other.") }
    if let touches, !(1...1000).contains(touches) { throw ValidationError("--touches takes 1 to 1000.") }
    if steps?.steps.contains(.touches) == true, touches == nil {
      throw ValidationError("The step 'touches' needs --touches.")
    }
    if touches != nil, let steps, !steps.steps.contains(.touches) {
      throw ValidationError("--touches goes with the step 'touches'.")
    }
    if image != nil, let steps, steps.steps.count(where: { $0 == .capture }) != 1 {
      throw ValidationError("--image goes with one step 'capture'.")
    }
    if let suspendDuring {
      guard suspendDuring == .verify || suspendDuring == .identify else {
        throw ValidationError("--suspend-during takes verify or identify.")
      }
      if let steps, !steps.steps.contains(suspendDuring) {
        throw ValidationError("--suspend-during names a step that is not run.")
      }
    }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let pageFile = try page.map { (path) throws(Failure) in try NewFile(path) }
    let imageFile = try image.map { (path) throws(Failure) in try NewFile(path) }
    let form = options.json ? .json : format ?? .human
    var plan = ReaderTestPlan(
      steps: steps?.steps, touches: touches ?? 0, suspendDuring: suspendDuring, form: form)
    // A recording lists the steps that it can answer.
    if case .replay(let folder) = session.selection, steps == nil, let note = try RecordingNote.read(in: folder) {
      plan = try note.plan(form, in: folder)
    }
    plan.image = imageFile
    let report = try await plan.run(
      on: UsableReaders(session).tested(), session, named: session.selection.device)
    // Write the page even if a step failed: it is needed most then.
    if let pageFile {
      let page = ReaderTestPage(report: report.report)
      try pageFile.write(mode: 0o644) { writeAll(page.text, to: $0) }
    }
    if let failure = report.failure { throw failure }
  }
}
