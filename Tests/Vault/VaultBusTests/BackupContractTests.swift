import Glibc
import Presence
import Primitives
import SecretModel
import Testing
import Vault
import VaultBus
import VaultDriver
import VaultItems
import VaultStore

@Suite("Backups, in process and over a socket")
struct BackupContractTests {
  /// A file that is removed with this value.
  private final class ScratchFile: Sendable {
    let descriptor: Int32

    init(_ bytes: [UInt8] = []) throws {
      var template = Array("/tmp/whorl-backup-XXXXXX".utf8CString)
      descriptor = mkstemp(&template)
      unlink(template)
      try #require(descriptor >= 0 && write(descriptor, bytes, bytes.count) == bytes.count)
    }

    deinit { close(descriptor) }

    var bytes: [UInt8] {
      var info = stat()
      fstat(descriptor, &info)
      var bytes = [UInt8](repeating: 0, count: Int(info.st_size))
      return pread(descriptor, &bytes, bytes.count, 0) == bytes.count ? bytes : []
    }
  }

  private func add(_ names: [String], to vault: any VaultService) async throws {
    let items = try names.map { name in
      ItemToAdd(
        NewItem(named: try ItemName(parsing: name), access: .none),
        secret: SharedSecret(SecretBytes(text: "of \(name)")))
    }
    #expect(try await vault.add(items).isEmpty)
  }

  private func secrets(_ vault: any VaultService) async throws -> [String] {
    try await vault.secrets(.search(.everything), .nobody).map { "\($0.name): \($0.text)" }
  }

