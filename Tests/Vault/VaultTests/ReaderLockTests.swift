import Glibc
import Primitives
import ReaderClient
import Synchronization
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("The lock of a reader")
struct ReaderLockTests {
  @Test("each reader's lock file has its own name, in a private folder of the user")
  func path() async throws {
    let runtime = try await ScratchStore()
    let locks = ReaderLocks(runtimeFolder: runtime.folder)
    func reader(_ serial: String, _ nature: ReaderDescription.Nature = .physical) -> ReaderDescription {
      ReaderDescription(
        id: "id", name: "name", identity: ReaderIdentity(driver: "driver", serial: serial), scanType: .press,
        enrollStages: 1, features: [], temperature: .cold, nature: nature)
    }
    let first = try #require(try locks.path(of: reader("1")))
    #expect(try locks.path(of: reader("1")) == first)
    #expect(try locks.path(of: reader("2")) != first)
    #expect(try locks.path(of: reader("1", .virtual)) == nil)
    #expect(first.hasPrefix(runtime.folder + "/whorl/reader-"))

    chmod(runtime.folder + "/whorl", 0o770)
    #expect(throws: VaultError.self) { try locks.path(of: reader("1")) }
    rmdir(runtime.folder + "/whorl")
    symlink("/tmp", runtime.folder + "/whorl")
    #expect(throws: VaultError.self) { try locks.path(of: reader("1")) }
    unlink(runtime.folder + "/whorl")
  }

  @Test("a finger that rests on the reader after one store's request does not answer another store's request")
  func restingFinger() async throws {
    let image = try await ImageReaderStore()
    let runtime = try await ScratchStore()
    let armed = Mutex<UInt64>(0)
    let vault = try image.store.open(
      reader: InterposedReader.physical(image.process), runtimeFolder: runtime.folder)
    _ = try await image.enroll(.rightIndex, in: vault)
    try await vault.put("any", "secret", .anyFinger)
    await vault.shutdown()
    let identity = try #require(try await vault.status().sets.first?.reader)
    let reader = ReaderDescription(
      id: "", name: "", identity: identity, scanType: .press, enrollStages: 1, features: [], temperature: .cold,
      nature: .physical)
    // The note of another store's request that did not see the finger lifted.
    let left = BootClock.system.now()
    let path = try #require(try ReaderLocks(runtimeFolder: runtime.folder).path(of: reader))
    try FileLock.brief(path, .exclusive).leave(left)
    let press = image.press(.rightIndex)
    let person = Person(touches: [
      {
        armed.withLock { $0 = BootClock.system.now() }
        try await press()
      }
    ])
    #expect(try await vault.get("any", by: person) == "secret")
    #expect(armed.withLock { $0 } - left >= FingerLift.assumedAfter)
  }

  @Test("a request without a scan keeps the note about a resting finger")
  func noScan() async throws {
    let store = try await ScratchStore()
    let left = BootClock.system.now()
    try FileLock.brief(store.path + "/scan.lock", .exclusive).leave(left)
    let vault = try store.open()
    await #expect(throws: VaultError.self) { try await vault.put("bound", "secret", .currentSet) }
    await #expect(throws: VaultError.self) {
      try await Person(passcodes: [ScratchStore.passcode]).with(vault) { try await vault.enroll(.rightIndex, in: $0) }
    }
    #expect(try FileLock.brief(store.path + "/scan.lock", .exclusive).note == left)
  }
}
