import Glibc
import Keys
import Moving
import Presence
import Primitives
import SecretModel
import Synchronization
import Testing
import Vault
import VaultDriver
import VaultHost
import VaultItems
import VaultStore

@Suite("A backup of another user's store")
struct OtherUsersBackupTests {
  private static let stranger = geteuid() ^ 5

  /// A backup of a store of another user, with an item that needs nothing and one that needs the passcode.
  private func withBackup(_ body: (_ file: Int32, _ folder: String, _ recoveryKey: String) async throws -> Void)
    async throws
  {
    // Only its folder is used.
    let scratch = try await ScratchStore(passcode: nil)
    let theirs = "\(scratch.folder)/theirs"
    let (new, draft) = try await StoreCreation.newStore(
      at: theirs, passcode: SecretBytes(text: ScratchStore.passcode), owner: Self.stranger)
    try new.keep()
    let vault = try Vault(at: theirs, desk: try scratch.open().desk, owner: Self.stranger)
    try await vault.put("open", "of open", .none)
    try await vault.put("closed", "of closed", .passcode)
    let source = try #require(try await vault.items(.everything).first).id
    for entry in [
      LoginItem(.command, name: "touch /tmp/owned", source: source),
      LoginItem(.environment, name: "PATH", source: source),
      LoginItem(.gnomeKeyring, name: "login"),
    ] {
      _ = try await vault.add(NewItem(entry), secret: SecretBytes(text: "of the login"), in: nil)
    }
    var template = Array("/tmp/whorl-backup-XXXXXX".utf8CString)
    let file = mkstemp(&template)
    unlink(template)
    defer { close(file) }
    try await vault.backUp(to: file)
    await vault.close()
    try await body(file, scratch.folder, draft.recoveryKey.text)
  }

  private func secrets(_ store: any VaultService) async throws -> [String] {
    let person = Person(passcodes: [ScratchStore.passcode])
    return try await person.with(store) { context in
      try await store.secrets(
        .names([try ItemName(parsing: "open"), try ItemName(parsing: "closed")]), Asking(in: context)
      ).map { $0.secret.text }
    }
  }

  @Test("another user's backup becomes a private store with its recovery key, from which a migration takes the items")
  func privateStore() async throws {
    try await withBackup { file, folder, key in
      let place = StorePlace(directory: "\(folder)/restored")
      let making = LocalVaultConnection()
      await #expect(throws: VaultError.wrongRecoveryKey) {
        let other = try await ScratchStore(passcode: nil).recoveryKey
        _ = try await making.makeStore(at: place, ofBackup: file, recoveryKey: SecretBytes(text: other))
      }
      #expect(access("\(folder)/restored", F_OK) != 0)
      let leftOut = try await making.makeStore(at: place, ofBackup: file, recoveryKey: SecretBytes(text: key))
      await making.close()
      // Whoever has made the backup has chosen them. A keyring's entry runs nothing, and its secret may be nowhere else.
      #expect(leftOut.map(\.description).sorted() == ["command/touch /tmp/owned", "environment/PATH"])

      let connection = LocalVaultConnection()
      let store = try await connection.open(place)
      let entries = try await store.items(ItemSearch(loginItemsOf: nil), .nobody).items
      #expect(entries.compactMap { LoginItem($0)?.kind } == [.gnomeKeyring])
      #expect(try await secrets(store) == ["of open", "of closed"])
      let service = try RunningService()
      try await service.makeStore()
      let taking = try service.connect()
      let own = try await taking.open(.own)
      let migration = Migration(from: store, to: own)
      let plan = try await migration.plan()
      let outcome = try await Person(passcodes: [ScratchStore.passcode]).with(store, .keepingEvidence(.never)) {
        try await migration.move(plan, Asking(in: $0)) { $0.accessibility }
      }
      #expect(outcome.moved.count == 3 && outcome.staying.isEmpty)
      await taking.close()
      try await service.end()
      await connection.close()

      // With another owner's number nothing opens: each row is bound to its owner.
      let note = "\(folder)/restored/owner"
      #expect(truncate(note, 0) == 0)
      let damaged = LocalVaultConnection()
      await #expect(throws: VaultError.self) { _ = try await damaged.open(place) }
      unlink(note)
      let foreign = try await damaged.open(place)
      await #expect(throws: VaultError.self) { _ = try await secrets(foreign) }
      await damaged.close()
    }
  }

  @Test("the service refuses another user's backup, and a malformed recovery key, before it asks polkit")
  func service() async throws {
    try await withBackup { file, _, key in
      let asked = Mutex(0)
      let service = try RunningService(authorizeOwner: { _, _ throws(VaultError) in asked.withLock { $0 += 1 } })
      let connection = try service.connect()
      for text in [key, ""] {
        do throws(VaultError) {
          _ = try await connection.makeStore(at: .own, ofBackup: file, recoveryKey: SecretBytes(text: text))
          Issue.record("a store was made")
        } catch {
          guard case .fileUnreadable(let why) = error else { throw error }
          #expect(why.contains("another user's store (user \(Self.stranger), "), "\(why)")
        }
      }
      // A backup of this user's own store, without a key, as a client checks it before it asks for the key.
      let scratch = try await ScratchStore(passcode: nil)
      let vault = try scratch.open()
      var template = Array("/tmp/whorl-backup-XXXXXX".utf8CString)
      let own = mkstemp(&template)
      unlink(template)
      try await vault.backUp(to: own)
      await #expect(throws: VaultError.malformedRecoveryKey) {
        _ = try await connection.makeStore(at: .own, ofBackup: own, recoveryKey: SecretBytes(text: ""))
      }
      #expect(asked.withLock { $0 } == 0)
      _ = try await connection.makeStore(at: .own, ofBackup: own, recoveryKey: SecretBytes(text: scratch.recoveryKey))
      #expect(asked.withLock { $0 } == 1)
      close(own)
      await connection.close()
      try await service.end()
    }
  }
}
