internal import Moving
internal import Primitives
internal import SecretModel
internal import Whorl

/// Brings in what programs stored in GNOME Keyring or KWallet before Whorl took over: while Whorl is the Secret Service,
/// that is read from copies of the other program's files, by a second daemon on a bus of its own. Nothing is changed there.
package struct MissedPasswords: Sendable {
  /// What the desktop tells the person, who is at no terminal.
  package struct Notice: Sendable {
    package let title: String
    package let text: String
  }

  private let dialogue: any ChangeDialogue
  private var context: any SettingsContext { dialogue.context }
  let files: MissedFiles
  private let access: AccessControl.Constraint?

  init(_ dialogue: any ChangeDialogue, in files: MissedFiles, access: AccessControl.Constraint? = nil) {
    (self.dialogue, self.files, self.access) = (dialogue, files, access)
  }

  /// The secret that opens the files: Whorl's own, or else made of a password that the person types.
  func secret() async throws(Failure) -> SharedSecret {
    if let own = try await ownSecret() { return own }
    return switch files {
    case .keyrings: try await dialogue.password("password of the login keyring", isOptional: false)
    case .wallet: try await KWalletChange(dialogue).typedKey()
    }
  }

  private func ownSecret() async throws(Failure) -> SharedSecret? {
    let entry =
      switch files {
      case .keyrings: KeyringRekeying.entry
      case .wallet: KWalletChoice.entry
      }
    return try await context.request { try await LoginEntries(in: $0).secret(of: entry) }
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
    try await context.request { vault in
      func copy(_ bus: String, _ opening: SecretServiceOpening) async throws(ImportError) -> SecretServiceCopy {
        try await SecretServiceCopy(onBus: bus, from: files.program, to: vault, access: access, opening: opening)
      }
      switch files {
      case .keyrings(let places):
        return try await KeyringTrial(of: places, with: places.otherFiles).serving(openedWith: secret) { bus in
          try await body(try await copy(bus, .byPassword(password)))
        }
      case .wallet(let places):
        return try await KWalletTrial(of: places).serving(openedWith: secret) { bus in
          try await body(try await copy(bus, .byPrompt))
        }
      }
    }
  }

  // MARK: By itself

  /// Brings in what came after the last copy, with questions to nobody. Where it cannot read the files, it says what the
  /// person can do.
  ///
  /// - Returns: what the desktop tells the person.
  package static func bringByItself(_ dialogue: any ChangeDialogue) async throws(Failure) -> [Notice] {
    let copied = try LastCopy()
    guard let time = copied.time else { return [] }
    _ = try await dialogue.context.openStore()
    let files = try MissedFiles(of: copied.program, dialogue.context)
    guard files.areThere else { return [] }
    return try await Self(dialogue, in: files).bringByItself(since: time, copied)
  }

  private func bringByItself(since time: Double, _ copied: LastCopy) async throws(Failure) -> [Notice] {
    guard files.haveChanged(since: time) else {
      copied.forget()
      return []
    }
    try await context.request { vault in
      while try await !vault.openClasses().contains(.afterFirstUnlock) { _ = try await vault.unlockChange(from: false) }
    }
    guard let secret = try await ownSecret() else { return [whatToType("\(files.program) was")] }
    let (outcome, locked): (SecretServiceCopy.Outcome, [SecretServiceCopy.LockedKeyring])
    do throws(Failure) {
      (outcome, locked) = try await read(openedWith: secret) { copy in
        (try await copy.bring(try await copy.plan(since: time, .nobody), replacing: true, .nobody), copy.locked)
      }
    } catch {
      dialogue.tell(.failed(error))
      return [whatToType("\(files.program) was")]
    }
    var notices: [Notice] = []
    let names = (outcome.brought + outcome.replaced).map(\.label)
    if !names.isEmpty {
      notices.append(
        Notice(
          title: "Passwords were brought into Whorl",
          text: "Programs had stored them in \(files.program) before Whorl took over: \(names.joined(separator: ", "))")
      )
    }
    let missing = outcome.unusable.filter { entry in !locked.contains { entry.called == "collection \($0.label)" } }
    let changed = files.otherKeyrings(changedSince: time)
    let closed = locked.filter { changed.contains($0.file) }.map(\.label).sorted()
    if !missing.isEmpty {
      notices.append(
        Notice(
          title: "Passwords are missing in Whorl",
          text: "They stayed in \(files.program): "
            + missing.map { "\($0.called): it \($0.reason.words)" }.joined(separator: ", ")))
    } else if !closed.isEmpty {
      notices.append(
        whatToType(
          closed.count == 1
            ? "The keyring \(closed[0]), which has a password of its own, was"
            : "The keyrings \(closed.joined(separator: ", ")), which have passwords of their own, were"))
    } else {
      copied.forget()
    }
    return notices
  }

  private func whatToType(_ subject: String) -> Notice {
    Notice(
      title: "Passwords may be missing in Whorl",
      text:
        "\(subject) changed after the passwords were copied into Whorl. To bring in what is new, type in a terminal: "
        + "whorl secret-service import")
  }
}
