import ArgumentParser
import CommandBase
import Primitives
internal import Prompts
import SecretModel
import Settings
import Whorl

struct Restore: Command {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Put back a copy that 'whorl backup' has made.",
    discussion: """
      Replaces the items of the store by those of the copy, after it has listed what is lost, what comes back and what \
      comes back dead, and asked. It takes the passcode, or the recovery key where the store has none or has had another \
      one since. Fingers, passcode and counts of failures stay those of the store: no removed finger comes back, and \
      items bound to fingers that are gone come back dead.

      Where there is no store, as on another machine or a new disk, it makes one of the copy with the recovery key. \
      Use only a copy that you have made: whoever else has that key can open such a store. What the copy's logins would \
      run, set or write ('whorl login add') is left out and named.

      A copy of another store (another user's, or one from before yours was made) replaces nothing: its items are copied \
      into your store, with the recovery key of that other store and without its passcode. What needs a finger stays in \
      the copy, and is listed; with --store and the name of a new directory the copy becomes a private store of its own.

      Examples:
        whorl restore ~/backups/whorl-2026-11-23
        whorl restore ~/backups/whorl-2026-11-23 --yes --passcode-fd 3 3<passcode
        whorl restore /mnt/whorl-2026-11-23 --recovery-fd 4 4<recovery
        whorl restore /mnt/of-another-user
      """)

  @OptionGroup var options: GlobalOptions
  @OptionGroup var recovery: RecoveryKeyOption

  @Argument(help: ArgumentHelp("The directory of the copy.", valueName: "directory"), completion: .directory)
  var directory: String

  @Flag(name: .shortAndLong, help: "Do not ask whether to go on.")
  var yes = false

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let backup = try BackupDirectory(existing: directory)
    let answers = session.answers(recoveryKey: recovery.recoveryFd)
    let place = try session.place()
    let connection = try await session.connect(to: place)
    guard let store = try await session.openStoreIfThere() else {
      return try await make(place, of: backup, by: connection, session, answers)
    }
    let contents: BackupContents
    do throws(VaultError) {
      contents = try await store.call { vault throws(VaultError) in try await vault.contents(ofBackup: backup.file) }
    } catch {
      return try await copyItems(of: backup, session, answers, otherwise: error)
    }
    for line in contents.lines { StandardError.line(Visible.text(line)) }
    if !yes {
      if contents.removed.isEmpty, contents.changed.isEmpty {
        try answers.confirm("Replace the store's items with these?", assent: "--yes")
      } else {
        try answers.confirmLoss(assent: "--yes")
      }
    }
    let dead = try await session.asking(answers, reason: "restore \(Visible.text(directory))") {
      try await $0.restore(backup.file, accepting: contents.id, $1)
    }
    try report(items: contents.items, dead, leftOut: [])
  }

  private func make(
    _ place: StorePlace, of backup: BackupDirectory, by connection: any VaultConnection, _ session: Session,
    _ answers: Answers
  ) async throws(Failure) {
    // Report all errors that can be found without the key before asking for it.
    do throws(VaultError) {
      _ = try await connection.makeStore(at: place, ofBackup: backup.file, recoveryKey: SecretBytes(count: 0))
    } catch {
      guard error == .malformedRecoveryKey else { throw Self.explained(error, session) }
    }
    StandardError.line("There is no store yet. One will be made from the copy, which needs its recovery key.")
    StandardError.line("Go on only if you have made the copy: whoever else has that key can open the new store.")
    if !yes { try answers.confirm("Go on?", assent: "--yes") }
    let leftOut = try await answers.withRetypedRecoveryKey { () async throws(Failure) in
      let key = SharedSecret(try answers.answer(.recoveryKey))
      return try await session.withPasswordAgent { () async throws(Failure) in
        try await session.explained { () async throws(VaultError) in
          try await connection.makeStore(at: place, ofBackup: backup.file, recoveryKey: key.copy())
        }
      }
    }
    try report(
      items: try await session.request { try await $0.status() }.items, [],
      leftOut: leftOut.compactMap { Self.target($0) })
  }

  /// What 'whorl login add --to' takes for an entry of this name.
  private static func target(_ name: ItemName) -> String? {
    LoginItem.Kind(rawValue: name.service).map { LoginItem($0, name: name.account).spoken }
  }

  /// Copies the items where the copy is that of another store.
  ///
  /// - Parameter error: why this store cannot be replaced by it.
  private func copyItems(
    of backup: BackupDirectory, _ session: Session, _ answers: Answers, otherwise error: VaultError
  ) async throws(Failure) {
    guard case .fileUnreadable = error else { throw session.explained(error) }
    let other = OtherStoreRestore(backup: backup, session: session, answers: answers, isAgreed: yes)
    guard let report = try await other.run() else {
      var failure = session.explained(error)
      failure.advice = "it is damaged: take another copy"
      throw failure
    }
    try report.print(json: options.json)
  }

  /// The failure for an error where there is no store yet.
  private static func explained(_ error: VaultError, _ session: Session) -> Failure {
    var failure = session.explained(error)
    guard case .fileUnreadable = error else { return failure }
    failure.advice =
      "if it belongs to another user or store, make a store of your own first ('whorl setup'): the same command then "
      + "copies the items into it; if it is damaged, take another copy"
    return failure
  }

  /// - Parameter leftOut: what a login would have run, set or written.
  private func report(items: Int, _ dead: [ItemName], leftOut: [String]) throws(Failure) {
    if options.json {
      return try JSON.print(Report(items: items, dead: dead.map(\.description), leftOut: leftOut))
    }
    StandardError.line("Restored \(Spoken.plural(items, "item")).")
    for name in dead { StandardError.line("Dead: \(Visible.text(name.description))") }
    guard !leftOut.isEmpty else { return }
    StandardError.line("Left out, since nothing shows that you chose what logins do here ('whorl login add' does):")
    for target in leftOut { StandardError.line("  \(Visible.text(target))") }
  }

  private struct Report: Encodable {
    var restored = true
    var items: Int
    var dead: [String]
    var leftOut: [String]
  }
}
