import Moving
import OtherStores
internal import PromptTexts
import SecretModel
import SecureMemory
import SessionPrompts
import Settings
import Wallets
import Whorl

/// Brings in what programs stored in GNOME Keyring or KWallet before Whorl took over: while Whorl is the Secret Service,
/// that is read from copies of the other program's files, by a second daemon on a bus of its own. Nothing is changed there.
struct MissedPasswords {
  let session: Session
  let store: any VaultService
  let files: MissedFiles
  let access: AccessControl.Constraint?

  /// The secret that opens the files, if Whorl has it.
  func ownSecret() async throws(Failure) -> SharedSecret? {
    let entry =
      switch files {
      case .keyrings: KeyringRekeying.entry
      case .wallet: KWalletChoice.entry
      }
    return try await session.explained { () async throws(VaultError) in
      try await LoginEntries(in: store).secret(of: entry)
    }
  }

  /// The secret that opens the files, of a password that a person types.
  func typedSecret(_ passwords: WalletPasswords) async throws(Failure) -> SharedSecret {
    switch files {
    case .keyrings: return SharedSecret(try passwords.current("password of the login keyring"))
    case .wallet:
      let choice = try session.kwalletChoice(in: store)
      return try await passwords.proven("password of KWallet", session) { try await choice.key(from: $0) }
    }
  }

  /// Reads the copies.
  ///
  /// - Parameters:
  ///   - password: asks for the password of a keyring that has one of its own, as `SecretServiceOpening`.
  ///   - body: gets what to copy from.
  func read<Value>(
    openedWith secret: SharedSecret,
    others password: @escaping @Sendable (_ keyring: String, _ wrong: Int) async -> SharedSecret? = { _, _ in nil },
    _ body: (SecretServiceCopy) async throws -> Value
  ) async throws(Failure) -> Value {
    do {
      switch files {
      case .keyrings(let places):
        return try await KeyringTrial(of: places, with: places.otherFiles).serving(openedWith: secret) { bus in
          try await body(try await copy(onBus: bus, opening: .byPassword(password)))
        }
      case .wallet(let places):
        return try await KWalletTrial(of: places).serving(openedWith: secret) { bus in
          try await body(try await copy(onBus: bus, opening: .byPrompt))
        }
      }
    } catch {
      throw session.explained(error)
    }
  }

  private func copy(onBus bus: String, opening: SecretServiceOpening) async throws(ImportError) -> SecretServiceCopy {
    try await SecretServiceCopy(onBus: bus, from: files.program, to: store, access: access, opening: opening)
  }

  // MARK: By itself

  /// Brings in what came after the last copy, and tells the desktop. Asks nobody: where it cannot read the files, it says
  /// what the person can do.
  func bringByItself(since copied: LastCopy) async throws(Failure) {
    guard let time = copied.time, files.areThere else { return }
    guard files.haveChanged(since: time) else { return copied.forget() }
    try await session.explained { () async throws(VaultError) in
      while try await !store.openClasses().contains(.afterFirstUnlock) { _ = try await store.unlockChange(from: false) }
    }
    guard let secret = try await ownSecret() else { return await noteWhatToType("\(files.program) was") }
    let (outcome, locked): (SecretServiceCopy.Outcome, [SecretServiceCopy.LockedKeyring])
    do throws(Failure) {
      (outcome, locked) = try await read(openedWith: secret) { copy in
        (try await copy.bring(try await copy.plan(since: time, .nobody), replacing: true, .nobody), copy.locked)
      }
    } catch {
      StandardError.line(error.line(command: "secret-service import"))
      return await noteWhatToType("\(files.program) was")
    }
    let names = (outcome.brought + outcome.replaced).map(\.label)
    if !names.isEmpty {
      await note(
        "Passwords were brought into Whorl",
        "Programs had stored them in \(files.program) before Whorl took over: \(names.joined(separator: ", "))")
    }
    let missing = outcome.unusable.filter { entry in !locked.contains { entry.called == "collection \($0.label)" } }
    guard missing.isEmpty else {
      return await note(
        "Passwords are missing in Whorl",
        "They stayed in \(files.program): "
          + missing.map { "\($0.called): it \($0.reason.words)" }.joined(separator: ", "))
    }
    let changed = files.otherKeyrings(changedSince: time)
    let closed = locked.filter { changed.contains($0.file) }.map(\.label).sorted()
    guard closed.isEmpty else {
      return await noteWhatToType(
        closed.count == 1
          ? "The keyring \(closed[0]), which has a password of its own, was"
          : "The keyrings \(closed.joined(separator: ", ")), which have passwords of their own, were")
    }
    copied.forget()
  }

  private func noteWhatToType(_ subject: String) async {
    await note(
      "Passwords may be missing in Whorl",
      "\(subject) changed after the passwords were copied into Whorl. To bring in what is new, type in a terminal: "
        + "whorl secret-service import")
  }

  private func note(_ title: String, _ text: String) async {
    StandardError.line(Visible.text("\(title). \(text)"))
    await DesktopNote.leave(title, Visible.text(text), onBus: BaseDirectories.sessionBus)
  }
}
