import ArgumentParser
import CommandBase
import Primitives
internal import Prompts
import SecretModel
import Settings

struct Enroll: Command {
  static let configuration = CommandConfiguration(
    commandName: "enroll",
    abstract: "Enrol a finger.",
    discussion: """
      Where fprintd has the reader, as on most desktops, fprintd enrols the finger and asks for your login password, as \
      the desktop's settings do. Else it needs the passcode (the recovery key where there is none). Any change of the \
      enrolled fingers destroys the items stored with --access current-set, for good: they are listed first, and it is asked \
      whether to go on.

      FINGER is left-thumb, left-index, left-middle, left-ring, left-little, or the same of the right hand.

      Examples:
        whorl enroll
        whorl enroll left-thumb --yes
      """)

  @OptionGroup var options: GlobalOptions

  @Argument(help: "The finger.")
  var finger = Finger.rightIndex

  @Flag(name: .shortAndLong, help: "Do not ask before items are destroyed.")
  var yes = false

  @OptionGroup var recovery: RecoveryKeyOption

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let answers = session.answers(recoveryKey: recovery.recoveryFd)
    let look = try await FingerLook(session)
    let inFprintd = try look.readerOfFprintd.map { reader throws(Failure) in
      (reader, try FprintdChange(of: reader, to: "enrol a finger", session))
    }
    try await EnrolmentChange.allow(session, answers, yes: yes)
    let finger = finger
    let change: SetChange
    if let (reader, fprintd) = inFprintd {
      let bound = try await session.request { try await $0.losses(.fingers) }
      let line = EnrolmentLine()
      try await fprintd.withPasswordAgent { () async throws(Failure) in
        try await fprintd.enroll(finger) { line.show($0, asking: $1) }
      }
      line.finish()
      let fingers = try await session.request {
        if let problem = try await $0.biometry().problem { throw problem }
        return try await $0.status().sets.filter { $0.reader == reader.identity }.flatMap(\.fingers)
      }
      change = SetChange(finger: finger, fingers: fingers, lost: bound)
    } else {
      if look.count == 0, try session.isStoreOfService {
        StandardError.line(
          "The system asks for your login password, because this is the first finger that opens the store.")
      }
      change = try await session.withPasswordAgent { () async throws(Failure) in
        try await session.asking(answers) { try await $0.enroll(finger, $1) }
      }
    }
    try EnrolmentChange.report(change, "\(Spoken.leadingFinger(finger)) is enrolled.", json: options.json)
  }
}

struct Unenroll: Command {
  static let configuration = CommandConfiguration(
    commandName: "unenroll",
    abstract: "Forget a finger, or all of them.",
    discussion: """
      Needs the passcode (the recovery key where there is none). The items stored with --access current-set die with \
      the change: they are listed first, and it is asked whether to go on. A finger that fprintd has, fprintd forgets \
      too: the desktop's login then knows it no more.

      Examples:
        whorl unenroll left-thumb
        whorl unenroll --all --yes
      """)

  @OptionGroup var options: GlobalOptions

  @Argument(help: "The finger.")
  var finger: Finger?

  @Flag(help: "Forget all fingers.")
  var all = false

  @Flag(name: .shortAndLong, help: "Do not ask before items are destroyed.")
  var yes = false

  @OptionGroup var recovery: RecoveryKeyOption

  func validate() throws {
    if all == (finger != nil) { throw ValidationError("Name one finger, or give --all.") }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let answers = session.answers(recoveryKey: recovery.recoveryFd)
    let look = try await FingerLook(session)
    let fprintd = try look.readerOfFprintd.map { reader throws(Failure) in
      try FprintdChange(of: reader, to: "delete a finger", session)
    }
    try await EnrolmentChange.allow(session, answers, yes: yes)
    let finger = finger
    if let fprintd {
      // fprintd first: the service may not delete there, and would adopt the finger again.
      try await fprintd.withPasswordAgent { () async throws(Failure) in try await fprintd.delete(finger) }
    }
    let change = try await session.asking(answers) { try await $0.unenroll(finger, $1) }
    let what = finger.map { "\(Spoken.leadingFinger($0)) is" } ?? "All fingers are"
    try EnrolmentChange.report(change, "\(what) forgotten.", json: options.json)
  }
}

/// The confirmation before enrolling and unenrolling, which may destroy items.
enum EnrolmentChange {
  /// Lists the items that would be destroyed, and asks for confirmation.
  static func allow(_ session: Session, _ answers: Answers, yes: Bool) async throws(Failure) {
    let bound = try await session.request { try await $0.losses(.fingers) }
    guard !bound.isEmpty else { return }
    StandardError.line(
      "A change of the enrolled fingers destroys \(Spoken.plural(bound.count, "item")) bound to the current ones, for good:"
    )
    for name in bound { StandardError.line("  \(Visible.text(name.description))") }
    if !yes { try answers.confirmLoss(assent: "--yes") }
  }

  static func report(_ change: SetChange, _ words: String, json: Bool) throws(Failure) {
    if json {
      return try JSON.print(
        Report(
          finger: change.finger?.rawValue, fingers: change.fingers.map(\.finger.rawValue),
          lost: change.lost.map(\.description)))
    }
    StandardError.line(words)
    for name in change.lost { StandardError.line("Lost: \(Visible.text(name.description))") }
  }

  private struct Report: Encodable {
    var finger: String?
    var fingers: [String]
    var lost: [String]
  }
}
