import GRDB
import Glibc
import Keys
import MemorySearch
import Primitives
import ProgramDriver
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

/// Searches for a unique secret in every place where it must not be.
@Suite("Leaks of secrets, searched for with known values")
struct CanaryTests {
  private static func canary() -> String { "canary-\(UInt64.random(in: .min ... .max))-canary" }

  /// The files in a folder that contain these bytes.
  private func files(of folder: String, holding bytes: [UInt8]) throws -> [String] {
    try folderEntries(folder).filter { try readFile("\(folder)/\($0)").ranges(of: bytes).isEmpty == false }
  }

  private func look(_ store: ScratchStore, _ canary: String, _ when: String) throws {
    for text in [canary, ScratchStore.passcode, store.recoveryKey] {
      #expect(try files(of: store.path, holding: Array(text.utf8)) == [], "\(when)")
    }
  }

  private static func enroll(_ finger: Finger, in vault: Vault) async throws {
    _ = try await Person(passcodes: [ScratchStore.passcode]).with(vault) { try await vault.enroll(finger, in: $0) }
  }

  @Test("no file of the store ever holds a released secret, or a key that a change has destroyed")
  func files() async throws {
    let store = try await ScratchStore()
    let vault = try store.open(reader: ScriptedReader())
    let canary = Self.canary()
    try await Self.enroll(.rightIndex, in: vault)
    for gate in [AccessControl.Constraint.none, .presence, .anyFinger, .currentSet] {
      try await vault.put("item", canary, gate, replace: true)
      try look(store, canary, "stored with \(gate)")
      #expect(try await vault.get("item") == canary)
      try look(store, canary, "released with \(gate)")
    }
    var destroyed = try await vault.column("SELECT set_key FROM enrolment_set")
    destroyed += try await vault.column("SELECT secret FROM item")
    #expect(destroyed.count == 2)
    for box in destroyed { #expect(try !files(of: store.path, holding: box).isEmpty, "the search finds what is there") }
    try await Self.enroll(.leftIndex, in: vault)
    for box in destroyed { #expect(try files(of: store.path, holding: box) == [], "what the change destroyed") }
    try await vault.put("item", canary, replace: true)
    try await vault.delete(vault.items(ItemSearch(named: ItemName(parsing: "item"))).map(\.id))
    await vault.shutdown()
    try look(store, canary, "removed and closed")
  }

  @Test("a released secret is in no memory of the vault's process after it is freed", .timeLimit(.minutes(2)))
  func memory() async {
    await onOwnThread {
      await #expect(processExitsWith: .success) {
        let store = try await ScratchStore()
        let reader = ScriptedReader()
        let vault = try store.open(reader: reader)
        _ = try await Person(passcodes: [ScratchStore.passcode]).with(vault) {
          try await vault.enroll(.rightIndex, in: $0)
        }
        let scan = try await releasing(vault)
        #expect(scan.occurrences() == 0)
      }
    }
  }

  @Test("while whorl get waits for a finger, its processes do not have the secret or leave core files; none shows it")
  func otherProcesses() async throws {
    try await TestStore.enrolled { store in
      let canary = Self.canary()
      try await store.set("canary", canary, "--access", "any-finger")
      let call = store.call("get", "canary", "presence", passcode: [TestStore.passcode])
      let waiting = try call.start()
      let socket = "\(store.folder)/reader"
      for _ in 1...500 where access(socket, F_OK) != 0 { usleep(10_000) }
      let family = [waiting.pid] + descendants(of: waiting.pid)
      #expect(family.count >= 3, "the command, its vault and its reader process")
      let secret = MemoryScan(for: SecretBytes(text: canary))
      let path = MemoryScan(for: SecretBytes(text: store.directory))
      for pid in family {
        let limits = String(decoding: try readFile("/proc/\(pid)/limits"), as: UTF8.self)
        #expect(limits.contains(#/Max core file size +0 /#), "\(pid)")
        // Only root can read the memory of a process that refuses inspection.
        if geteuid() == 0 { #expect(secret.occurrences(in: pid) == 0, "\(pid)") }
      }
      if geteuid() == 0 { #expect(path.occurrences(in: waiting.pid) > 0, "the search finds what is there") }
      for pid in try folderEntries("/proc").compactMap({ Int32($0) }) where pid != getpid() {
        for file in ["environ", "cmdline"] {
          guard let bytes = try? readFile("/proc/\(pid)/\(file)") else { continue }
          #expect(bytes.ranges(of: Array(canary.utf8)).isEmpty, "\(file) of \(pid)")
        }
      }
      waiting.signal(SIGINT)
      _ = waiting.finish { _, _ in }
    }
  }
}

private func isSame(_ item: ReleasedItem, _ canary: SharedSecret) -> Bool {
  let same = item.secret.constantTimeEquals(canary.bytes)
  return same
}

/// Stores and releases a canary, and returns the search for it.
private func releasing(_ vault: Vault) async throws -> MemoryScan {
  let canary = SharedSecret(try Random.key(48))
  let scan = MemoryScan(for: canary.bytes)
  let name = try ItemName(parsing: "canary")
  _ = try await Person().with(vault) { handle in
    try await vault.add(
      NewItem(named: name, access: AccessControl(.currentSet)), secret: canary.bytes.copy(), in: handle)
  }
  for _ in 1...3 {
    let released = try await Person().with(vault) { try await vault.read([name], reason: nil, in: $0) }
    #expect(isSame(released[0], canary))
    #expect(scan.occurrences() >= 2, "the search finds what is there")
  }
  return scan
}

extension Vault {
  fileprivate func column(_ sql: String) throws -> [[UInt8]] {
    let store = store
    return try store.read { moment in try Row.fetchAll(moment.db, sql: sql).map { $0.bytes(0) } }
  }
}
