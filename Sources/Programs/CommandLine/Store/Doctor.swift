import ArgumentParser
import Confinement
import Fingerprint
import Glibc
import Processes
internal import PromptTexts
import ReaderClient
import SecretModel
import SyncRepository
import Wallets
import Whorl

struct Doctor: Command {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check everything and say what to do.",
    discussion: """
      Checks the store's directory and data, the reader process, and whether the reader can be opened (it is claimed \
      for a moment). Each line is ok, warn or fail; the exit status is that of the first fail.

      Examples:
        whorl doctor
        whorl doctor --json
      """)

  @OptionGroup var options: GlobalOptions

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    var findings = Findings()
    let store = await Self.openStore(session, &findings)
    if let store { await Self.checkStore(store, session, &findings) }
    await Self.checkReader(session, store, &findings)
    Self.checkPasskeys(&findings)
    await Self.checkSSH(&findings)
    if await SecretServiceHolderReport.isOwn, let program = try? MissedFiles.changedProgram(session) {
      findings.warn(
        "secrets", "\(program) was changed after its passwords were copied into Whorl",
        "'whorl secret-service import' in a terminal brings in what is new")
    }
    if let store { await Self.checkSync(store, session, &findings) }
    if let store {
      await Self.checkLogin(store, session, &findings)
    } else {
      Self.checkLogins(opening: 0, session, &findings)
      await checkFingers(session, &findings)
    }
    if options.json {
      try JSON.print(["checks": findings.all])
    } else {
      for finding in findings.all {
        try StandardOutput.line(Visible.text(finding.line))
      }
    }
    guard let worst = findings.failure else { return }
    let count = findings.all.filter { $0.result == .fail }.count
    throw Failure(worst.status, "\(Spoken.plural(count, "check")) failed", name: worst.name, advice: worst.what)
  }

  /// Opens the store; nil if there is none, or it cannot be used.
  private static func openStore(_ session: Session, _ findings: inout Findings) async -> (any VaultService)? {
    do throws(Failure) {
      switch try session.place() {
      case .own:
        findings.ok("service", "installed; a store is private only where --store names a directory")
        checkUnits(&findings)
        let store = try await session.store()
        findings.ok("store", "in the system service")
        return store
      case .folder(let folder):
        findings.ok("service", "not installed, or not used with --store: the vault runs as this user")
        guard access(folder.directory, F_OK) == 0 else {
          findings.warn("store", "none in \(folder.directory)", "'whorl init' makes one")
          return nil
        }
        let store = try await session.store()
        findings.ok("store", "\(folder.directory), private to this user")
        return store
      }
    } catch {
      findings.fail("store", error)
      return nil
    }
  }

  /// Checks the sockets of the service and of its readers.
  private static func checkUnits(_ findings: inout Findings) {
    let units = [
      ("whorld.socket", "/run/whorl/bus"), ("whorl-reader-libfprint.socket", "/run/whorl-reader/libfprint"),
      ("whorl-reader-fprintd.socket", "/run/whorl-reader/fprintd"),
    ]
    for (unit, path) in units {
      if access(path, F_OK) == 0 {
        findings.ok("unit", "\(unit) listens")
      } else {
        findings.warn("unit", "\(unit) does not listen at \(path)", "'systemctl status \(unit)' tells why")
      }
    }
  }

  /// Checks what passkeys need, if this user's sessions offer them.
  private static func checkPasskeys(_ findings: inout Findings) {
    guard let files = try? PasskeyFiles(), files.isEnabled == true else { return }
    if access("/dev/uhid", F_OK) != 0 {
      findings.warn("passkeys", "there is no /dev/uhid, so no security key can be offered", "'sudo modprobe uhid'")
    } else if access(PasskeyFiles.deviceSocket, F_OK) != 0 {
      findings.warn(
        "passkeys", "whorl-fido.socket does not listen", "'sudo systemctl enable --now whorl-fido.socket'")
    } else {
      findings.ok("passkeys", "offered to the programs of this session")
    }
  }

  /// Checks which SSH agent the programs of the desktop have, if this user's sessions start whorl-agent.
  private static func checkSSH(_ findings: inout Findings) async {
    guard let files = try? SSHAgentFiles(), files.isEnabled == true else { return }
    let found = await SSHAgentSight.finding(changed: files.changed)
    if let problem = found.problem {
      findings.warn("ssh", problem.words, problem.advice)
    } else {
      findings.ok("ssh", "ssh \(found.words)")
    }
  }

  /// Checks for fingers without a store.
  private func checkFingers(_ session: Session, _ findings: inout Findings) async {
    guard let fingers = try? await FprintdFingers(session: session).enrolled().fingers, !fingers.isEmpty else { return }
    findings.ok("fingers", "\(Spoken.fingers(fingers)) in fprintd, for the store that 'whorl setup' makes")
  }

  private static func checkStore(_ store: any VaultService, _ session: Session, _ findings: inout Findings) async {
    do throws(VaultError) {
      let problems = try await store.problems()
      if problems.isEmpty { findings.ok("data", "whole") }
      for problem in problems {
        findings.fail("data", Failure(problem))
      }
      let look = try await FingerLook(at: store)
      let status = look.status
      let place = try session.vaultPlace()
      if case .own = place {
        findings.ok("keys", status.tier.spoken(in: place))
      } else {
        findings.warn(
          "keys", status.tier.spoken(in: place),
          "other programs of this user can read the key file: use passcode or an application password for what matters most"
        )
      }
      if status.passcodeSet {
        findings.ok("passcode", "set")
      } else {
        findings.warn("passcode", "not set", "only the recovery key clears a lockout; 'whorl passcode' sets one")
      }
      if status.firstUnlock == .passcode {
        if let deadline = status.passcodeDeadline {
          findings.ok("unlocked", "the passcode is asked for again in \(Spoken.duration(deadline)), or sooner")
        } else {
          findings.warn("unlocked", "nothing is open until the passcode", "'whorl unlock' asks for it")
        }
      }
      if status.passcodeDelay > 0 {
        findings.warn("delay", "the next passcode is accepted in \(Spoken.duration(status.passcodeDelay))", nil)
      }
      if status.lockedOut {
        findings.warn("lockout", "fingers are locked out", "'whorl unlock' clears it with the passcode")
      } else {
        findings.ok("lockout", status.failures == 0 ? "none" : "none; \(status.failures) of 5 failures in a row")
      }
      if look.count == 0 {
        findings.warn("fingers", look.absence.words, look.advice)
      } else if let here = look.countHere, here == 0 {
        findings.warn(
          "fingers", "\(look.count) enrolled, and none on the reader that is attached",
          "attach the reader on which they are, or 'whorl enroll' enrols one here")
      } else {
        let place = look.isOfFprintd ? " in fprintd, which does not tell readers of one kind apart" : ""
        findings.ok("fingers", "\(look.countHere ?? look.count) enrolled\(place)")
      }
    } catch {
      findings.fail("data", session.explained(error))
    }
  }

  /// Checks the sync of the store with the user's other machines, if it is in a circle.
  private static func checkSync(_ store: any VaultService, _ session: Session, _ findings: inout Findings) async {
    guard let status = try? await store.sync.status(), status.standing != .none else { return }
    if status.lost > 0 {
      findings.fail(
        "sync",
        Failure(
          .damaged, "the remote has lost \(Spoken.plural(status.lost, "record")) that this machine has seen",
          advice: "check who else can write to it; 'whorl sync now --put-back' publishes them again"))
    } else if status.standing == .outdated {
      findings.fail("sync", Failure(.notInCircle(.outdated)))
    } else if !status.unconfirmed.isEmpty || status.isLocked || status.isForked {
      findings.warn("sync", "the list of your computers has changed", "'whorl sync confirm' asks you about it")
    } else if status.standing == .removed {
      findings.warn(
        "sync", "this computer no longer shares with your others", "'whorl sync join' asks to be let in again")
    } else if status.standing == .asking {
      findings.warn("sync", "this machine is waiting for approval", "'whorl sync approve' on another of your computers")
    } else if status.pending > 0 {
      findings.warn(
        "sync", "\(Spoken.plural(status.pending, "record")) not published yet", "'whorl sync now' tells why")
    } else {
      findings.ok("sync", "\(Spoken.plural(status.members.count, "machine")), and all is published")
    }
    if (try? SyncUnits())?.isEnabled == false {
      findings.warn(
        "sync", "it runs only by 'whorl sync now'", "'systemctl --user enable --now whorl-sync.timer whorl-sync'")
    }
  }

  /// Checks whether logins reach the service, which alone they can reach.
  ///
  /// - Parameter count: how many things the user has chosen for a login to open.
  private static func checkLogins(opening count: Int, _ session: Session, _ findings: inout Findings) {
    for stack in LoginStacks().withoutPassword {
      findings.fail("login", Failure(.unavailable, stack.words, advice: stack.advice))
    }
    guard case .own = try? session.vaultPlace() else { return }
    let chosen = "\(Spoken.plural(count, "entry", "entries")) for a login to open"
    guard let obstacle = LoginStacks().obstacle else {
      return findings.ok("login", count == 0 ? "logins reach Whorl" : "logins reach Whorl; \(chosen)")
    }
    guard count > 0 else { return findings.warn("login", obstacle.words, obstacle.advice) }
    findings.fail("login", Failure(.unavailable, "\(obstacle.words): \(chosen)", advice: obstacle.advice))
  }

  /// Checks what logins open, if the user has chosen anything for them.
  private static func checkLogin(_ store: any VaultService, _ session: Session, _ findings: inout Findings) async {
    do throws(Failure) {
      let rows = try await LoginRow.all(in: store)
      checkLogins(opening: rows.count, session, &findings)
      guard !rows.isEmpty else { return }
      let passcode = try await session.explained { () async throws(VaultError) in
        try await LoginEntries(in: store).loginPasscode()
      }
      switch (passcode, passcode?.problem) {
      case (.different, let problem?): findings.fail("login password", problem)
      case (_, let problem?): findings.warn("login password", problem.what, problem.advice)
      case (.some, nil): findings.ok("login password", "it is the passcode")
      case (nil, _): break
      }
      guard rows.contains(where: { $0.kind == LoginItem.Kind.gnomeKeyring.rawValue }) else { return }
      let first = try await session.explained { () async throws(VaultError) in try await store.status().firstUnlock }
      if first == .passcode, passcode == nil {
        findings.fail(
          "keyring",
          Failure(
            .refused, "nothing opens the login keyring after a start of the computer",
            advice: "'whorl login enable passcode' makes your login password open it"))
      }
      if let problem = KeyringLook(try session.keyringPlaces()).problem { findings.fail("keyring", Failure(problem)) }
    } catch {
      findings.fail("login", error)
    }
  }

  private static func checkReader(_ session: Session, _ store: (any VaultService)?, _ findings: inout Findings) async {
    if let store, case .own = try? session.vaultPlace() {
      return await checkReader(of: store, session, &findings)
    }
    guard let program = HelperPlaces.reader.locate(configured: session.configuration.readerProgram) else {
      let problem = Failure(.cannotStart("whorl-reader is not beside whorl"))
      return findings.fail(
        "program", problem, "'make install' puts it where it is found; readerProgram in config.json names another place"
      )
    }
    do throws(HelperProgramError) {
      findings.ok("program", try HelperProgram(at: program).path)
    } catch {
      return findings.fail(
        "program", Failure(ReaderError.cannotStart(error.words)),
        "correct that, or name another in readerProgram of config.json")
    }
    if Landlock.version != nil {
      findings.ok("confinement", "the program that reads the reader cannot read your files")
    } else {
      findings.warn(
        "confinement",
        "this system cannot lock the reader's program in, so that a hostile reader could read your files",
        "use Linux 5.13 or later, with landlock in CONFIG_LSM or in lsm= on its command line")
    }
    if access("/usr/share/dbus-1/system-services/net.reactivated.Fprint.service", F_OK) == 0 {
      findings.ok("fprintd", "installed; it holds the reader while a login or an unlock screen waits for a finger")
    } else {
      findings.ok("fprintd", "not installed")
    }
    let reader = session.ownReaders.reader()
    Interruption.onSignal { Task { try? await reader.close() } }
    do {
      let list =
        if let store { try await store.readers() } else {
          try await CommandReaders(session: session).readers(of: reader)
        }
      if list.readers.isEmpty { throw list.problem ?? .reader(.absent) }
      for each in list.readers { findings.ok("attached", Spoken.reader(each)) }
      guard let chosen = list.chosen else { throw try await unchosen(list, store, session) }
      let opened = try await reader.open(chosen.id)
      findings.ok("open", "\(Spoken.reader(opened)) can be opened")
      if opened.nature != .physical {
        findings.warn("nature", "this is a \(opened.nature.rawValue) reader", "for tests and trying only")
      }
      if opened.temperature == .hot { findings.warn("temperature", "hot", "let it cool for some minutes") }
    } catch {
      let fprintd =
        if ReaderError(error) == .absent { await session.ownReaders.problemOfFprintd() } else { nil as ReaderError? }
      let problem = session.explained(fprintd ?? error)
      // A named reader that is missing has an explanation of its own.
      findings.fail("reader", problem, problem.status == .notFound ? nil : (fprintd ?? ReaderError(error))?.remedy)
    }
    try? await reader.close()
    Interruption.onSignal(nil)
  }

  /// Checks the reader of the service, which programs of users cannot open.
  private static func checkReader(
    of store: any VaultService, _ session: Session, _ findings: inout Findings
  ) async {
    do throws(VaultError) {
      let list = try await store.readers()
      for each in list.readers { findings.ok("attached", Spoken.reader(each)) }
      guard list.chosen != nil else { throw list.problem ?? .reader(.absent) }
    } catch {
      // fprintd cannot be asked for readers while it is switched off, and then none may seem to be attached.
      let fprintd =
        if case .reader(.absent) = error { await session.ownReaders.problemOfFprintd() } else { nil as ReaderError? }
      let problem = session.explained(fprintd ?? error)
      findings.fail("reader", problem, problem.status == .notFound ? nil : (fprintd ?? ReaderError(error))?.remedy)
    }
  }

  /// Why the store would use none of the attached readers.
  private static func unchosen(_ list: SecretModel.ReaderList, _ store: (any VaultService)?, _ session: Session)
    async throws -> any Error
  {
    guard session.selection == .automatic, let recorded = try await store?.status().adapter,
      !list.readers.contains(where: { $0.identity.adapter == recorded })
    else { return list.problem ?? VaultError.reader(.absent) }
    return Failure(
      .unavailable, "none of these is used: \(recorded.reason)", name: "LAError.biometryNotAvailable",
      advice: "attach a reader that \(recorded.rawValue) drives, or change the record")
  }
}

