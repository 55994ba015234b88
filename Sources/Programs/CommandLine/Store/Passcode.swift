import ArgumentParser
import CommandBase
internal import Prompts
import SecretModel
import Settings

struct Passcode: Command {
  static let configuration = CommandConfiguration(
    commandName: "passcode",
    abstract: "Change, set or remove the passcode.",
    discussion: """
      Asks for the old passcode (the recovery key where none is set) and twice for the new one. What is stored under \
      the passcode moves to a new key, which the old one does not open. --remove takes the passcode away: items that need it or need one to be set (--access passcode, --accessible passcode-set) die with it, for \
      good, those of other programs too; they are listed first.

      In the system service, --first-unlock says what opens the items after each start of it: the passcode alone, or a \
      login at this machine as well, by finger or by password. With 'login' the passcode has no part in what protects \
      the items of the session classes on the disk.

      Examples:
        whorl passcode
        whorl passcode --passcode-fd 3 3<old-and-new
        whorl passcode --remove
        whorl passcode --first-unlock login
      """)

  @OptionGroup var options: GlobalOptions

  @Flag(help: "Remove the passcode.")
  var remove = false

  @Option(
    help: ArgumentHelp("What opens the items after each start of the service: passcode or login.", valueName: "rule"))
  var firstUnlock: Rule?

  /// The rules that can be chosen.
  enum Rule: String, ExpressibleByArgument, CaseIterable {
    case passcode, login

    fileprivate var firstUnlock: FirstUnlock {
      switch self {
      case .passcode: .passcode
      case .login: .login
      }
    }
  }

  @OptionGroup var guessable: GuessablePasscodeOption

  @Flag(name: .shortAndLong, help: "Do not ask before items are destroyed.")
  var yes = false

  @OptionGroup var recovery: RecoveryKeyOption

  func validate() throws {
    if yes, !remove { throw ValidationError("--yes goes with --remove.") }
    if guessable.allowGuessable, remove || firstUnlock != nil {
      throw ValidationError("--allow-guessable goes with a new passcode.")
    }
    if remove, firstUnlock != nil { throw ValidationError("--remove and --first-unlock do not go together.") }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let answers = session.answers(recoveryKey: recovery.recoveryFd)
    if let firstUnlock {
      try await session.asking(answers) { try await $0.setFirstUnlock(firstUnlock.firstUnlock, $1) }
      if options.json { return try JSON.print(RuleReport(firstUnlock: firstUnlock.rawValue)) }
      return StandardError.line(
        firstUnlock == .login
          ? "A login at this machine opens the store after a start. Whoever has its disk needs no passcode for that."
          : "After a start the passcode opens the store, and nothing else.")
    }
    guard remove else {
      if try await LoginPasscodeChange.isChosen(session), !options.json {
        StandardError.line(
          "Your login password is the passcode so far. This changes the passcode alone; 'passwd' changes both.")
      }
      try await session.asking(answers, options: session.contextOptions(guessable)) {
        try await $0.changePasscode($1)
      }
      try report(passcodeSet: true, lost: [], "The new passcode is set.")
      return try await LoginPasscodeChange(CommandDialogue(session, of: Self.spoken)).passcodeHasChanged()
    }
    let doomed = try await session.request { try await $0.losses(.passcode) }
    if !doomed.isEmpty {
      StandardError.line("Without the passcode \(Spoken.plural(doomed.count, "item")) will be dead, for good:")
      for name in doomed { StandardError.line("  \(Visible.text(name.description))") }
      if !yes { try answers.confirmLoss(assent: "--yes") }
    }
    let lost = try await session.asking(answers) { try await $0.removePasscode($1) }
    try report(passcodeSet: false, lost: lost, "The passcode is removed.")
  }

  private func report(passcodeSet: Bool, lost: [ItemName], _ words: String) throws(Failure) {
    if options.json {
      return try JSON.print(Report(passcodeSet: passcodeSet, lost: lost.map(\.description)))
    }
    StandardError.line(words)
    for name in lost { StandardError.line("Lost: \(Visible.text(name.description))") }
  }

  private struct RuleReport: Encodable {
    var firstUnlock: String
  }

  private struct Report: Encodable {
    var passcodeSet: Bool
    var lost: [String]
  }
}
