import Fingerprint
import Glibc
import SecretModel
import Wallets
import Whorl

/// Looks at what `whorl setup` can set up. Changes nothing and asks nobody.
struct SetupSurvey {
  let session: Session

  /// The state of every step.
  func findings() async throws(Failure) -> [SetupFinding] {
    var findings: [SetupFinding] = []
    let isOwn = if case .own = try session.place() { true } else { false }
    findings.append(
      isOwn
        ? .done(.service, "installed: other programs of yours cannot read its keys", wayBack: nil)
        : .note(.service, "not used: other programs of yours can read the key file of a private store"))
    let store: (any VaultService)?
    let withoutStore = isOwn ? "sudo whorl admin remove USER" : "rm -r \(try folder())"
    do throws(Failure) {
      store = try await session.store()
      findings.append(.done(.store, "made", wayBack: withoutStore))
    } catch {
      // No other failure would go away if a store were created.
      guard error.status == .notFound else { throw error }
      store = nil
      findings.append(.open(.store, "none yet", command("init"), wayBack: withoutStore))
    }
    if let store {
      try await lookInside(store, &findings)
      try await lookAtLogin(store, isOwn, &findings)
      findings.append(try await secrets())
      findings.append(try await ssh(store))
    } else {
      findings += [.passcode, .secrets, .ssh].map { .later($0, "after the store is made") }
      findings += await readerAndFingers()
    }
    await session.close()
    findings.append(git())
    return SetupStep.allCases.compactMap { step in findings.first { $0.step == step } }
  }

  private func lookInside(_ store: any VaultService, _ findings: inout [SetupFinding]) async throws(Failure) {
    let look: FingerLook
    do throws(VaultError) {
      look = try await FingerLook(at: store)
    } catch {
      throw session.explained(error)
    }
    let withoutPasscode = "whorl passcode --remove"
    findings.append(
      look.status.passcodeSet
        ? .done(.passcode, "set", wayBack: withoutPasscode)
        : .open(
          .passcode, "none: only the recovery key opens what a finger does not", command("passcode"),
          wayBack: withoutPasscode))
    guard let reader = look.readers.chosen else {
      let problem = look.readers.problem.map { Failure($0).words } ?? "no reader is attached"
      findings.append(.note(.reader, "none: \(problem)"))
      findings.append(.later(.fingers, "after a reader is there; the passcode stands in until then"))
      return
    }
    findings.append(.done(.reader, reader.name, wayBack: nil))
    let withoutFingers = "whorl unenroll --all"
    findings.append(
      look.count > 0
        ? .done(.fingers, "\(look.count) enrolled", wayBack: withoutFingers)
        : .open(.fingers, look.absence.words, command(look.absence.command), wayBack: withoutFingers))
  }

  /// What can be seen of reader and fingers without a store.
  private func readerAndFingers() async -> [SetupFinding] {
    let attached: [ReaderDescription]
    do throws(Failure) {
      attached = try await session.attachedReaders()
    } catch {
      return [.note(.reader, "none: \(error.words)"), .later(.fingers, "after the store is made")]
    }
    guard let reader = attached.first else {
      return [
        .note(.reader, "none is attached: until one is, the passcode stands in for a finger"),
        .later(.fingers, "after a reader is there"),
      ]
    }
    let found: SetupFinding = .done(.reader, reader.name, wayBack: nil)
    guard reader.identity.adapter == .fprintd,
      let fingers = try? await FprintdFingers(session: session).enrolled().fingers, !fingers.isEmpty
    else { return [found, .later(.fingers, "after the store is made")] }
    return [found, .done(.fingers, "\(fingers.count) in the desktop's settings, which the store takes", wayBack: nil)]
  }

