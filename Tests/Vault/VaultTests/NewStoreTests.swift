import Glibc
import Keys
import Presence
import Primitives
import SecretModel
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore

@Suite("A new store before it is kept")
struct NewStoreTests {
  let store: ScratchStore
  let place: String

  init() async throws {
    store = try await ScratchStore()
    place = store.folder + "/another"
  }

  private func create() async throws -> (store: NewStore, draft: StoreDraft) {
    try await StoreCreation.newStore(at: place, passcode: nil, floor: .weakForTests)
  }

  private var names: [String] {
    get throws { try #require(Folder.names(in: store.folder)) }
  }

  @Test("a new store that is not kept yet is in a private folder beside its final place, which stays free")
  func kept() async throws {
    let (new, draft) = try await create()
    let draftName = try #require(names.first { $0.hasPrefix("another.new-") })
    var info = stat()
    #expect(lstat(place, &info) != 0)
    #expect(lstat(store.folder + "/" + draftName, &info) == 0)
    #expect(info.st_mode & 0o7777 == 0o700)
    try new.keep()
    #expect(try names == ["another", "store"])
    let vault = try Vault(at: place, desk: NoReader.desk, floor: .weakForTests)
    try await Person(newPasscode: "new passcode", recoveryKey: draft.recoveryKey.text).with(vault) {
      _ = try await vault.recover(in: $0)
    }
    #expect(throws: VaultError.self) { try new.keep() }
  }

  @Test("a new store that is not kept is removed with its object, and when it is discarded")
  func discarded() async throws {
    var made: (store: NewStore, draft: StoreDraft)? = try await create()
    #expect(try names.count == 2)
    made = nil
    #expect(made == nil)
    #expect(try names == ["store"])
    let (new, _) = try await create()
    new.discard()
    #expect(try names == ["store"])
    #expect(throws: VaultError.self) { try new.keep() }
    #expect(try names == ["store"])
  }

  @Test("a new store replaces an empty folder, and nothing else")
  func occupied() async throws {
    mkdir(place, 0o700)
    let (first, _) = try await create()
    try first.keep()
    await #expect(throws: VaultError.storeExists(place)) { _ = try await create() }
    try ScratchStore.run("/bin/rm", ["-rf", place])
    let (second, _) = try await create()
    for obstacle in [{ mkdir(place, 0o700) + mkdir(place + "/x", 0o700) }, { symlink(store.path, place) }] {
      #expect(obstacle() == 0)
      #expect(throws: VaultError.storeExists(place)) { try second.keep() }
      try ScratchStore.run("/bin/rm", ["-rf", place])
    }
    try second.keep()
  }

  @Test("a new store is made in its place where that is a private folder, and has nothing beside it")
  func within() async throws {
    mkdir(place, 0o700)
    let (discarded, _) = try await create()
    #expect(discarded.directory.path.hasPrefix(place + "/.new-"))
    discarded.discard()
    #expect(Folder.names(in: place) == [])
    let (first, _) = try await create()
    let (second, _) = try await create()
    #expect(try names == ["another", "store"])
    try first.keep()
    #expect(throws: VaultError.storeExists(place)) { try second.keep() }
    second.discard()
    await #expect(throws: VaultError.storeExists(place)) { _ = try await create() }
    #expect(Folder.names(in: place)?.contains { $0.hasPrefix(".") } == false)
    let vault = try Vault(at: place, desk: NoReader.desk, floor: .weakForTests)
    try await vault.put("mail", "gold")
    // A copy for a backup is in the store's folder, too.
    let file = open(store.folder + "/backup", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(file) }
    try await vault.backUp(to: file)
    #expect(try names == ["another", "backup", "store"])
    #expect(Folder.names(in: place)?.contains { $0.hasPrefix(".") } == false)
    await vault.close()
  }

  @Test("files that a killed program has moved in part are no store, and the next new store takes their place")
  func partlyMoved() async throws {
    mkdir(place, 0o700)
    let stale = place + "/.new-killed"
    try ScratchStore.run("/bin/cp", ["-a", store.path, stale])
    try #require(rename(stale + "/state", place + "/state") == 0)
    try #require(rename(stale + "/device.key", place + "/device.key") == 0)
    let (new, _) = try await create()
    try new.keep()
    #expect(Folder.names(in: place)?.contains(".new-killed") == false)
    // A store that has lost its database is left alone: its key may still open a copy.
    unlink(place + "/vault.db")
    await #expect(throws: VaultError.storeExists(place)) { _ = try await create() }
    try ScratchStore.run("/bin/cp", ["-a", store.path, place + "/.copy-killed"])
    unlink(place + "/.copy-killed/state")
    await #expect(throws: VaultError.storeExists(place)) { _ = try await create() }
    #expect(access(place + "/device.key", F_OK) == 0)
  }

  @Test("a new store of a killed program is removed by the next new store for the same place")
  func stale() async throws {
    let (first, _) = try await create()
    let running = try #require(names.first { $0.hasPrefix("another.new-") })
    // The remains of a killed program: a folder whose lock nobody holds.
    try ScratchStore.run("/bin/cp", ["-a", store.folder + "/" + running, place + ".new-killed"])
    for name in ["another.new-toolong", "other.new-killed"] {
      try ScratchStore.run("/bin/cp", ["-a", store.folder + "/" + running, store.folder + "/" + name])
    }
    let (second, _) = try await create()
    #expect(try !names.contains("another.new-killed"))
    #expect(try names.contains("another.new-toolong"))
    #expect(try names.contains("other.new-killed"))
    #expect(try names.contains(running))
    try first.keep()
    #expect(throws: VaultError.storeExists(place)) { try second.keep() }
  }
}
