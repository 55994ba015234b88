internal import Glibc
internal import Primitives
internal import Processes
internal import Prompts
internal import SecretModel
internal import Whorl

/// Checks the state of everything that `whorl setup` can set up. Changes nothing and shows no prompt.
package struct SetupSurvey {
  private let context: any SettingsContext
  private let onGap: @Sendable (Failure) -> Void

  /// - Parameter onGap: told why readers may be missing in what is found.
  package init(_ context: any SettingsContext, onGap: @escaping @Sendable (Failure) -> Void) {
    (self.context, self.onGap) = (context, onGap)
  }

  /// The state of every step.
  package func findings() async throws(Failure) -> [Finding] {
    var findings: [Finding] = []
    let isOwn = if case .own = try context.place() { true } else { false }
    findings.append(
      isOwn
        ? service(LoginStacks())
        : .note(.service, "not used: other programs of yours can read the key file of a private store"))
    let store: SecretStore?
    let withoutStore =
      isOwn ? ["sudo", "whorl", "admin", "remove", Account.ownName] : command("setup", "--undo")
    do throws(Failure) {
      store = try await context.openStore()
      findings.append(.done(.store, "made", undo: withoutStore))
    } catch {
      // No other failure would go away if a store were created.
      guard error.status == .notFound else { throw error }
      store = nil
      let offer = SetupOffer(question: "Make it now?", command: command("init"))
      findings.append(.open(.store, "none yet", offer, undo: withoutStore))
    }
    if let store {
      try await lookInside(store, &findings)
      try await lookAtLogin(store, isOwn, &findings)
      findings.append(try await secrets())
      findings.append(try await ssh(store))
      findings.append(try passkeys())
      findings.append(try await sync())
    } else {
      findings += [.passcode, .secrets, .passkeys, .ssh, .sync].map { .later($0, "after the store is made") }
      findings += await readerAndFingers()
    }
    await context.close()
    if isOwn {
      let hasFinger = findings.contains { $0.step == .fingers && $0.isSetUp } && store != nil
      findings += FingerStep.all.compactMap { $0.finding(in: LoginStacks(), hasFinger: hasFinger) }
    }
    findings.append(git())
    findings.append(gpg())
    return SetupStep.allCases.compactMap { step in findings.first { $0.step == step } }
  }

  /// The service, and whether logins tell it that this user is there.
  private func service(_ stacks: LoginStacks) -> Finding {
    guard let obstacle = stacks.obstacle else {
      return .done(
        .service, "installed: other programs of yours cannot read its keys", undoneByAdministrator: stacks.wayBack)
    }
    let words = "installed, but \(obstacle.words)"
    switch obstacle.remedy {
    case .advice(let advice): return .elsewhere(.service, words, advice)
    case .command(let command) where !Administrators.haveThisUser:
      return .elsewhere(.service, words, "ask an administrator of this computer to run '\(ShellLine.text(command))'")
    case .command(let command):
      let offer = SetupOffer(
        question:
          "Have logins open what you keep in Whorl, by finger too? The system asks for an administrator's password.",
        command: command, isYesByDefault: true)
      return .open(.service, words, offer, undo: command.map { $0 == "--enable" ? "--disable" : $0 })
    }
  }

  private func lookInside(_ store: SecretStore, _ findings: inout [Finding]) async throws(Failure) {
    let look: FingerLook
    do throws(VaultError) {
      look = try await FingerLook(at: store)
    } catch {
      throw context.explained(error)
    }
    let withoutPasscode = command("passcode", "--remove")
    let offer = SetupOffer(
      question: "Set one? It asks for the recovery key, and stands in for a finger from then on.",
      command: command("passcode"))
    findings.append(
      look.status.passcodeSet
        ? .done(.passcode, "set", undo: withoutPasscode)
        : .open(.passcode, "none: only the recovery key opens what a finger does not", offer, undo: withoutPasscode))
    guard let reader = look.readers.chosen else {
      findings.append(.note(.reader, await noReader(look.readers.problem)))
      findings.append(.later(.fingers, "after a reader is there; the passcode stands in until then"))
      return
    }
    findings.append(.done(.reader, reader.name, undo: nil))
    let withoutFingers = command("unenroll", "--all")
    guard look.count == 0 else {
      findings.append(.done(.fingers, "\(look.count) enrolled", undo: withoutFingers))
      return
    }
    let absence = look.absence
    if absence.command == ["enroll"], look.readerOfFprintd != nil, EnrolmentPermission.ofThisProgram() == .refused {
      let words = "\(absence.words), and this session may not enrol one"
      findings.append(.elsewhere(.fingers, words, FprintdFingers.advice))
    } else {
      let question =
        absence.command == ["enroll"]
        ? "Enrol the right index finger now? ('whorl enroll left-thumb' and so on take others.)"
        : "Take the fingers that fprintd has? It asks for the passcode."
      let offer = SetupOffer(
        question: question, command: context.named.command(absence.command), isYesByDefault: true)
      findings.append(.open(.fingers, absence.words, offer, undo: withoutFingers))
    }
  }

  /// Why there is no reader. While fprintd is switched off, its readers seem not to be attached.
  private func noReader(_ problem: VaultError?) async -> String {
    if let problem, problem != .reader(.absent) { return "none: \(Failure(problem).what)" }
    guard let fprintd = await context.ownReaders.problemOfFprintd().map({ Failure($0) }) else {
      return "none is attached: until one is, the passcode stands in for a finger"
    }
    return "none: \(fprintd.what)\(fprintd.adviceOfDoctor.map { ": \($0)" } ?? "")"
  }

  /// The state of reader and fingers without a store.
  private func readerAndFingers() async -> [Finding] {
    let attached: [ReaderDescription]
    do throws(Failure) {
      attached = try await readers()
    } catch {
      return [.note(.reader, "none: \(error.what)"), .later(.fingers, "after the store is made")]
    }
    guard let reader = attached.first else {
      return [
        .note(.reader, await noReader(nil)),
        .later(.fingers, "after a reader is there"),
      ]
    }
    let found: Finding = .done(.reader, reader.name, undo: nil)
    guard reader.identity.adapter.sharesFingers,
      let fingers = try? await FprintdFingers(context).enrolled().fingers, !fingers.isEmpty
    else { return [found, .later(.fingers, "after the store is made")] }
    return [found, .done(.fingers, "\(fingers.count) in the desktop's settings, which the store takes", undo: nil)]
  }

  private func readers() async throws(Failure) -> [ReaderDescription] {
    let (readers, gap) = try await UsableReaders(context).attached()
    gap.map(onGap)
    return readers
  }

  /// Checks the login password, and the wallets that a login by finger leaves locked. Logins are reported only to the
  /// service.
  private func lookAtLogin(
    _ store: SecretStore, _ isOwn: Bool, _ findings: inout [Finding]
  ) async throws(Failure) {
    let rows = try await LoginRow.all(in: store)
    // A private store opens a wallet only by hand, so that is not offered; but what it was given has to be given back.
    let obstacle = isOwn ? LoginStacks().obstacle : nil
    let noLogin = obstacle.map { Failure(.unavailable, "set up, but \($0.words)", advice: $0.advice) }
    func look(
      _ step: SetupStep, _ kind: LoginItem.Kind, _ word: String, _ done: String, _ open: String, _ question: String,
      fault: Failure?
    ) {
      let undo = command("login", "disable", word)
      if rows.contains(where: { $0.kind == kind.rawValue }) {
        let fault = (noLogin ?? fault).flatMap { fault in fault.advice.map { (fault.what, $0) } }
        findings.append(
          fault.map { .faulty(step, $0.0, $0.1, undo: undo) } ?? .done(step, done, undo: undo))
      } else if !isOwn {
        return
      } else if obstacle == nil {
        let offer = SetupOffer(question: question, command: command("login", "enable", word))
        findings.append(.open(step, open, offer, undo: undo))
      } else {
        findings.append(.later(step, "after logins reach Whorl (see 'service' above)"))
      }
    }
    if findings.contains(where: { $0.step == .passcode && $0.isSetUp }) {
      look(
        .login, .passcode, "passcode", "the login password is the passcode, and logging in opens the store",
        "logging in does not open the store yet",
        "Is the passcode your login password, so that logging in opens the store?",
        fault: isOwn
          ? try await context.request { try await LoginEntries(in: $0).loginPasscode() }?.problem : nil)
    } else if isOwn {
      findings.append(.later(.login, "after a passcode is set"))
    }
    let (keyring, kwallet) = (try context.keyringPlaces(), try context.kwalletPlaces().file)
    let locked = "a login by finger leaves it locked"
    if access(keyring.file, F_OK) == 0 {
      look(
        .keyring, .gnomeKeyring, "gnome-keyring", "a login opens it", locked,
        "Have each login open GNOME's keyring, one by finger too? It asks for the keyring's password.",
        fault: KeyringLook(keyring).problem.map { Failure($0) })
    }
    if access(kwallet, F_OK) == 0 {
      look(
        .kwallet, .kwallet, "kwallet", "a login opens it", locked,
        "Have each login open KWallet, one by finger too? It asks for KWallet's password.", fault: nil)
    }
  }

  /// The command that copies the passwords of the desktop's programs back.
  static func copyingBack(_ named: NamedStore) -> [String] { named.command(["secret-service", "disable"]) }

  /// Checks the Secret Service of the desktop.
  private func secrets() async throws(Failure) -> Finding {
    let undo = Self.copyingBack(context.named)
    let isEnabled = try SecretServiceFiles().isEnabled
    let here = "the desktop's programs get their passwords from Whorl"
    let holder: SecretServiceHolderReport?
    do throws(Failure) {
      holder = try await SecretServiceHolderReport.current()
    } catch {
      return isEnabled
        ? .done(.secrets, here, undo: undo)
        : .note(.secrets, "no desktop session found whose programs could keep passwords in Whorl")
    }
    if let holder, holder.own { return .done(.secrets, here, undo: undo) }
    if isEnabled {
      let words = holder.map { "Whorl keeps them from the next login on; until then \($0.words) does" }
      return .done(.secrets, words ?? here, undo: undo)
    }
    let enable = SetupOffer(
      question: "Have mail programs, browsers and others keep their passwords in Whorl from the next login on?",
      command: command("secret-service", "enable"))
    let words = "programs of the desktop keep theirs \(holder.map { "in \($0.words)" } ?? "elsewhere")"
    guard try await SecretServiceHolderReport.mayHoldItems() else {
      return .open(.secrets, words, enable, undo: undo)
    }
    // Copy first: once Whorl is the service, nothing can be read from the other program.
    let copy = SetupOffer(
      question:
        "Copy the passwords that programs of the desktop have stored into Whorl? They stay where they are, too.",
      command: command("secret-service", "import"))
    return .open(.secrets, words, copy, enable, undo: undo)
  }

  private func ssh(_ store: SecretStore) async throws(Failure) -> Finding {
    let keys = try await StoredKeys<SSHKey>(in: store).all()
    guard !keys.isEmpty else {
      let offer = SetupOffer(
        question: "Make a key for ssh, which signs only after a touch?", command: command("ssh", "add", "ssh"))
      return .open(.ssh, "no key in the vault", offer, undo: command("ssh", "rm", "ssh"))
    }
    let there = "\(Spoken.plural(keys.count, "key")) in the vault"
    let undo = command("ssh", "disable")
    let offer = SetupOffer(
      question: "Let ssh find the keys of the vault, beside those it has?", command: command("ssh", "enable"))
    let files = try SSHAgentFiles()
    let isEnabled = files.isEnabled
    if isEnabled == true {
      let found = await SSHAgentSight.finding(changed: files.changed)
      return found.problem.map { .faulty(.ssh, "\(there), but \($0.words)", $0.advice, undo: undo) }
        ?? .done(.ssh, "\(there), which ssh \(found.words)", undo: undo)
    }
    return switch isEnabled {
    case false?: .open(.ssh, "\(there), but ssh does not ask whorl-agent for them", offer, undo: undo)
    case true?, nil: .note(.ssh, "\(there); start whorl-agent for ssh to find them")
    }
  }

  private func passkeys() throws(Failure) -> Finding {
    let files = try PasskeyFiles()
    let undo = command("passkey", "disable")
    guard files.isEnabled != true else {
      return .done(.passkeys, "browsers find Whorl as a security key", undo: undo)
    }
    guard files.service.isInstalled, access(PasskeyFiles.deviceSocket, F_OK) == 0 else {
      return .note(.passkeys, "not possible here; 'whorl passkey enable' says why")
    }
    let offer = SetupOffer(
      question: "Let browsers find Whorl as a security key, so that you sign in to sites with a finger?",
      command: command("passkey", "enable"))
    return .open(.passkeys, "browsers do not find Whorl as a security key", offer, undo: undo)
  }

  /// Checks whether other computers have the same secrets. Only the person knows the repository, so nothing is offered.
  private func sync() async throws(Failure) -> Finding {
    let status = try await context.request { try await $0.sync.status() }
    let undo = command("sync", "leave", "--this-computer")
    return switch status.standing {
    case .member: .done(.sync, "\(Spoken.plural(status.members.count, "computer")) share what you choose", undo: undo)
    case .asking: .done(.sync, "waits until another of your computers lets this one in", undo: undo)
    case .none, .removed, .outdated: .note(.sync, "not set up; 'whorl sync --help' explains how to begin")
    }
  }

  private func git() -> Finding {
    let helper = GitHelperLine.pattern
    let look = ["git", "config", "--global", "--get-all", "credential.helper", helper]
    let undo = ["git", "config", "--global", "--unset-all", "credential.helper", helper]
    switch Question.isTrue(look) {
    case nil: return .note(.git, "not installed")
    case true?: return .done(.git, "asks Whorl for passwords", undo: undo)
    case false?:
      let offer = SetupOffer(
        question: "Have git get its passwords from Whorl, each after a touch?",
        command: ["git", "config", "--global", "--add", "credential.helper", GitHelperLine.value])
      return .open(.git, "does not ask Whorl for passwords", offer, undo: undo)
    }
  }

  /// Whether GnuPG's agent asks Whorl, where GnuPG has keys.
  private func gpg() -> Finding {
    let file: GnuPGAgentFile
    do throws(Failure) { file = try GnuPGAgentFile() } catch { return .note(.gpg, "not possible here: \(error.what)") }
    guard file.program == nil else {
      return .done(.gpg, "gets its keys' passphrases from Whorl", undo: command("gpg", "disable"))
    }
    guard file.hasKeys else { return .note(.gpg, "has no secret key here") }
    let words = "does not ask Whorl for its keys' passphrases"
    guard command().count == 1, HelperPlaces(of: GnuPGAgentFile.ownProgram).locateWithExecutable() != nil else {
      return .note(.gpg, "\(words); 'whorl gpg enable --help' says what it takes")
    }
    let offer = SetupOffer(
      question: "Have GnuPG get the passphrases of its keys from Whorl, each after a touch?",
      command: command("gpg", "enable"))
    return .open(.gpg, words, offer, undo: command("gpg", "disable"))
  }

  /// A command of this program, for the same store and reader.
  private func command(_ words: String...) -> [String] { context.named.command(words) }
}

extension Account {
  /// The name of this user's account, for commands that a person types.
  package static var ownName: String { name(of: geteuid()) ?? "USER" }
}