  /// Looks at the wallets that a login by finger leaves locked. Only the service is told about logins.
  private func lookAtLogin(
    _ store: any VaultService, _ isOwn: Bool, _ findings: inout [SetupFinding]
  ) async throws(Failure) {
    guard isOwn else { return }
    let rows = try await session.loginRows(in: store)
    let isTold = LoginStacks().isAnyGood
    func wallet(_ step: SetupStep, _ kind: LoginItem.Kind, _ word: String) {
      let wayBack = "whorl login disable \(word)"
      if rows.contains(where: { $0.kind == kind.rawValue }) {
        findings.append(.done(step, "a login opens it", wayBack: wayBack))
      } else if isTold {
        findings.append(
          .open(
            step, "a login by finger leaves it locked", command("login", "enable", word), wayBack: wayBack))
      } else {
        findings.append(.note(step, "no login of this machine tells Whorl; 'whorl login status' says what to change"))
      }
    }
    let (keyring, kwallet) = (try session.keyringPlaces().file, try session.kwalletPlaces().file)
    if access(keyring, F_OK) == 0 { wallet(.keyring, .gnomeKeyring, "gnome-keyring") }
    if access(kwallet, F_OK) == 0 { wallet(.kwallet, .kwallet, "kwallet") }
  }

  /// Looks at the Secret Service of the desktop.
  private func secrets() async throws(Failure) -> SetupFinding {
    let wayBack = "whorl secret-service disable"
    let isEnabled = try SecretServiceFiles().isEnabled
    let holder: SecretServiceHolderReport?
    do throws(Failure) {
      holder = try await SecretServiceHolderReport.current()
    } catch {
      return isEnabled
        ? .done(.secrets, "programs of the desktop have theirs from Whorl", wayBack: wayBack)
        : .note(.secrets, "no desktop here: its programs would keep theirs elsewhere")
    }
    if let holder, holder.own {
      return .done(.secrets, "programs of the desktop have theirs from Whorl", wayBack: wayBack)
    }
    if isEnabled {
      return .done(
        .secrets,
        holder.map { "Whorl has them from the next login on; until then \($0.words) does" }
          ?? "programs of the desktop have theirs from Whorl", wayBack: wayBack)
    }
    let enable = command("secret-service", "enable")
    let words =
      holder.map { "programs of the desktop keep theirs in \($0.words)" }
      ?? "programs of the desktop keep theirs elsewhere"
    guard try await SecretServiceHolderReport.mayHoldItems() else {
      return .open(.secrets, words, enable, wayBack: wayBack)
    }
    // First what they have: once Whorl is the service, nothing can be read from the other program.
    return .open(.secrets, words, command("secret-service", "import"), enable, wayBack: wayBack)
  }

  private func ssh(_ store: any VaultService) async throws(Failure) -> SetupFinding {
    let keys = try await session.sshKeys(in: store)
    guard !keys.isEmpty else {
      return .open(.ssh, "no key in the vault", command("ssh", "add", "ssh"), wayBack: "whorl ssh rm ssh")
    }
    let there = "\(Spoken.plural(keys.count, "key")) in the vault"
    let wayBack = "whorl ssh disable"
    return switch try SSHAgentFiles().isEnabled {
    case true?: .done(.ssh, "\(there), which whorl-agent gives to ssh", wayBack: wayBack)
    case false?:
      .open(
        .ssh, "\(there), but ssh does not ask whorl-agent for them", command("ssh", "enable"), wayBack: wayBack)
    case nil: .note(.ssh, "\(there); start whorl-agent for ssh to find them")
    }
  }

  private func git() -> SetupFinding {
    let helper = GitHelperLine.pattern
    let look = ["git", "config", "--global", "--get-all", "credential.helper", helper]
    let wayBack = "git config --global --unset-all credential.helper '\(helper)'"
    switch ChosenCommand(look).isTrue() {
    case nil: return .note(.git, "not installed")
    case true?: return .done(.git, "asks Whorl for passwords", wayBack: wayBack)
    case false?:
      return .open(
        .git, "does not ask Whorl for passwords", ["git", "config", "--global", "--add", "credential.helper", GitHelperLine.value],
        wayBack: wayBack)
    }
  }

  private func folder() throws(Failure) -> String {
    if case .folder(let folder) = try session.place() { folder.directory } else { "" }
  }

  /// A command of this program, for the same store and reader.
  private func command(_ words: String...) -> [String] { command(words) }

  private func command(_ words: [String]) -> [String] {
    let options = session.options
    let given = [("--config", options.config), ("--store", options.store), ("--reader", options.reader?.description)]
    return ["whorl"] + words + given.flatMap { name, value in value.map { [name, $0] } ?? [] }
  }
}
