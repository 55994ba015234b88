internal import CAdwaita
internal import Glibc
internal import Primitives
internal import Processes
internal import Prompts
internal import SecretModel
internal import Settings
internal import Whorl

/// What Whorl can do on this computer, step by step as `whorl setup` offers it: what is on and how it is taken back, and
/// what can be turned on.
final class SetupPage: WindowPage {
  private let interface = Interface(PackageResources.setup_ui)
  private let store: ShownStore
  private let goTo: (PageName) -> Void
  private let groups: [String: RowGroup]
  private var isLooking = false
  private var hasLooked = false
  private var isChanging = false

  /// - Parameter goTo: shows another page.
  init(of store: ShownStore, goTo: @escaping (PageName) -> Void, goBack: @escaping () -> Void) {
    (self.store, self.goTo) = (store, goTo)
    groups = ["open", "on", "other"].reduce(into: [:]) { [interface] groups, name in
      groups[name] = RowGroup(interface[name])
    }
    interface["back-to-pages"].on("clicked") { goBack() }
    interface["look"].on("clicked") { [weak self] in self?.look() }
  }

  var root: Widget { interface["page"] }

  func setNarrow(_ isNarrow: Bool) { interface["back-to-pages"].isVisible = isNarrow }

  /// Looks once, and after each change: a look claims the reader for a moment, which would be in the way of a touch.
  func refresh() { if !hasLooked { look() } }

  private func look() {
    guard !isLooking, let opened = store.store else { return }
    (isLooking, hasLooked) = (true, true)
    interface["looking"].isVisible = true
    interface["look"].isSensitive = false
    let place = store.place
    Task {
      do throws(Failure) {
        let findings = try await VaultWork.runAside { () async throws(Failure) in
          try await SetupSurvey(WindowSettings(place, opened), onGap: { _ in }).findings()
        }
        show(findings)
      } catch {
        store.say(error)
      }
      isLooking = false
      interface["looking"].isVisible = false
      interface["look"].isSensitive = true
    }
  }

  // MARK: What is shown

  private func show(_ findings: [Finding]) {
    let shown = findings.filter { $0.step.map(Self.isShown) == true }
    groups["open"]?.show(shown.filter { $0.state == .open }.map(row))
    groups["on"]?.show(shown.filter(\.isSetUp).map(row))
    groups["other"]?.show(shown.filter { $0.state != .open && !$0.isSetUp }.map(row))
  }

  /// The store and its passcode have pages of their own.
  private static func isShown(_ step: SetupStep) -> Bool { ![.store, .passcode].contains(step) }

  private func row(_ finding: Finding) -> RowGroup.Row {
    let title = finding.step.map(Self.title) ?? finding.subject
    let words = [finding.words, finding.state == .good ? nil : finding.advice].compactMap { $0 }
    let subtitle = words.map { "\(Visible.text(Self.sentence($0)))." }.joined(separator: " ")
    var row = RowGroup.Row(title: title, subtitle: subtitle)
    if finding.state == .faulty {
      row.mark = ("dialog-warning-symbolic", Text.of("Needs attention"))
    } else if finding.isSetUp {
      row.mark = ("emblem-ok-symbolic", Text.of("In order"))
    }
    row.buttons = [button(finding)].compactMap { $0 }
    return row
  }

  private func button(_ finding: Finding) -> RowGroup.Button? {
    guard let step = finding.step, let title = finding.step.map(Self.title) else { return nil }
    if let page = Self.page(of: step) {
      guard finding.state != .later else { return nil }
      return .init(label: Text.of("Show"), spoken: Text.of("Show {what}", ["what": title])) {
        [weak self] in self?.goTo(page)
      }
    }
    if finding.state == .open, !finding.offers.isEmpty {
      return .init(label: Text.of("Turn On"), spoken: Text.of("Turn on: {what}", ["what": title])) {
        [weak self] in self?.turnOn(step, finding.offers)
      }
    }
    guard finding.isSetUp, finding.wayBack != nil else { return nil }
    return .init(label: Text.of("Turn Off"), spoken: Text.of("Turn off: {what}", ["what": title])) {
      [weak self] in self?.turnOff(step, finding)
    }
  }

  /// The page that changes it.
  private static func page(of step: SetupStep) -> PageName? {
    switch step {
    case .fingers: .fingers
    case .sync: .computers
    case .store, .passcode: .protection
    default: nil
    }
  }

