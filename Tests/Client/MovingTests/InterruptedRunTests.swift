import Glibc
import Moving
import ProgramDriver
import SecretModel
import Synchronization
import Testing

@Suite("A run that is interrupted")
struct InterruptedRunTests {
  @Test("a sync run interrupted at a vault call loses nothing", arguments: ["status", "receive", "files"], 1...4)
  func calls(name: String, count: Int) async throws {
    try await withRemote { folder in
      let other = try await Machine.named("other", in: folder, PretendVault(["items/x": "1"]))
      try await other.sync()
      let left = Mutex(count)
      let vault = PretendVault(["items/y": "2", "items/z": "3"], pageLength: 1) { (call) throws(VaultError) in
        guard call == name else { return }
        let isTime = left.withLock { left in
          left -= 1
          return left == 0
        }
        if isTime { throw .serviceUnavailable("for a test") }
      }
      let one = try await Machine.named("one", in: folder, vault)
      for _ in 1...2 {
        do { try await one.sync() } catch SyncRunError.vault {}
      }
      try await one.sync()
      try await other.sync()
      #expect(one.vault.files == other.vault.files)
      #expect(one.vault.files.count == 4)
      #expect(one.vault.isSettled)
    }
  }

  @Test("a sync run interrupted between its push and the report to the vault publishes nothing twice")
  func afterPush() async throws {
    try await withRemote { folder in
      let isFailing = Mutex(true)
      let vault = PretendVault(["items/y": "2"]) { (call) throws(VaultError) in
        if call == "receive", isFailing.withLock({ $0 }) { throw .serviceUnavailable("for a test") }
      }
      let one = try await Machine.named("one", in: folder, vault)
      await #expect(throws: SyncRunError.self) { try await one.sync() }
      let pushed = try await git("rev-parse", "main", in: "\(folder)/remote")
      isFailing.withLock { $0 = false }
      #expect(try await one.sync().published == 0)
      #expect(one.vault.isSettled)
      #expect(try await git("rev-parse", "main", in: "\(folder)/remote") == pushed)
    }
  }

  @Test("a sync run succeeds after a loss of power, in a new private repository if locks or empty refs block git")
  func damage() async throws {
    try await withRemote { folder in
      let one = try await Machine.named("one", in: folder, PretendVault(["items/x": "1"]))
      let other = try await Machine.named("other", in: folder, PretendVault([:]))
      try await one.sync()
      let repository = "\(one.place)/repository"
      // What is left empty, and whether git can do nothing with the repository then.
      let wounds = [
        ("refs/whorl/received.lock", true), ("refs/whorl/made.lock", true), ("refs/whorl/received", true),
        ("refs/whorl/made", true), ("shallow.lock", false), ("HEAD.lock", false), ("objects/pack", false),
      ]
      for (number, (wound, blocksGit)) in wounds.enumerated() {
        try writeFile("\(repository)/mark", [])
        let isFolder = wound == "objects/pack"
        let files = try isFolder ? folderEntries("\(repository)/\(wound)").map { "\(wound)/\($0)" } : [wound]
        #expect(!files.isEmpty)
        for file in files {
          chmod("\(repository)/\(file)", 0o644)
          try writeFile("\(repository)/\(file)", [])
        }
        one.vault.set("items/\(number)", "1")
        try await one.sync()
        #expect(one.vault.isSettled, "\(wound)")
        // A new repository has no mark.
        if blocksGit { #expect(access("\(repository)/mark", F_OK) != 0, "\(wound)") }
        try await other.sync()
        #expect(other.vault.files == one.vault.files, "\(wound)")
      }
    }
  }

  @Test("a sync run without a URL after a loss of power asks for the remote, which can then be named despite a lock")
  func lostConfiguration() async throws {
    try await withRemote { folder in
      let one = try await Machine.named("one", in: folder, PretendVault(["items/x": "1"]))
      try await one.sync()
      for lock in [nil, "\(one.place)/repository/config.lock"] {
        try writeFile("\(one.place)/repository/config", [])
        if let lock { try writeFile(lock, []) }
        await #expect(throws: SyncRunError.noRemote) { try await one.sync() }
        try await onOwnThread { try await one.repository.change(to: SyncRemote("\(folder)/remote", in: "/")) }
        one.vault.set("items/y", lock ?? "")
        #expect(try await one.sync().published == 1)
        #expect(one.vault.isSettled)
      }
    }
  }

  @Test("a sync run goes on with the earlier private repository if its replacement was interrupted")
  func halfReplaced() async throws {
    try await withRemote { folder in
      let one = try await Machine.named("one", in: folder, PretendVault(["items/x": "1"]))
      try await one.sync()
      #expect(rename("\(one.place)/repository", "\(one.place)/earlier") == 0)
      one.vault.set("items/y", "2")
      #expect(try await one.sync().published == 1)
      #expect(one.vault.isSettled && access("\(one.place)/earlier", F_OK) != 0)
    }
  }

  @Test("a sync run takes everything again if the private repository lost its reference to the taken state")
  func lostRef() async throws {
    try await withRemote { folder in
      let one = try await Machine.named("one", in: folder, PretendVault(["items/x": "1"]))
      try await one.sync()
      unlink("\(one.place)/repository/refs/whorl/received")
      let report = try await one.sync()
      #expect(report.taken == 2 && report.published == 0 && !report.wasRewritten)
      // Packed references count as well.
      try await git("pack-refs", "--all", in: "\(one.place)/repository")
      #expect(one.received == nil)
      #expect(try await one.sync().taken == 0)
    }
  }
}
