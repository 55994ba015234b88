import ArgumentParser
import CommandBase
import Primitives
import SecretModel
import Settings

struct Status: Command {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show the state of the store.",
    discussion: """
      Where the store is and how its root key is held, whether a passcode is set, a lockout or a delay, the fingers, \
      and the readers attached. 'key file (private)' means that another program of the same user can read the key \
      file, and with it every item that needs no passcode and no application password. 'key file (system service)' means \
      that the key file belongs to the service, and no program of the user can read it. 'systemd credential' means that \
      systemd gives the service the key. Unless the TPM seals it, it can be read from the same disk, as a key file can. \
      'TPM' means that the machine's TPM holds the keys, and counts the tries of passcodes.

      Examples:
        whorl status
        whorl status --json
      """)

  @OptionGroup var options: GlobalOptions

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let survey = try await StoreSurvey(session)
    if options.json { return try JSON.print(Report(survey, session)) }
    try StandardOutput.columns(survey.findings.map { ($0.subject, $0.words) })
  }

  private struct Report: Encodable {
    var store: String
    var tier: String
    /// The PCRs that the keys are sealed to.
    var registers: [UInt8]
    var items: Int
    var passcodeSet: Bool
    var failures: Int
    var lockedOut: Bool
    var passcodeDelay: Int
    var restoreDetected: Bool
    /// What is needed to accept a detected restore.
    var restoreAcceptedBy: String?
    /// What opens the items after a start: `none`, `passcode` or `login`.
    var firstUnlock: String
    /// The classes whose items are open.
    var openClasses: [String]
    /// Seconds until the passcode must be given again.
    var passcodeDeadline: Int?
    var sets: [SetReport]
    var readerSelection: String
    var readers: [ReaderDescription]
    /// The id of the reader that the next request would use, and why.
    var chosenReader: String?
    var chosenBecause: String?
    /// Why the readers could not be listed.
    var readerProblem: String?

    init(_ survey: StoreSurvey, _ session: Session) {
      let status = survey.status
      chosenReader = survey.choice?.reader.id
      chosenBecause = survey.choice?.reason
      store = status.directory
      tier = survey.keys
      registers = status.registers
      items = status.items
      passcodeSet = status.passcodeSet
      failures = status.failures
      lockedOut = status.lockedOut
      passcodeDelay = status.passcodeDelay
      restoreDetected = status.restoreDetected
      restoreAcceptedBy = status.restore?.rawValue
      firstUnlock = status.firstUnlock.rawValue
      openClasses = status.openClasses.map(\.rawValue)
      passcodeDeadline = status.passcodeDeadline
      sets = status.sets.map(SetReport.init)
      readerSelection = session.selection.description
      switch survey.readers {
      case .success(let found): readers = found
      case .failure(let failure):
        readers = []
        readerProblem = failure.words
      }
    }
  }
}
