internal import Glibc
internal import Moving
internal import Primitives
internal import Processes
internal import SecretModel
internal import Settings
internal import Whorl

/// Carries out a step of the setup for the window: changes of the library of settings, and commands that ask nothing. What
/// belongs to the computer is changed by the desktop's question for an administrator (pkexec).
nonisolated struct SetupChange: Sendable {
  let dialogue: WindowDialogue
  private let settings: WindowSettings
  private let place: ShownStore.Place

  init(_ settings: WindowSettings, _ shown: ShownStore, at place: ShownStore.Place) {
    (self.settings, self.place, dialogue) = (settings, place, WindowDialogue(settings, shown))
  }

  func end() async { await settings.close() }

  /// - Parameter isLast: whether no other command of the step follows.
  func turnOn(_ step: SetupStep, by command: [String], isLast: Bool) async throws(Failure) {
    try await VaultWork.runAside { () async throws(Failure) in
      switch step {
      case .login: try await LoginPasscodeChange(dialogue).enable(isAgreed: false, allowsGuessable: false)
      case .keyring: try await KeyringChange(dialogue).enable(sealedUnder: .recoveryKey, anyway: false)
      case .kwallet: try await KWalletChange(dialogue).enable()
      case .secrets where isLast:
        _ = try await SecretServiceTakeover(dialogue).run(
          atOnce: false, withKWallet: false, dryRun: false, ServiceManager.ofThisProgram)
      case .secrets: _ = try await DesktopPasswordCopy(dialogue).run()
      case .sudo, .polkit, .screen: try Self.runAsAdministrator(try FingerStep.command(to: .enable, step))
      case .service: try Self.runAsAdministrator(command)
      case .store, .passcode, .reader, .fingers, .passkeys, .ssh, .git, .gpg, .sync: try run(command)
      }
    }
  }

  func turnOff(_ step: SetupStep, by finding: Finding) async throws(Failure) {
    try await VaultWork.runAside { () async throws(Failure) in
      switch step {
      case .login: try await LoginPasscodeChange(dialogue).disable()
      case .keyring: try await KeyringChange(dialogue).disable()
      case .kwallet: try await KWalletChange(dialogue).disable()
      case .secrets:
        let report = try await SecretServiceHandback(dialogue, dryRun: false).run(ServiceManager.ofThisProgram)
        for each in report.progress { dialogue.tell(each) }
        if let failure = report.failure { throw failure }
      case .sync: try await leaveAll()
      case .sudo, .polkit, .screen: try Self.runAsAdministrator(try FingerStep.command(to: .disable, step))
      case .service: try Self.runAsAdministrator(finding.administratorsUndo ?? [])
      case .store, .passcode, .reader, .fingers, .passkeys, .ssh, .git, .gpg: try run(finding.undo ?? [])
      }
    }
  }

  /// Ends the sharing of this computer, after the person has agreed to what is lost for good.
  func leaveComputers() async throws(Failure) {
    try await VaultWork.runAside { () async throws(Failure) in try await leaveAll() }
  }

  private func leaveAll() async throws(Failure) {
    let leaving = try await SyncLeaving(dialogue, try Exchange.repository(of: place))
    try await dialogue.agree(
      toLose: leaving.lost, Text.of("These are in what your computers share, and nowhere else."))
    let areTold = try await leaving.run(ServiceManager.ofThisProgram)
    dialogue.tell(.done(Text.of("This computer shares with no other any more. Its secrets stay here.")))
    if !areTold {
      dialogue.tell(
        .problem(Text.of("The others could not be told: remove this computer on one of them, on its page “Computers”."))
      )
    }
  }

  /// Runs a command that asks nobody. `whorl` is the one beside this program.
  private func run(_ command: [String]) throws(Failure) {
    guard let name = command.first else { return }
    let status = Self.status(of: Self.located(command))
    guard status == 0 else {
      throw Failure(
        .unavailable, "'\(ShellLine.text([name] + command.dropFirst()))' ended with status \(status)",
        advice: "run it in a terminal, where it says why")
    }
  }

  private static func located(_ command: [String]) -> [String] {
    guard command.first == "whorl", let path = HelperPlaces(of: "whorl").locateWithExecutable() else { return command }
    return [path] + command.dropFirst()
  }

  /// Runs a command of an administrator's, such as one that begins with `sudo`.
  static func runAsAdministrator(_ command: [String]) throws(Failure) {
    let command = command.first == "sudo" ? Array(command.dropFirst()) : command
    let status = Self.status(of: ["pkexec"] + located(command))
    switch status {
    case 0: return
    // pkexec: the person has closed the dialog.
    case 126: throw .cancelled
    case 127:
      throw Failure(
        .refused, "this needs an administrator's password, which nobody could be asked for",
        advice: "run '\(ShellLine.text(["sudo"] + command))' in a terminal")
    default:
      throw Failure(
        .unavailable, "'\(ShellLine.text(command))' ended with status \(status)",
        advice: "run '\(ShellLine.text(["sudo"] + command))' in a terminal, where it says why")
    }
  }

  @Sendable fileprivate static func status(of command: [String]) -> Int32 {
    guard let started = try? ForegroundCommand(command[0], command, isQuiet: true) else { return 127 }
    return started.status()
  }
}

extension ServiceManager {
  /// One whose commands show nothing.
  nonisolated static var ofThisProgram: ServiceManager { ServiceManager(running: SetupChange.status) }
}
