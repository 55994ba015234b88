import ArgumentParser
import Fingerprint
internal import PromptTexts
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
    let look = try await FingerLook(session)
    let (status, list) = (look.status, look.readers)
    let readers: Result<[ReaderDescription], Failure> =
      if list.readers.isEmpty, let problem = list.problem, problem != .reader(.absent) {
        .failure(session.explained(problem))
      } else {
        .success(list.readers)
      }
    let choice = Choice(list, status, session)
    let keys = status.tier.spoken(in: try session.place())
    if options.json { return try JSON.print(Report(status, keys, readers, choice, session)) }
    var lines: [(String, String)] = [
      ("store", status.directory),
      ("keys", keys),
      ("items", "\(status.items)"),
      ("passcode", status.passcodeSet ? "set" : "not set"),
      ("fingers", Self.lockout(status)),
    ]
    if !status.registers.isEmpty { lines.insert(("sealed to", Self.registers(status)), at: 2) }
    if status.firstUnlock != .none { lines.append(("unlocked", Self.unlocked(status))) }
    if status.passcodeDelay > 0 {
      lines.append(("delay", "the next passcode is accepted in \(Spoken.duration(status.passcodeDelay))"))
    }
    if let acceptance = status.restore {
      let command = acceptance == .recoveryKeyAndNewPasscode ? "recover" : "unlock"
      lines.append(
        (
          "restored",
          "an earlier copy was put back; 'whorl \(command)' lists it and accepts it with the \(acceptance.rawValue)"
        ))
    }
    for set in status.sets {
      let fingers = set.fingers.map(\.finger.rawValue).joined(separator: ", ")
      lines.append(
        (
          "enrolled",
          "\(fingers.isEmpty ? "none" : fingers) on \(set.reader.driver)\(Spoken.nature(set.nature)), \(Spoken.plural(set.boundItems, "item")) bound"
        ))
    }
    switch readers {
    case .success(let found):
      for reader in found { lines.append(("reader", Self.words(for: reader))) }
      if choice == nil, session.selection == .automatic, !found.isEmpty, let recorded = status.adapter {
        lines.append(("chosen", "none of these: \(recorded.reason)"))
      }
      if let choice { lines.append(("chosen", "\(Self.words(for: choice.reader)): \(choice.reason)")) }
      if found.isEmpty { lines.append(("reader", "none attached")) }
    case .failure(let failure):
      lines.append(("reader", failure.words))
    }
    let width = lines.map(\.0.count).max() ?? 0
    let text = lines.map { name, value in
      "\(name)\(String(repeating: " ", count: width - name.count + 2))\(Visible.text(value))\n"
    }
    try StandardOutput.write(text.joined())
  }

  private static func words(for reader: ReaderDescription) -> String {
    let kind =
      reader.identity.adapter.sharesFingers
      ? ", through fprintd" : reader.nature == .physical ? ", through libfprint" : ""
    return Spoken.reader(reader) + kind
  }

  /// The reader that the next request would use, and why.
  private struct Choice {
    let reader: ReaderDescription
    let reason: String

    init?(_ list: SecretModel.ReaderList, _ status: VaultStatus, _ session: Session) {
      guard let chosen = list.chosen,
        chosen.identity.adapter.sharesFingers || chosen.nature == .physical
      else { return nil }
      reader = chosen
      reason =
        switch (session.selection, status.adapter) {
        case (.automatic, let recorded?): recorded.reason
        case (.automatic, nil) where chosen.identity.adapter.sharesFingers: "fprintd has it"
        case (.automatic, nil): "fprintd has none"
        default: "asked for with \(session.selection)"
        }
    }
  }

  private static func registers(_ status: VaultStatus) -> String {
    let numbers = status.registers.map(String.init).joined(separator: ", ")
    return
      "\(status.registers.count == 1 ? "register" : "registers") \(numbers) (PCR): if one changes, only the recovery "
      + "key opens the store"
  }

  private static func lockout(_ status: VaultStatus) -> String {
    if status.restoreDetected { return "refused until what was put back is accepted" }
    if status.lockedOut { return "locked until the passcode ('whorl unlock') or the recovery key clears it" }
    if status.failures > 0 {
      return "\(Spoken.plural(status.failures, "failure")) of \(VaultStatus.failureLimit) in a row"
    }
    return "accepted"
  }

  private static func unlocked(_ status: VaultStatus) -> String {
    guard let deadline = status.passcodeDeadline else {
      return status.firstUnlock == .login
        ? "nothing until a login or the passcode ('whorl unlock')" : "nothing until the passcode ('whorl unlock')"
    }
    let classes = status.openClasses.map(\.rawValue).joined(separator: ", ")
    return "\(classes); the passcode is asked for again in \(Spoken.duration(deadline)), or sooner"
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

    init(
      _ status: VaultStatus, _ tier: String, _ readers: Result<[ReaderDescription], Failure>, _ choice: Choice?,
      _ session: Session
    ) {
      chosenReader = choice?.reader.id
      chosenBecause = choice?.reason
      store = status.directory
      self.tier = tier
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
      switch readers {
      case .success(let found): self.readers = found
      case .failure(let failure):
        self.readers = []
        readerProblem = failure.words
      }
    }
  }
}
