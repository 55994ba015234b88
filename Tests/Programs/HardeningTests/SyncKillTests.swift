import Glibc
import ProgramDriver
import Testing
import VaultDriver

/// `kill -9` of `whorl` and git at the system calls of `whorl sync now`. The next run then does what the killed one did not.
@Suite("Killed in the middle of a sync", .enabled(if: Strace.isUsable))
struct SyncKillTests {
  /// Two stores of one circle, and the folder of its repository.
  private func pair(_ body: (_ one: TestStore, _ two: TestStore, _ remote: String) async throws -> Void) async throws {
    try await SyncMachines.with { machines in
      let (one, two) = try await machines.pair()
      try await two.whorl("sync", "now").mustSucceed()
      try await body(one, two, machines.remote)
    }
  }

  /// Removes one item and replaces another that both have.
  private func change(_ one: TestStore, knownTo two: TestStore) async throws {
    for name in ["gone", "old"] { try await one.set(name, "1", "--access", "none", "--sync") }
    try await one.whorl("sync", "now").mustSucceed()
    try await two.whorl("sync", "now").mustSucceed()
    try await one.whorl("rm", "gone", "--yes").mustSucceed()
    try await one.set("old", "2", "--access", "none", "--replace")
  }

  /// Kills a sync of `store` at points of a sample, each time with the same stores and repository.
  private func killed(
    _ store: TestStore, _ stores: [TestStore], _ remote: String, _ what: String,
    _ look: (Strace.Point) async throws -> Void
  ) async throws {
    let folders = stores.map(\.directory) + [remote]
    for folder in folders { try await copy(folder, to: "\(folder)-before") }
    let (call, log) = (store.call("sync", "now"), "\(store.folder)/log")
    try await Strace.traced(call, log: log).run().mustSucceed()
    var kills = 0
    for point in Campaign.sample(try Strace.points(in: log), short: 8, of: what) {
      for folder in folders { try await copy("\(folder)-before", to: folder) }
      if try await Strace.traced(call, .kill, at: point, log: log).run().status != 0 { kills += 1 }
      // A git that was killed in a repository leaves its lock there, and says so to whoever comes next.
      for lock in ["\(remote)/refs/heads/main.lock", "\(remote)/HEAD.lock", "\(remote)/config.lock"] { unlink(lock) }
      try await look(point)
    }
    #expect(kills > 0, "\(what): nothing was killed")
  }

  private func copy(_ folder: String, to place: String) async throws {
    try await Invocation(program: "/bin/rm", arguments: ["-rf", place]).run().mustSucceed()
    try await Invocation(program: "/bin/cp", arguments: ["-a", folder, place]).run().mustSucceed()
  }

  private func syncs(_ store: TestStore, _ point: Strace.Point) async throws {
    let run = try await store.whorl("sync", "now", "--json")
    #expect(run.status == 0, "killed at \(point): \(run.diagnostics)")
    #expect(!run.text.contains(#""lost":1"#), "killed at \(point): \(run.text)")
  }

  @Test(
    "changes a killed whorl sync now was publishing reach the other machine in the next run", .timeLimit(.minutes(30))
  )
  func publishing() async throws {
    try await pair { one, two, remote in
      try await change(one, knownTo: two)
      try await one.set("new", "3", "--access", "none", "--sync")
      try await killed(one, [one, two], remote, "publishing") { point in
        try await syncs(one, point)
        try await syncs(two, point)
        #expect(try await two.whorl("get", "gone").status == 66, "killed at \(point)")
        #expect(try await two.whorl("get", "old").text == "2", "killed at \(point)")
        #expect(try await two.whorl("get", "new").text == "3", "killed at \(point)")
      }
    }
  }

  @Test("changes a killed whorl sync now was taking are all taken by the next run", .timeLimit(.minutes(30)))
  func taking() async throws {
    try await pair { one, two, remote in
      try await change(one, knownTo: two)
      try await one.whorl("sync", "now").mustSucceed()
      try await two.set("new", "3", "--access", "none", "--sync")
      try await killed(two, [one, two], remote, "taking") { point in
        try await syncs(two, point)
        try await syncs(one, point)
        #expect(try await two.whorl("get", "gone").status == 66, "killed at \(point)")
        #expect(try await two.whorl("get", "old").text == "2", "killed at \(point)")
        #expect(try await one.whorl("get", "new").text == "3", "killed at \(point)")
      }
    }
  }
}