/// The findings of `doctor`, in order.
private struct Findings {
  struct Finding: Encodable {
    enum Result: String, Encodable { case ok, warn, fail }
    var check: String
    var result: Result
    var detail: String
    var advice: String?

    var line: String {
      let name = result.rawValue.count == 2 ? "ok  " : result.rawValue
      return "\(name)  \(check): \(detail)\(advice.map { ": \($0)" } ?? "")"
    }
  }

  private(set) var all: [Finding] = []
  private(set) var failure: Failure?

  mutating func ok(_ check: String, _ detail: String) {
    all.append(Finding(check: check, result: .ok, detail: detail))
  }

  mutating func warn(_ check: String, _ detail: String, _ advice: String?) {
    all.append(Finding(check: check, result: .warn, detail: detail, advice: advice))
  }

  mutating func fail(_ check: String, _ problem: Failure, _ remedy: String? = nil) {
    all.append(Finding(check: check, result: .fail, detail: problem.words, advice: remedy ?? problem.adviceOfDoctor))
    if failure == nil { failure = problem }
  }
}

extension ReaderError {
  /// The reader's error; nil for another kind of error.
  fileprivate init?(_ error: any Error) {
    switch error {
    case let error as ReaderError: self = error
    case VaultError.reader(let error): self = error
    default: return nil
    }
  }

  /// The advice for errors for which other commands refer to `doctor`.
  fileprivate var remedy: String? {
    switch self {
    case .absent:
      "attach one that libfprint has a driver for ('lsusb' shows what is attached), or use the passcode"
    case .permissionDenied:
      "USB devices are root's: 'make install-udev' gives the readers to whoever sits at the machine, and so to all "
        + "their programs (udev/README.md tells the price); fprintd needs no such rule"
    case .cannotStart:
      "correct that, or name another reader with --reader"
    case .fprintdUnreachable(let why) where !why.contains("masked"):
      "start it with 'sudo systemctl restart fprintd', and see 'systemctl status fprintd'"
    default: nil
    }
  }
}
