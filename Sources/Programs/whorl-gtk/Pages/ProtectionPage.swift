internal import CAdwaita
internal import Primitives
internal import Prompts
internal import SecretModel
internal import Settings
internal import Whorl

/// How well the secrets are protected: the checks of `whorl doctor`, what opens at login, passcode and recovery key, and
/// copies.
final class ProtectionPage: WindowPage {
  private let interface = Interface(PackageResources.protection_ui)
  private let store: ShownStore
  private let goTo: (PageName) -> Void
  private let groups: [String: RowGroup]
  private var isChecking = false
  private var isChecked = false

  /// - Parameter goTo: shows another page.
  init(of store: ShownStore, goTo: @escaping (PageName) -> Void, goBack: @escaping () -> Void) {
    (self.store, self.goTo) = (store, goTo)
    groups = ["attention", "login", "good"].reduce(into: [:]) { [interface] groups, name in
      groups[name] = RowGroup(interface[name])
    }
    interface["back-to-pages"].on("clicked") { goBack() }
    interface["check"].on("clicked") { [weak self] in self?.check() }
    interface["passcode"].on("clicked") { [weak self] in self?.changePasscode() }
    interface["recovery"].on("clicked") { [weak self] in self?.replaceRecoveryKey() }
    interface["backup"].on("clicked") { [weak self] in self?.backUp() }
    interface["restore"].on("clicked") { [weak self] in self?.restore() }
    interface["passcode"].setSpokenName(Text.of("Change the Passcode"))
    interface["recovery"].setSpokenName(Text.of("Replace the Recovery Key"))
    interface["backup"].setSpokenName(Text.of("Back Up All Secrets"))
    interface["restore"].setSpokenName(Text.of("Restore a Copy"))
  }

  var root: Widget { interface["page"] }

  func setNarrow(_ isNarrow: Bool) { interface["back-to-pages"].isVisible = isNarrow }

  /// Checks once: a check claims the reader for a moment, which would be in the way of a touch.
  func refresh() { if !isChecked { check() } }

  // MARK: Checks

  private func check() {
    guard !isChecking, let opened = store.store else { return }
    (isChecking, isChecked) = (true, true)
    interface["checking"].isVisible = true
    interface["check"].isSensitive = false
    let place = store.place
    MainLoop.begin {
      do throws(Failure) {
        show(
          try await VaultWork.runAside { () async throws(Failure) in
            try await ProtectionLook(WindowSettings(place, opened))
          })
      } catch {
        store.say(error)
      }
      isChecking = false
      interface["checking"].isVisible = false
      interface["check"].isSensitive = true
    }
  }

  private func show(_ look: ProtectionLook) {
    groups["attention"]?.show(look.checks.filter(\.needsAttention).map(row))
    groups["good"]?.show(look.checks.filter { !$0.needsAttention }.map(row))
    groups["login"]?.show(look.login.map(row))
  }

  private func row(_ finding: Finding) -> RowGroup.Row {
    let subject = Self.sentence(finding.subject)
    let undo = finding.wayBack.map { Text.of("To take it back: {command}", ["command": $0]) }
    let words = Visible.text(Self.sentence(finding.words))
    let advice = finding.needsAttention ? finding.advice.map { Visible.text(Self.sentence($0)) } : nil
    var row = RowGroup.Row(
      title: subject, subtitle: [words, advice, undo].compactMap { $0.map { "\($0)." } }.joined(separator: " "))
    if finding.needsAttention {
      row.mark = ("dialog-warning-symbolic", Text.of("Needs attention"))
    } else if finding.state == .good {
      row.mark = ("object-select-symbolic", Text.of("In order"))
    }
    row.buttons = deed(finding).map { [$0] } ?? copying(finding)
    return row
  }

  /// What the window itself can do about a finding.
  private func deed(_ finding: Finding) -> RowGroup.Button? {
    guard finding.needsAttention else { return nil }
    switch finding.subject {
    case "lockout", "unlocked":
      return .init(label: Text.of("Unlock"), spoken: Text.of("Unlock with the passcode")) { [weak self] in
        self?.unlock()
      }
    case "passcode":
      return .init(label: Text.of("Set"), spoken: Text.of("Set a passcode")) { [weak self] in self?.changePasscode() }
    case "fingers":
      return .init(label: Text.of("Fingers"), spoken: Text.of("Go to the fingers")) { [weak self] in
        self?.goTo(.fingers)
      }
    case "sync":
      return .init(label: Text.of("Computers"), spoken: Text.of("Go to the computers")) { [weak self] in
        self?.goTo(.computers)
      }
    default: return nil
    }
  }

  /// A button that copies the command for a terminal, where there is one.
  private func copying(_ finding: Finding) -> [RowGroup.Button] {
    guard let command = (finding.needsAttention ? finding.commandOfAdvice : nil) ?? finding.wayBack else { return [] }
    return [
      .init(
        label: Text.of("Copy the Command"), icon: "edit-copy-symbolic",
        spoken: Text.of("Copy {command}", ["command": command])
      ) { [weak self] in self?.store.copy(command, saying: Text.of("Copied; paste it into a terminal")) }
    ]
  }

  private static func sentence(_ words: String) -> String { "\(words.prefix(1).uppercased())\(words.dropFirst())" }

  private func unlock() {
    MainLoop.begin { if await store.unlock() { check() } }
  }

  // MARK: Passcode and recovery key

