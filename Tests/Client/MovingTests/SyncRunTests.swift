import Glibc
import Moving
import ProgramDriver
import SecretModel
import Synchronization
import Testing

@Suite("A run of sync")
struct SyncRunTests {
  @Test("a sync run initializes an empty remote, from which a second machine gets everything")
  func twoMachines() async throws {
    try await withRemote { folder in
      let one = try await Machine.named("one", in: folder, PretendVault(["circle/a": "1", "items/x": "secret"]))
      let report = try await one.sync()
      #expect(report.published == 3)
      #expect(one.vault.isSettled)
      let two = try await Machine.named("two", in: folder, PretendVault([:]))
      let taken = try await two.sync()
      #expect(two.vault.files == one.vault.files)
      #expect(taken.taken == 3 && taken.published == 0)
      #expect(taken.changed.contains(ItemName("items/x")))
    }
  }

  @Test("a sync run makes one call to the vault and nothing else if nothing has changed")
  func nothingNew() async throws {
    try await withRemote { folder in
      let one = try await Machine.named("one", in: folder, PretendVault(["items/x": "1"]))
      try await one.sync()
      let before = one.vault.state.withLock { ($0.statusCalls, $0.received.count) }
      let report = try await one.sync()
      let after = one.vault.state.withLock { ($0.statusCalls, $0.received.count) }
      #expect(after.0 == before.0 + 1 && after.1 == before.1)
      #expect(report.taken == 0 && report.published == 0)
      #expect(try await git("rev-list", "--count", "main", in: "\(folder)/remote") == "1")
    }
  }

