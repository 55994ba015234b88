import ArgumentParser
import CommandBase
import Primitives
internal import Prompts
import ReaderClient
internal import SecretModel
import Settings

struct ReaderRecord: Command {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Record a reader, to be tested without it.",
    discussion: """
      Runs the steps of 'test' on a USB reader through libfprint, as whoever may open its node (root, where the \
      system service is installed), and writes what went over the wire to the new folder DIR: the device (device), the \
      traffic (capture.ioctl) and a note of the steps (reader.json). Serial numbers are blanked. Then the recording is \
      replayed, to see that it is one.

      --from takes the device and the traffic from a folder that was recorded by other means, such as a capture of \
      usbmon (capture.pcapng or custom.pcapng): packets of other devices on the bus are left out.

      A reader that does not match on its chip hands out the PICTURE OF THE FINGER, and its recording holds it. Such a \
      one is made only with --include-my-fingerprint.

      'whorl-reader-kit test --reader replay:DIR' replays it. recordings/README.md says how it becomes a test.

      Examples:
        whorl-reader-kit record my-reader
        whorl-reader-kit record my-reader --from captured --steps enroll,verify,delete
      """)

  static let spoken = "record"

  @OptionGroup var options: GlobalOptions

  @Argument(help: ArgumentHelp("The folder to make.", valueName: "dir"))
  var directory: String

  @Option(help: ArgumentHelp("The steps, with commas between, as 'test' has them.", valueName: "list"))
  var steps: StepList?

  @Option(
    help: ArgumentHelp("Suspend and resume the reader while this step (verify or identify) waits.", valueName: "step"))
  var suspendDuring: ReaderTestStep?

  @Option(help: ArgumentHelp("Take what was recorded by other means from this folder.", valueName: "dir"))
  var from: String?

  @Flag(help: "Record a reader that hands out the picture of the finger.")
  var includeMyFingerprint = false

  @Flag(name: .shortAndLong, help: "Do not ask whether the fingerprint may be recorded.")
  var yes = false

  func validate() throws {
    if yes, !includeMyFingerprint { throw ValidationError("--yes goes with --include-my-fingerprint.") }
    if from != nil, steps == nil { throw ValidationError("--from needs --steps: the ones that were recorded.") }
    if let suspendDuring, suspendDuring != .verify, suspendDuring != .identify {
      throw ValidationError("--suspend-during takes verify or identify.")
    }
    let answered: [ReaderTestStep] = [.capture, .clear, .enroll, .list, .verify, .identify, .delete]
    if steps?.steps.contains(where: { !answered.contains($0) }) == true {
      throw ValidationError("A recording answers capture, clear, enroll, list, verify, identify and delete.")
    }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let making = try RecordingInTheMaking(directory)
    do throws(Failure) {
      let note =
        if let from { try await take(from, into: making, session) } else { try await record(into: making, session) }
      try making.note(note)
      try making.finish(holdsFingerprint: note.holdsFingerprint)
    } catch {
      making.giveUp()
      throw error
    }
    StandardError.line("Recorded in \(directory). Replaying it:")
    let replayed = try await plan(for: nil, form: options.json ? .json : .human).run(
      on: session.ownReaders.reader(.replay(directory: directory)), session, named: nil)
    if var failure = replayed.failure {
      failure.what = "the recording does not replay: \(failure.what)"
      throw failure
    }
    StandardError.line("It replays. Look through it before you give it away.")
  }

  // MARK: Where it comes from

  private func record(into making: RecordingInTheMaking, _ session: Session) async throws(Failure) -> RecordingNote {
    guard try !UsableReaders(session).areLent else {
      throw Failure(
        .refused, "the readers are the system service's, and what goes over the wire to them is recorded by root alone",
        advice: "run it as root: 'sudo whorl-reader-kit record'")
    }
    let listing = session.ownReaders.reader()
    let chosen: ReaderDescription
    do {
      chosen = try UsableReaders(session).chosen(
        from: try await listing.readers().filter { $0.identity.adapter.opensDevice }, named: session.selection.device)
    } catch {
      await listing.shutdown()
      throw session.explained(error)
    }
    await listing.shutdown()
    guard chosen.nature == .physical, let vendor = chosen.identity.vendor, let product = chosen.identity.product else {
      throw Failure(
        .usage, "only a physical USB reader is recorded", advice: "record others by hand: recordings/README.md")
    }
    let devices = USBDevice.all(vendor: vendor, product: product, serial: chosen.identity.serial)
    guard devices.count == 1, let device = devices.first else {
      throw Failure(
        .unavailable, "\(Spoken.plural(devices.count, "USB device")) of that kind", advice: "leave one of them attached"
      )
    }
    try consent(to: chosen, session)
    let numbers = try await making.describe(device)
    // With --json the report of the replay is the answer.
    let plan = plan(for: chosen, form: options.json ? nil : .human)
    let traced = session.ownReaders.reader(
      .libfprint(device: chosen.id), trace: ReaderTrace(node: device.node, log: making.log))
    let result = try await plan.run(on: traced, session, named: chosen.id)
    // The log is complete when the process has ended.
    await traced.shutdown()
    if let failure = result.failure { throw failure }
    try making.blank(numbers)
    return noted(chosen, plan.steps ?? [])
  }

  private func take(
    _ folder: String, into making: RecordingInTheMaking, _ session: Session
  ) async throws(Failure) -> RecordingNote {
    try making.copy(folder)
    let replay = session.ownReaders.reader(.replay(directory: making.folder))
    let described: Result<ReaderDescription, any Error>
    do {
      described = .success(try UsableReaders(session).chosen(from: try await replay.readers(), named: nil))
    } catch {
      described = .failure(error)
    }
    await replay.shutdown()
    switch described {
    case .success(let reader):
      try consent(to: reader, session)
      return noted(reader, steps?.steps ?? [])
    case .failure(let error): throw session.explained(error)
    }
  }

  private func plan(for reader: ReaderDescription?, form: ReaderTestReport.Form?) -> ReaderTestPlan {
    let usual: [ReaderTestStep] = [.enroll, .list, .verify, .identify, .delete]
    let possible = usual.filter { step in step.feature.map { reader?.features.contains($0) ?? true } ?? true }
    return ReaderTestPlan(steps: steps?.steps ?? possible, suspendDuring: suspendDuring, form: form)
  }

  private func noted(_ reader: ReaderDescription, _ steps: [ReaderTestStep]) -> RecordingNote {
    RecordingNote(reader, steps, suspendDuring: suspendDuring, holdsFingerprint: Self.handsOutPicture(reader))
  }

  // MARK: The person's own finger

  /// Whether the reader sends pictures of fingers to the host: one that can capture, or does not store prints.
  private static func handsOutPicture(_ reader: ReaderDescription) -> Bool {
    reader.features.contains(.capture) || !reader.features.contains(.storage)
  }

  private func consent(to reader: ReaderDescription, _ session: Session) throws(Failure) {
    guard Self.handsOutPicture(reader) else { return }
    guard includeMyFingerprint else {
      throw Failure(
        .refused, "this reader hands out the picture of the finger, and a recording would hold it",
        advice: "--include-my-fingerprint records it all the same, after a warning")
    }
    StandardError.line(
      """
      WARNING: the recording will hold YOUR FINGERPRINT itself. Whoever has it can make a copy of the finger, and you \
      cannot change the finger. Take one that opens nothing, and give the recording to nobody who may not have it.
      """)
    if !yes { try session.answers().confirm("Record your fingerprint?", assent: "--yes") }
  }
}