  @Test("a backup is restored with the passcode, after a list of what is lost and comes back", arguments: Way.allCases)
  func roundTrip(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    try await add(["kept", "removed later", "changed later"], to: open.vault)
    let backup = try ScratchFile()
    try await open.vault.backUp(to: backup.descriptor)
    _ = try await open.vault.delete(.names([try ItemName(parsing: "removed later")]))
    let change = ItemChange(attributes: [:])
    _ = try await open.vault.update(
      .names([try ItemName(parsing: "changed later")]), change, secret: SecretBytes(text: "new"), .nobody)
    try await add(["added later"], to: open.vault)

    let contents = try await open.vault.contents(ofBackup: backup.descriptor)
    #expect(contents.items == 3 && contents.proof == .passcode)
    #expect(contents.removed.map(\.description) == ["added later"])
    #expect(contents.returning.map(\.description) == ["removed later"])
    #expect(contents.changed.map(\.description) == ["changed later"])
    #expect(contents.dead.isEmpty)
    // Fails without the passcode, and with a wrong one.
    await #expect(throws: VaultError.interactionNotAllowed) {
      _ = try await open.vault.restore(backup.descriptor, accepting: contents.id, .nobody)
    }
    await #expect(throws: VaultError.wrongPasscode) {
      try await open.asking(answering: { _ in "wrong" }) { asking in
        _ = try await open.vault.restore(backup.descriptor, accepting: contents.id, asking)
      }
    }
    #expect(try await secrets(open.vault).contains("added later: of added later"))
    // Not what was not shown.
    try await add(["added meanwhile"], to: open.vault)
    await #expect(throws: VaultError.busy("the store or the backup changed meanwhile")) {
      try await open.asking(answering: OpenScratch.passcode) { asking in
        _ = try await open.vault.restore(backup.descriptor, accepting: contents.id, asking)
      }
    }
    let shown = try await open.vault.contents(ofBackup: backup.descriptor)
    let dead = try await open.asking(answering: OpenScratch.passcode) { asking in
      try await open.vault.restore(backup.descriptor, accepting: shown.id, asking)
    }
    #expect(dead.isEmpty)
    #expect(
      try await secrets(open.vault)
        == ["kept: of kept", "removed later: of removed later", "changed later: of changed later"])
    #expect(try await open.vault.problems().isEmpty)
    await open.connection.close()
  }

  @Test("a backup makes a new store only where there is none, and only with the recovery key", arguments: Way.allCases)
  func newStore(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    try await add(["free"], to: open.vault)
    let backup = try ScratchFile()
    try await open.vault.backUp(to: backup.descriptor)
    let place = StorePlace(directory: open.scratch.store.folder + "/another")
    let connection = try way.connect(to: try await ScratchConnection())
    let other = try await ScratchConnection().store.recoveryKey
    await #expect(throws: VaultError.wrongRecoveryKey) {
      _ = try await connection.makeStore(at: place, ofBackup: backup.descriptor, recoveryKey: SecretBytes(text: other))
    }
    #expect(access(open.scratch.store.folder + "/another", F_OK) != 0)
    let key = open.scratch.store.recoveryKey
    _ = try await connection.makeStore(at: place, ofBackup: backup.descriptor, recoveryKey: SecretBytes(text: key))
    await #expect(throws: VaultError.storeExists(open.scratch.store.folder + "/another")) {
      _ = try await connection.makeStore(at: place, ofBackup: backup.descriptor, recoveryKey: SecretBytes(text: key))
    }
    let made = try Vault(at: open.scratch.store.folder + "/another", desk: try open.scratch.store.open().desk)
    #expect(try await made.get("free") == "of free")
    #expect(try await made.integrityProblems().isEmpty)
    await made.close()
    await open.connection.close()
  }

  @Test("a file that is no intact backup of the store is refused in one clear line", arguments: Way.allCases)
  func badInput(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    try await add(["an item"], to: open.vault)
    let large = ItemToAdd(
      NewItem(named: try ItemName(parsing: "large"), access: .none),
      secret: SharedSecret(SecretBytes(count: 200_000)))
    #expect(try await open.vault.add([large]).isEmpty)
    let backup = try ScratchFile()
    try await open.vault.backUp(to: backup.descriptor)
    func refusal(_ bytes: [UInt8]) async throws -> VaultError? {
      let file = try ScratchFile(bytes)
      do throws(VaultError) {
        _ = try await open.vault.contents(ofBackup: file.descriptor)
        return nil
      } catch {
        return error
      }
    }
    let damaged = VaultError.fileUnreadable("the backup was damaged or cut off, or something was appended")
    #expect(try await refusal([]) == .fileUnreadable("it is not a backup of whorl"))
    #expect(try await refusal(Array(repeating: 7, count: 5_000)) == .fileUnreadable("it is not a backup of whorl"))
    var bytes = backup.bytes
    #expect(try await refusal(bytes) == nil)
    #expect(try await refusal(Array(bytes.dropLast())) == damaged)
    #expect(try await refusal(bytes + [0]) == damaged)
    // Whole chunks cut off.
    let boxCount = 65_536 + 28
    #expect(bytes.count > 2 * boxCount)
    #expect(try await refusal(Array(bytes.dropLast((bytes.count - 200) % boxCount))) == damaged)
    bytes[bytes.count / 2] ^= 1
    #expect(try await refusal(bytes) == damaged)
    // The version is the first number of the head.
    for (version, error) in [(UInt8(1), VaultError.olderFormat(1)), (3, .newerFormat(3))] {
      var other = backup.bytes
      other["whorl-backup\n".utf8.count + 4 + 5 + 7] = version
      #expect(try await refusal(other) == error)
    }
    let another = try await OpenScratch(way)
    let theirs = try ScratchFile()
    try await another.vault.backUp(to: theirs.descriptor)
    #expect(
      try await refusal(theirs.bytes)
        == .fileUnreadable("it is a backup of another store than the one that is in place"))
    // The owner is after version, format and the database's id.
    var foreign = backup.bytes
    foreign["whorl-backup\n".utf8.count + 4 + 13 + 13 + 21 + 5 + 7] ^= 5
    guard case .fileUnreadable(let why)? = try await refusal(foreign) else {
      Issue.record("a backup of another user's store is refused")
      return
    }
    #expect(why.contains("another user's store (user \(geteuid() ^ 5), and this is user \(geteuid()))"), "\(why)")
    // A backup is written only into an empty file.
    await #expect(throws: VaultError.invalidRequest("a backup is written into an empty file")) {
      try await open.vault.backUp(to: backup.descriptor)
    }
    // Nothing of the database can be read in it.
    #expect(backup.bytes.firstRange(of: Array("SQLite format".utf8)) == nil)
    await another.connection.close()
    await open.connection.close()
  }
}