  private static func title(_ step: SetupStep) -> String {
    switch step {
    case .service: Text.of("Logins Open Your Secrets")
    case .store: Text.of("Your Secrets")
    case .passcode: Text.of("Passcode")
    case .reader: Text.of("Reader")
    case .fingers: Text.of("Fingers")
    case .login: Text.of("One Password for Login and Secrets")
    case .keyring: Text.of("GNOME’s Keyring")
    case .kwallet: "KWallet"
    case .sudo: Text.of("A Finger at sudo")
    case .polkit: Text.of("A Finger for Administrators")
    case .screen: Text.of("A Finger at the Lock Screen")
    case .secrets: Text.of("Passwords of Your Programs")
    case .passkeys: Text.of("Passkeys in Browsers")
    case .ssh: "SSH"
    case .git: "git"
    case .gpg: "GnuPG"
    case .sync: Text.of("Other Computers")
    }
  }

  private static func sentence(_ words: String) -> String { "\(words.prefix(1).uppercased())\(words.dropFirst())" }

  // MARK: Changes

  /// Asks each question, and carries out what the person agrees to, in order.
  private func turnOn(_ step: SetupStep, _ offers: [SetupOffer]) {
    change(step) { [self] change throws(Failure) in
      for offer in offers {
        guard await Question.isAgreed(Self.title(step), offer.question, over: store.window) else { continue }
        // What other programs have is copied before Whorl takes over.
        try await change.turnOn(step, by: offer.command, isLast: offer.command == offers.last?.command)
      }
    }
  }

  private func turnOff(_ step: SetupStep, _ finding: Finding) {
    change(step) { [self] change throws(Failure) in
      let question = Text.of(
        "It becomes as it was before: “{command}” does the same in a terminal.",
        ["command": Visible.text(finding.wayBack ?? "")])
      guard await Question.isAgreed(Text.of("Turn It Off?"), question, over: store.window) else { return }
      try await change.turnOff(step, by: finding)
    }
  }

  private func change(_ step: SetupStep, _ body: @escaping (SetupChange) async throws(Failure) -> Void) {
    guard !isChanging, let opened = store.store else { return }
    isChanging = true
    Task {
      do throws(Failure) {
        let change = try SetupChange(WindowSettings(store.place, opened), store)
        do throws(Failure) {
          try await body(change)
          let report = change.dialogue.report
          if !report.isEmpty {
            Question.tell(Self.title(step), report.joined(separator: "\n"), over: store.window)
          }
        } catch {
          let report = change.dialogue.report + [error.shown]
          if error.cause?.isCancel != true, error.what != Failure.cancelled.what {
            Question.tell(Self.title(step), report.joined(separator: "\n"), over: store.window)
          }
        }
        await change.end()
      } catch {
        store.say(error)
      }
      isChanging = false
      look()
    }
  }
}

/// Carries out a step of the setup for the window: changes of the library of settings, and commands that ask nothing. What
/// belongs to the computer is changed by the desktop's question for an administrator (pkexec).
private nonisolated struct SetupChange: Sendable {
  let dialogue: WindowDialogue
  private let settings: WindowSettings

  init(_ settings: WindowSettings, _ shown: ShownStore) {
    (self.settings, dialogue) = (settings, WindowDialogue(settings, shown))
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
          atOnce: false, withKWallet: false, dryRun: false, ServiceManager(running: Self.status))
      case .secrets: _ = try await DesktopPasswordCopy(dialogue).run()
      case .sudo, .polkit, .screen: try runAsAdministrator(try FingerStep.command(to: .enable, step))
      case .service: try runAsAdministrator(command)
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
        let report = try await SecretServiceHandback(dialogue, dryRun: false).run(
          ServiceManager(running: Self.status))
        for each in report.progress { dialogue.tell(each) }
      case .sudo, .polkit, .screen: try runAsAdministrator(try FingerStep.command(to: .disable, step))
      case .service: try runAsAdministrator(finding.administratorsUndo ?? [])
      case .store, .passcode, .reader, .fingers, .passkeys, .ssh, .git, .gpg, .sync: try run(finding.undo ?? [])
      }
    }
  }

  /// Runs a command that asks nobody. `whorl` is the one beside this program.
  private func run(_ command: [String]) throws(Failure) {
    guard let name = command.first else { return }
    var command = command
    if name == "whorl", let path = HelperPlaces(of: name).locateWithExecutable() { command[0] = path }
    let status = Self.status(of: command)
    guard status == 0 else {
      throw Failure(
        .unavailable, "'\(ShellLine.text([name] + command.dropFirst()))' ended with status \(status)",
        advice: "run it in a terminal, where it says why")
    }
  }

  private func runAsAdministrator(_ command: [String]) throws(Failure) {
    let command = command.first == "sudo" ? Array(command.dropFirst()) : command
    let status = Self.status(of: ["pkexec"] + command)
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

  @Sendable private static func status(of command: [String]) -> Int32 {
    guard let started = try? ForegroundCommand(command[0], command, isQuiet: true) else { return 127 }
    return started.status()
  }
}