  @Test(
    "a sync run has the vault store items that wait for the store, even if nothing has changed",
    arguments: SyncStatus.Waiting.Reason.allCases)
  func waiting(_ reason: SyncStatus.Waiting.Reason) async throws {
    try await withRemote { folder in
      let one = try await Machine.named("one", in: folder, PretendVault(["items/x": "1"]))
      try await one.sync()
      one.vault.state.withLock { $0.waiting = reason }
      let before = one.vault.state.withLock { $0.lastCalls }
      try await one.sync()
      // A touch is asked for by another command.
      #expect(
        one.vault.state.withLock { $0.lastCalls } == before + ([.touch, .proof, .recipients].contains(reason) ? 0 : 1))
    }
  }

  @Test("sync runs transfer changes both ways, in one commit each, without information about the machine")
  func changes() async throws {
    try await withRemote { folder in
      let one = try await Machine.named("one", in: folder, PretendVault(["circle/a": "1", "items/x": "1"]))
      let two = try await Machine.named("two", in: folder, PretendVault([:]))
      try await one.sync()
      two.vault.set("items/y", "of two")
      try await two.sync()
      one.vault.set("items/z", "of one")
      try await one.sync()
      try await two.sync()
      #expect(one.vault.files == two.vault.files)
      #expect(one.vault.files["items/y"] == "of two")
      let log = try await git("log", "--format=%an|%ae|%cn|%ce|%s|%b", "main", in: "\(folder)/remote")
      let lines = Set(log.split(separator: "\n"))
      #expect(lines == ["whorl|whorl@localhost|whorl|whorl@localhost|sync|"])
      #expect(try await git("rev-list", "--count", "main", in: "\(folder)/remote") == "3")
      #expect(try await git("log", "--format=%ad", "--date=format:%z", "-1", "main", in: "\(folder)/remote") == "+0000")
    }
  }

  @Test("a sync run passes records of members before items to the vault, in pages of limited size, and marks the last")
  func order() async throws {
    try await withRemote { folder in
      var files = ["circle/m/a": "1", "circle/m/b": "1"]
      let large = String(repeating: "x", count: 900_000)
      for number in 10..<40 { files["items/\(number)"] = large + "\(number)" }
      let one = try await Machine.named("one", in: folder, PretendVault(files, pageLength: 7))
      try await one.sync()
      let two = try await Machine.named("two", in: folder, PretendVault([:]))
      try await two.sync()
      #expect(two.vault.files == one.vault.files)
      let (calls, lastCalls) = two.vault.state.withLock { ($0.received, $0.lastCalls) }
      #expect(calls.count > 3 && calls.allSatisfy { $0.count < 13 })
      #expect(lastCalls == 1)
      let paths = calls.flatMap { $0 }
      #expect(paths.prefix(2) == ["circle/m/a", "circle/m/b"])
      #expect(paths.count == 33)
    }
  }

  @Test("sync runs of four machines at once lose nothing, whichever is first", arguments: 1...3)
  func race(round: Int) async throws {
    try await withRemote { folder in
      let machines = try await (0..<4).asyncMap { number in
        try await Machine.named("m\(number)", in: folder, PretendVault(["items/\(number)": "of \(number)"]))
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for machine in machines {
          group.addTask {
            // Five rounds may not be enough with four machines; a person or the timer repeats it.
            while true {
              do { return _ = try await machine.sync() } catch SyncRunError.contested {}
            }
          }
        }
        try await group.waitForAll()
      }
      for machine in machines { try await machine.sync() }
      for machine in machines {
        #expect(machine.vault.files == machines[0].vault.files)
        #expect(machine.vault.files.count == 5)
      }
    }
  }

  @Test("a sync run fails if the remote refuses a push, and the next takes what another machine has published since")
  func rejected() async throws {
    try await withRemote { folder in
      let other = try await Machine.named("other", in: folder, PretendVault(["items/x": "1"]))
      try await other.sync()
      let one = try await Machine.named("one", in: folder, PretendVault([:]))
      try await one.sync()
      one.vault.set("items/mine", "1")
      other.vault.set("items/theirs", "1")
      // Another git has left its lock in the remote.
      let lock = "\(folder)/remote/refs/heads/main.lock"
      try writeFile(lock, [])
      // A refusal without a new state of the remote is one of the remote's own.
      await #expect { try await one.sync() } throws: { error in
        if case SyncRunError.refused(let reason) = error { !reason.isEmpty } else { false }
      }
      #expect(!one.vault.isSettled)
      unlink(lock)
      try await other.sync()
      #expect(try await one.sync().published == 1)
      #expect(one.vault.files["items/theirs"] == "1")
      #expect(try await other.sync().taken == 1)
      #expect(one.vault.files == other.vault.files)
    }
  }

  @Test("a sync run that cannot reach the remote makes no commit, and catches up later")
  func offline() async throws {
    try await withRemote { folder in
      let one = try await Machine.named("one", in: folder, PretendVault(["items/x": "1"]))
      try await one.sync()
      one.vault.set("items/y", "2")
      #expect(rename("\(folder)/remote", "\(folder)/away") == 0)
      await #expect { try await one.sync() } throws: { error in
        if case SyncRunError.unreachable(let reason) = error { !reason.isEmpty } else { false }
      }
      #expect(!one.vault.isSettled)
      #expect(rename("\(folder)/away", "\(folder)/remote") == 0)
      #expect(try await one.sync().published == 1)
      #expect(one.vault.isSettled)
    }
  }

  @Test("a sync run notices a remote that was reset, publishes nothing, and repairs the remote on request")
  func putBack() async throws {
    try await withRemote { folder in
      let one = try await Machine.named("one", in: folder, PretendVault(["items/x": "1"]))
      try await one.sync()
      let earlier = try await git("rev-parse", "main", in: "\(folder)/remote")
      one.vault.set("items/y", "2")
      try await one.sync()
      try await git("update-ref", "refs/heads/main", earlier, in: "\(folder)/remote")
      one.vault.set("items/z", "3")
      let report = try await one.sync()
      #expect(report.isHeldBack && report.lost == 1 && report.wasRewritten && report.published == 0)
      // The next run does the same.
      #expect(try await one.sync().isHeldBack)
      #expect(try await git("rev-parse", "main", in: "\(folder)/remote") == earlier)
      let back = try await one.sync(puttingBack: true)
      #expect(!back.isHeldBack && back.published == 2)
      #expect(one.vault.isSettled)
      let two = try await Machine.named("two", in: folder, PretendVault([:]))
      try await two.sync()
      #expect(two.vault.files == one.vault.files)
    }
  }

  @Test("a sync run notices a remote that was emptied, and repairs the remote on request")
  func emptied() async throws {
    try await withRemote { folder in
      let one = try await Machine.named("one", in: folder, PretendVault(["items/x": "1"]))
      try await one.sync()
      try await git("update-ref", "-d", "refs/heads/main", in: "\(folder)/remote")
      let report = try await one.sync()
      #expect(report.isHeldBack && report.lost == 2)
      #expect(try await git("for-each-ref", in: "\(folder)/remote").isEmpty)
      #expect(!(try await one.sync(puttingBack: true).isHeldBack))
      #expect(try await git("ls-tree", "-r", "--name-only", "main", in: "\(folder)/remote") == "format\nitems/x")
    }
  }

  @Test("a sync run takes the files of a rewritten history, and reports that the history was rewritten")
  func rewritten() async throws {
    try await withRemote { folder in
      let one = try await Machine.named("one", in: folder, PretendVault(["items/x": "1"]))
      try await one.sync()
      let added = try await blob("new", in: folder)
      try await plant(["100644 blob \(added)\tanother"], over: folder, replacing: true)
      let report = try await one.sync()
      #expect(report.wasRewritten && !report.isHeldBack)
      #expect(one.vault.files["another"] == "new")
      #expect(try await !one.sync().wasRewritten)
    }
  }

  @Test("a dry sync run changes nothing, and reports what a run would do")
  func dry() async throws {
    try await withRemote { folder in
      let one = try await Machine.named("one", in: folder, PretendVault(["items/x": "1"]))
      try await one.sync()
      let two = try await Machine.named("two", in: folder, PretendVault(["items/y": "2"]))
      let report = try await two.sync(isDry: true)
      #expect(report.taken == 2 && report.published == 2)
      #expect(two.received == nil)
      #expect(two.vault.files.count == 2)
      #expect(try await git("rev-list", "--count", "main", in: "\(folder)/remote") == "1")
    }
  }

  @Test("a sync run takes only records of members while the machine asks to join, and everything as a member")
  func asking() async throws {
    try await withRemote { folder in
      let one = try await Machine.named("one", in: folder, PretendVault(["circle/a": "1", "items/x": "1"]))
      try await one.sync()
      let two = try await Machine.named("two", in: folder, PretendVault(["circle/b": "asks"]))
      two.vault.state.withLock { $0.standing = .asking }
      try await two.sync()
      #expect(two.vault.files["items/x"] == nil)
      #expect(two.vault.files["circle/a"] == "1")
      try await one.sync()
      #expect(one.vault.files["circle/b"] == "asks")
      two.vault.state.withLock { $0.standing = .member }
      try await two.sync()
      #expect(two.vault.files == one.vault.files)
      #expect(two.received != nil)
    }
  }

  @Test(
    "a sync run is refused for a store in no circle, and for a store that was removed",
    arguments: [SyncStatus.Standing.none, .removed])
  func notIn(standing: SyncStatus.Standing) async throws {
    try await withRemote { folder in
      let one = try await Machine.named("one", in: folder, PretendVault(["items/x": "1"]))
      one.vault.state.withLock { $0.standing = standing }
      await #expect(throws: SyncRunError.notInCircle(standing)) { try await one.sync() }
      #expect(try await git("for-each-ref", in: "\(folder)/remote").isEmpty)
    }
  }

  @Test("a sync run waits for another run of the store, and fails as busy if that takes too long")
  func lock() async throws {
    try await withRemote { folder in
      let one = try await Machine.named("one", in: folder, PretendVault(["items/x": "1"]))
      try await one.sync()
      let lock = "\(one.place)/lock"
      let held = open(lock, O_RDWR | O_CLOEXEC)
      #expect(flock(held, LOCK_EX) == 0)
      var run = SyncRun(one.repository, one.vault)
      run.patience = .milliseconds(300)
      let set = run
      await #expect(throws: SyncRunError.busy) { try await onOwnThread { try await set.run() } }
      one.vault.set("items/y", "2")
      let waiting = Task { try await one.sync() }
      // A run opens the lock, and then tries to get it again and again.
      for _ in 1...500 where openings(of: lock) < 2 { try await Task.sleep(for: .milliseconds(10)) }
      #expect(openings(of: lock) == 2)
      close(held)
      #expect(try await waiting.value.published == 1)
    }
  }
}

/// How many descriptors of this process have a file open.
private func openings(of path: String) -> Int {
  let names = (try? folderEntries("/proc/self/fd")) ?? []
  return names.count { name in
    var target = [CChar](repeating: 0, count: 4_096)
    let count = readlink("/proc/self/fd/\(name)", &target, target.count)
    return String(decoding: target.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self) == path
  }
}

extension Sequence where Element: Sendable {
  func asyncMap<Value>(_ body: (Element) async throws -> Value) async rethrows -> [Value] {
    var values: [Value] = []
    for element in self { values.append(try await body(element)) }
    return values
  }
}
