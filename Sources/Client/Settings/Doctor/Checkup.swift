internal import Glibc
internal import Moving
internal import Primitives
internal import Processes
internal import Prompts
internal import ReaderClient
internal import SecretModel
internal import Whorl

/// Checks the store's directory and data, the reader process, and whether the reader can be opened, what the desktop and
/// logins are given, and sync. Changes nothing; a reader is claimed for a moment.
package struct Checkup {
  private let context: any SettingsContext

  package init(_ context: any SettingsContext) { self.context = context }

  /// What was found, in order.
  package func findings() async -> [Finding] {
    var findings: [Finding] = []
    let store = await openStore(&findings)
    if let store { await checkStore(store, &findings) }
    await checkReader(store, &findings)
    checkPasskeys(&findings)
    await checkSSH(&findings)
    if await SecretServiceHolderReport.isOwn, let program = try? MissedFiles.changedProgram(context) {
      findings.warn(
        "secrets", "\(program) was changed after its passwords were copied into Whorl",
        "'whorl secret-service import' in a terminal brings in what is new")
    }
    if let store {
      await checkSync(&findings)
      await checkLogin(store, &findings)
    } else {
      checkLogins(opening: 0, &findings)
      await checkFingers(&findings)
    }
    return findings
  }

  /// Opens the store; nil if there is none, or it cannot be used.
  func openStore(_ findings: inout [Finding]) async -> SecretStore? {
    do throws(Failure) {
      switch try context.place() {
      case .own:
        findings.ok("service", "installed; a store is private only where --store names a directory")
        checkUnits(&findings)
        let store = try await context.openStore()
        findings.ok("store", "in the system service")
        return store
      case .folder(let folder):
        findings.ok("service", "not installed, or not used with --store: the vault runs as this user")
        guard access(folder.directory, F_OK) == 0 else {
          findings.warn("store", "none in \(folder.directory)", "'whorl init' makes one")
          return nil
        }
        let store = try await context.openStore()
        findings.ok("store", "\(folder.directory), private to this user")
        return store
      }
    } catch {
      findings.fail("store", error)
      return nil
    }
  }

  /// Checks the sockets of the service and of its readers.
  private func checkUnits(_ findings: inout [Finding]) {
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
  private func checkPasskeys(_ findings: inout [Finding]) {
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
  private func checkSSH(_ findings: inout [Finding]) async {
    guard let files = try? SSHAgentFiles(), files.isEnabled == true else { return }
    let found = await SSHAgentSight.finding(changed: files.changed)
    if let problem = found.problem {
      findings.warn("ssh", problem.words, problem.advice)
    } else {
      findings.ok("ssh", "ssh \(found.words)")
    }
  }

  /// Checks for fingers without a store.
  private func checkFingers(_ findings: inout [Finding]) async {
    guard let fingers = try? await FprintdFingers(context).enrolled().fingers, !fingers.isEmpty else { return }
    findings.ok("fingers", "\(Spoken.fingers(fingers)) in fprintd, for the store that 'whorl setup' makes")
  }

  private func checkStore(_ store: SecretStore, _ findings: inout [Finding]) async {
    do throws(VaultError) {
      let problems = try await store.call { vault throws(VaultError) in try await vault.problems() }
      if problems.isEmpty { findings.ok("data", "whole") }
      for problem in problems {
        findings.fail("data", Failure(problem))
      }
      let look = try await FingerLook(at: store)
      let status = look.status
      let place = try context.vaultPlace()
      if case .own = place {
        findings.ok("keys", status.tier.spoken(in: place))
      } else {
        findings.warn(
          "keys", status.tier.spoken(in: place),
          "other programs of this user can read the key file: use passcode or an application password for what matters most"
        )
      }
      findings.append(.passcode(of: status))
      if status.firstUnlock == .passcode {
        if let deadline = status.passcodeDeadline {
          findings.ok("unlocked", "the passcode is asked for again in \(Spoken.duration(deadline)), or sooner")
        } else {
          findings.warn("unlocked", "nothing is open until the passcode", "'whorl unlock' asks for it")
        }
      }
      if let delay = Finding.delay(of: status) { findings.append(delay) }
      if status.lockedOut {
        findings.warn("lockout", "fingers are locked out", "'whorl unlock' clears it with the passcode")
      } else {
        findings.ok(
          "lockout",
          status.failures == 0 ? "none" : "none; \(status.failures) of \(VaultStatus.failureLimit) failures in a row")
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
      findings.fail("data", context.explained(error))
    }
  }

  /// Checks the sync of the store with the user's other machines, if it is in a circle.
  private func checkSync(_ findings: inout [Finding]) async {
    guard let status = try? await context.request({ try await $0.sync.status() }),
      let found = SyncSurvey(status).check
    else { return }
    findings.append(found)
    if (try? SyncUnits())?.isEnabled == false {
      findings.warn(
        "sync", "it runs only by 'whorl sync now'", "'systemctl --user enable --now whorl-sync.timer whorl-sync'")
    }
  }

  /// Checks whether logins reach the service, which alone they can reach.
  ///
  /// - Parameter count: how many things the user has chosen for a login to open.
  private func checkLogins(opening count: Int, _ findings: inout [Finding]) {
    for stack in LoginStacks().withoutPassword {
      findings.fail("login", Failure(.unavailable, stack.words, advice: stack.advice))
    }
    guard context.isOwn else { return }
    let chosen = "\(Spoken.plural(count, "entry", "entries")) for a login to open"
    guard let obstacle = LoginStacks().obstacle else {
      return findings.ok("login", count == 0 ? "logins reach Whorl" : "logins reach Whorl; \(chosen)")
    }
    guard count > 0 else { return findings.warn("login", obstacle.words, obstacle.advice) }
    findings.fail("login", Failure(.unavailable, "\(obstacle.words): \(chosen)", advice: obstacle.advice))
  }

  /// Checks what logins open, if the user has chosen anything for them.
  private func checkLogin(_ store: SecretStore, _ findings: inout [Finding]) async {
    do throws(Failure) {
      let rows = try await LoginRow.all(in: store)
      checkLogins(opening: rows.count, &findings)
      guard !rows.isEmpty else { return }
      let passcode = try await context.request { try await LoginEntries(in: $0).loginPasscode() }
      switch (passcode, passcode?.problem) {
      case (.different, let problem?): findings.fail("login password", problem)
      case (_, let problem?): findings.warn("login password", problem.what, problem.advice)
      case (.some, nil): findings.ok("login password", "it is the passcode")
      case (nil, _): break
      }
      guard rows.contains(where: { $0.kind == LoginItem.Kind.gnomeKeyring.rawValue }) else { return }
      let first = try await context.request { try await $0.status().firstUnlock }
      if first == .passcode, passcode == nil {
        findings.fail(
          "keyring",
          Failure(
            .refused, "nothing opens the login keyring after a start of the computer",
            advice: "'whorl login enable passcode' makes your login password open it"))
      }
      if let problem = KeyringLook(try context.keyringPlaces()).problem { findings.fail("keyring", Failure(problem)) }
    } catch {
      findings.fail("login", error)
    }
  }

  private func checkReader(_ store: SecretStore?, _ findings: inout [Finding]) async {
    if let store, context.isOwn {
      if !VaultConfinement.isPossible {
        findings.warn(
          "stores", "this system cannot keep a fault in one user's vault from the files of other users' stores",
          "use Linux 5.19 or later, with landlock in CONFIG_LSM or in lsm= on its command line")
      }
      return await checkReader(of: store, &findings)
    }
    guard let program = HelperPlaces.reader.locate(configured: context.configuration.readerProgram) else {
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
    let reader = context.ownReaders.reader()
    context.atInterruption { Task { try? await reader.close() } }
    do {
      let list =
        if let store { try await store.call { vault throws(VaultError) in try await vault.readers() } } else {
          try await UsableReaders(context).readers(of: reader)
        }
      if list.readers.isEmpty { throw list.problem ?? .reader(.absent) }
      for each in list.readers { findings.ok("attached", Spoken.reader(each)) }
      guard let chosen = list.chosen else { throw try await unchosen(list, store) }
      let opened = try await reader.open(chosen.id)
      findings.ok("open", "\(Spoken.reader(opened)) can be opened")
      if opened.nature != .physical {
        findings.warn("nature", "this is a \(opened.nature.rawValue) reader", "for tests and trying only")
      }
      if opened.temperature == .hot { findings.warn("temperature", "hot", "let it cool for some minutes") }
    } catch {
      let fprintd =
        if ReaderError(error) == .absent { await context.ownReaders.problemOfFprintd() } else { nil as ReaderError? }
      let problem = context.explained(fprintd ?? error)
      // A named reader that is missing has an explanation of its own.
      findings.fail("reader", problem, problem.status == .notFound ? nil : (fprintd ?? ReaderError(error))?.remedy)
    }
    try? await reader.close()
    context.atInterruption(nil)
  }

  /// Checks the reader of the service, which programs of users cannot open.
  private func checkReader(
    of store: SecretStore, _ findings: inout [Finding]
  ) async {
    do throws(VaultError) {
      let list = try await store.call { vault throws(VaultError) in try await vault.readers() }
      for each in list.readers { findings.ok("attached", Spoken.reader(each)) }
      guard list.chosen != nil else { throw list.problem ?? .reader(.absent) }
    } catch {
      // fprintd cannot be asked for readers while it is switched off, and then none may seem to be attached.
      let fprintd =
        if case .reader(.absent) = error { await context.ownReaders.problemOfFprintd() } else { nil as ReaderError? }
      let problem = context.explained(fprintd ?? error)
      findings.fail("reader", problem, problem.status == .notFound ? nil : (fprintd ?? ReaderError(error))?.remedy)
    }
  }

  /// Why the store would use none of the attached readers.
  private func unchosen(_ list: SecretModel.ReaderList, _ store: SecretStore?)
    async throws -> any Error
  {
    guard context.selection == .automatic,
      let recorded = try await store?.call({ vault throws(VaultError) in try await vault.status() }).adapter,
      !list.readers.contains(where: { $0.identity.adapter == recorded })
    else { return list.problem ?? VaultError.reader(.absent) }
    return Failure(
      .unavailable, "none of these is used: \(recorded.reason)", name: "LAError.biometryNotAvailable",
      advice: "attach a reader that \(recorded.rawValue) drives, or change the record")
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

extension [Finding] {
  fileprivate mutating func ok(_ subject: String, _ words: String) { append(.ok(subject, words)) }

  fileprivate mutating func warn(_ subject: String, _ words: String, _ advice: String?) {
    append(.warning(subject, words, advice))
  }

  fileprivate mutating func fail(_ subject: String, _ problem: Failure, _ remedy: String? = nil) {
    append(.failed(subject, problem, remedy))
  }
}
