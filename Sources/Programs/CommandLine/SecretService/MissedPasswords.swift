import Moving
import OtherStores
internal import PromptTexts
import SecretModel
import SecureMemory
import SessionPrompts
import Wallets
import Whorl

/// Brings in what programs stored in GNOME Keyring before Whorl took over: while Whorl is the Secret Service, that is
/// read from copies of the keyring's files, by a second daemon on a bus of its own. Nothing is changed there.
struct MissedPasswords {
  static let program = "GNOME Keyring"

  let session: Session
  let store: any VaultService
  let places: KeyringPlaces
  let access: AccessControl.Constraint?

  init(_ session: Session, _ store: any VaultService, access: AccessControl.Constraint?) throws(Failure) {
    (self.session, self.store, self.access) = (session, store, access)
    places = try session.keyringPlaces()
  }

  /// Whether there is a keyring to read.
  var isThere: Bool { KeyringLook(places).problem == nil }

  /// The keyring's secret, if Whorl has it.
  func ownSecret() async throws(Failure) -> SharedSecret? {
    try await session.explained { () async throws(VaultError) in
      try await LoginEntries(in: store).secret(of: KeyringRekeying.entry)
    }
  }

  /// Reads the copies.
  ///
  /// - Parameter body: gets what to copy from.
  func read<Value>(
    openedWith secret: SharedSecret, _ body: (SecretServiceCopy) async throws -> Value
  ) async throws(Failure) -> Value {
    do {
      return try await KeyringTrial(of: places, with: places.openFiles).serving(openedWith: secret) { bus in
        try await body(
          try await SecretServiceCopy(onBus: bus, from: Self.program, to: store, access: access))
      }
    } catch {
      throw session.explained(error)
    }
  }

  // MARK: By itself

  /// Brings in what came after the last copy, and tells the desktop. Asks nobody: where it cannot read the keyring, it
  /// says what the person can do.
  func bringByItself(since copied: LastCopy) async throws(Failure) {
    guard let time = copied.time, isThere else { return }
    guard places.hasChanged(since: time) else { return copied.forget() }
    try await session.explained { () async throws(VaultError) in
      while try await !store.openClasses().contains(.afterFirstUnlock) { _ = try await store.unlockChange(from: false) }
    }
    guard let secret = try await ownSecret() else {
      return await note(
        "Passwords may be missing in Whorl",
        "\(Self.program) was changed after its passwords were copied into Whorl. To bring in what is new, type in a "
          + "terminal: whorl secret-service import")
    }
    let outcome = try await read(openedWith: secret) { copy in
      try await copy.bring(try await copy.plan(since: time, .nobody), replacing: true, .nobody)
    }
    let names = (outcome.brought + outcome.replaced).map(\.label)
    if !names.isEmpty {
      await note(
        "Passwords were brought into Whorl",
        "Programs had stored them in \(Self.program) before Whorl took over: \(names.joined(separator: ", "))")
    }
    guard outcome.unusable.isEmpty else {
      return await note(
        "Passwords are missing in Whorl",
        "They stayed in \(Self.program): "
          + outcome.unusable.map { "\($0.called): it \($0.reason.words)" }.joined(separator: ", "))
    }
    copied.forget()
  }

  private func note(_ title: String, _ text: String) async {
    StandardError.line(Visible.text("\(title). \(text)"))
    await DesktopNote.leave(title, Visible.text(text), onBus: BaseDirectories.sessionBus)
  }
}