  private func changePasscode(allowsGuessable: Bool = false) {
    guard let opened = store.store else { return }
    MainLoop.begin {
      do throws(VaultError) {
        try await store.ask(allowsGuessable: allowsGuessable) { service, asking throws(VaultError) in
          try await service.changePasscode(asking)
        }
        let isOfLogin = try await VaultWork.run { () async throws(VaultError) in try await opened.noteNewPasscode() }
        store.say(
          isOfLogin
            ? Text.of("The new passcode is set. A login opens your secrets once your login password is the same.")
            : Text.of("The new passcode is set"))
        check()
      } catch .guessablePasscode {
        Question.ask(
          Text.of("This Passcode Can Be Guessed"),
          Text.of(
            "Somebody with a copy of your disk finds it within a day. Nothing is changed yet. Take a longer one, or insist, and type it again."
          ),
          answer: Text.of("_Insist"), isDestructive: true, over: store.window
        ) { [self] in changePasscode(allowsGuessable: true) }
      } catch {
        store.say(error)
      }
    }
  }

  private func replaceRecoveryKey() {
    // The vault keeps the last key that it has drafted: another draft meanwhile would make the shown one worthless.
    interface["recovery"].isSensitive = false
    MainLoop.begin {
      defer { interface["recovery"].isSensitive = true }
      do throws(VaultError) {
        let key = try await store.call { service throws(VaultError) in
          SharedSecret(try await service.draftRecoveryKey())
        }
        guard await RecoveryKeyWindow(over: store.window).isWritten(key) else {
          return store.say(Text.of("Your recovery key stays as it was"))
        }
        try await store.ask { service, asking throws(VaultError) in try await service.keepRecoveryKey(asking) }
        store.say(Text.of("The new recovery key is valid, and the earlier one is not any more"))
      } catch {
        store.say(error)
      }
    }
  }

  // MARK: Copies

  private func backUp() {
    PathQuestion.ask(
      for: .folder, Text.of("Back Up"),
      Text.of(
        "The copy is made in a new folder. Nobody can read anything in it without your recovery key or this computer."),
      proposing: BackupDirectory.proposed, answer: Text.of("_Back Up"), over: store.window
    ) { [self] in backUp(to: $0) }
  }

  private func backUp(to path: String) {
    guard let opened = store.store else { return }
    MainLoop.begin {
      do throws(Failure) {
        try await VaultWork.runAside { () async throws(Failure) in try await BackupDirectory(new: path).write(opened) }
        store.say(Text.of("All secrets are copied to {folder}", ["folder": Visible.text(path)]))
      } catch {
        store.say(error)
      }
    }
  }

  private func restore() {
    PathQuestion.ask(
      for: .folder, Text.of("Restore"), Text.of("Choose the folder of a copy. Nothing is changed before you agree."),
      answer: Text.of("_Continue"), over: store.window
    ) { [self] in previewRestore(of: $0) }
  }

  private func previewRestore(of path: String) {
    MainLoop.begin {
      do throws(Failure) {
        let backup = try await VaultWork.runAside { () throws(Failure) in try BackupDirectory(existing: path) }
        let contents: BackupContents
        do throws(VaultError) {
          contents = try await store.call { service throws(VaultError) in
            try await service.contents(ofBackup: backup.file)
          }
        } catch .fileUnreadable {
          throw Failure(
            .damaged, Text.of("this copy is not one of your store, or it is damaged"),
            advice: Text.of(
              "the items of another store's copy are copied by '{command}'",
              ["command": ShellLine.text(["whorl", "restore", path])]))
        } catch {
          throw Failure(error)
        }
        Question.ask(
          Text.of("Replace All Secrets With These?"), Visible.lines(contents.lines), answer: Text.of("_Restore"),
          isDestructive: true, over: store.window
        ) { [self] in restore(backup, contents) }
      } catch {
        store.say(error)
      }
    }
  }

  private func restore(_ backup: BackupDirectory, _ contents: BackupContents) {
    MainLoop.begin {
      do throws(VaultError) {
        let dead = try await store.ask(for: Text.of("restore the copy")) { service, asking throws(VaultError) in
          try await service.restore(backup.file, accepting: contents.id, asking)
        }
        let words = Text.plural("Restored {count} item", "Restored {count} items", contents.items)
        store.say(
          dead.isEmpty
            ? words
            : Text.of(
              "{restored}; lost: {names}", ["restored": words, "names": PromptLabel.names(dead.map(\.description))]))
      } catch {
        store.say(error)
      }
      store.reload()
    }
  }
}

/// What the page of protection shows.
private nonisolated struct ProtectionLook: Sendable {
  let checks: [Finding]
  /// What opens at login, and the programs by which people log in.
  let login: [Finding]

  init(_ settings: WindowSettings) async throws(Failure) {
    checks = await Checkup(settings).findings()
    do throws(Failure) {
      let survey = try await LoginSurvey(settings)
      login = survey.findings + (try settings.isStoreOfService ? survey.programs : [])
    } catch {
      login = [.failed("login", error)]
    }
    await settings.close()
  }
}

extension Finding {
  fileprivate var needsAttention: Bool {
    switch state {
    case .faulty, .failed: true
    case .good, .open, .later, .note: false
    }
  }
}

extension Visible {
  /// Lines, each made safe to show.
  fileprivate static func lines(_ lines: [String]) -> String { lines.map(text).joined(separator: "\n") }
}
