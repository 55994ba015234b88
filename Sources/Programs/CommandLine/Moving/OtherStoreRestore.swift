import CommandBase
import Glibc
internal import Moving
import Primitives
import Processes
internal import Prompts
import SecretModel
import Settings
import Whorl

/// Copies the items of another store's backup into this user's store: another user's, or one of a time before this
/// store was made. `whorl restore` does it where the copy does not belong to the store.
///
/// The recovery key of that backup makes a store of it for this one command, in a folder in memory if there is one. The
/// same key sets a passcode there, so that the person needs no passcode of that store.
struct OtherStoreRestore {
  let backup: BackupDirectory
  let session: Session
  /// The recovery key's descriptor, and whether anybody may be asked.
  let answers: Answers
  /// Whether the person has agreed in advance.
  let isAgreed: Bool

  /// Copies the items into the user's store.
  ///
  /// - Returns: nil if this is no backup that can be read.
  func run() async throws(Failure) -> OtherStoreReport? {
    var folder: TemporaryFolder?
    let result: Result<OtherStoreReport?, Failure>
    do throws(Failure) {
      result = .success(
        try await session.withPrivateVault { vault throws(Failure) in try await run(by: vault, in: &folder) })
    } catch {
      result = .failure(error)
    }
    // The vault has ended before its files are removed.
    try folder?.remove()
    return try result.get()
  }

  private func run(
    by connection: any VaultConnection, in folder: inout TemporaryFolder?
  ) async throws(Failure) -> OtherStoreReport? {
    guard await isBackup(connection) else { return nil }
    StandardError.line("This is the copy of another store: another user's, or one from before yours was made.")
    StandardError.line(
      "Its items can be copied into yours, where everything stays as it is. That takes the recovery key of")
    StandardError.line("that other store, and no passcode of it.")
    if !isAgreed { try answers.confirm("Copy its items into your store?", assent: "--yes") }
    let new = try TemporaryFolder()
    folder = new
    let (outcome, leftOut) = try await copy(by: StorePlace(directory: "\(new.path)/store"), connection)
    return OtherStoreReport(outcome, leftOut: leftOut)
  }

  /// Whether the file is a backup of any store. Makes nothing, since there is no key.
  private func isBackup(_ connection: any VaultConnection) async -> Bool {
    do throws(VaultError) {
      _ = try await connection.makeStore(
        at: StorePlace(directory: "/nonexistent"), ofBackup: backup.file, recoveryKey: SecretBytes(count: 0))
    } catch .malformedRecoveryKey {
      return true
    } catch {}
    return false
  }

  private func copy(
    by place: StorePlace, _ connection: any VaultConnection
  ) async throws(Failure) -> (MigrationOutcome, leftOut: [ItemName]) {
    let (key, leftOut) = try await answers.withRetypedRecoveryKey { () async throws(Failure) in
      let key = SharedSecret(try answers.answer(.recoveryKey))
      let leftOut = try await session.explained { () async throws(VaultError) in
        try await connection.makeStore(at: place, ofBackup: backup.file, recoveryKey: key.copy())
      }
      return (key, leftOut)
    }
    let old = try await session.explained { () async throws(VaultError) in
      SecretStore(service: try await connection.open(place))
    }
    let passcode = Self.newPasscode()
    try await session.asking(Answers(given: key, newPasscode: passcode, noPrompt: true), in: old) { vault, asking in
      _ = try await vault.recover(accepting: nil, asking)
    }
    try await session.openIfWaiting(session.answers(), to: "copy the items into it")
    let migration = try await session.migration(from: old)
    var plan = try await session.explained { () async throws(VaultError) in try await migration.plan() }
    plan.leaveWhatNeedsFinger()
    plan.leaveInternalGroups()
    var context = session.contextOptions
    context.preferPasscode = true
    context.keepsEvidence = true
    let movable = plan
    let outcome = try await session.asking(.only(passcode), options: context, in: old) { _, asking in
      try await migration.move(movable, asking)
    }
    return (outcome, leftOut)
  }

  /// A passcode for the store that lasts as long as this command.
  private static func newPasscode() -> SharedSecret {
    var passcode = SecretBytes(count: 32)
    passcode.withUnsafeMutableBytes { bytes in
      for index in bytes.indices { bytes[index] = UInt8.random(in: UInt8(ascii: "a")...UInt8(ascii: "z")) }
    }
    return SharedSecret(passcode)
  }
}

/// A folder for one command, for this user alone: in the user's runtime directory, which is in memory, or else in the
/// data directory.
private struct TemporaryFolder {
  let path: String

  init() throws(Failure) {
    path = try Unfinished.ofThisProgram.make { () throws(Failure) in
      for parent in [BaseDirectories.runtime, BaseDirectories.data].compactMap(\.self) {
        var template = Array("\(parent)/whorl-restore-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { continue }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      }
      throw Failure(
        .inputOutput, "cannot make a folder in \(BaseDirectories.runtime): \(String(cString: strerror(errno)))",
        name: "errSecIO", advice: "run this in a session of yours")
    } undo: { path in
      try? Self.remove(path)
    }.value
  }

  func remove() throws(Failure) { try Self.remove(path) }

  private static func remove(_ path: String) throws(Failure) {
    if access("\(path)/store", F_OK) == 0 { try PrivateStoreFiles.remove("\(path)/store") }
    rmdir(path)
  }
}

/// The report of `whorl restore` for the copy of another store.
struct OtherStoreReport: Encodable {
  private struct Staying: Encodable {
    var item: String
    var reason: String
  }

  private var restored = true
  private var items: Int
  private var alreadyThere: Int
  private var dead: [String] = []
  private var staying: [Staying]

  /// - Parameter leftOut: the entries of the login that the vault has left out already.
  init(_ outcome: MigrationOutcome, leftOut: [ItemName]) {
    (items, alreadyThere) = (outcome.moved.count, outcome.alreadyThere.count)
    staying = outcome.staying.map { Staying(item: $0.item.called, reason: $0.obstacle.words(.storeOfRestore)) }
    staying += leftOut.map {
      Staying(item: $0.description, reason: MoveObstacle.ofThisMachine.words(.storeOfRestore))
    }
  }

  func print(json: Bool) throws(Failure) {
    if json { return try JSON.print(self) }
    let there =
      alreadyThere == 0
      ? "" : "; \(Spoken.plural(alreadyThere, "item")) of it \(alreadyThere == 1 ? "is" : "are") there"
    StandardError.line("Copied \(Spoken.plural(items, "item")) into your store\(there).")
    guard !staying.isEmpty else { return }
    StandardError.line("\(Spoken.plural(staying.count, "item")) stayed in the copy:")
    for each in staying { StandardError.line("  \(Visible.text("\(each.item): \(each.reason)"))") }
  }
}
