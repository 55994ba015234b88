import Glibc
import ProgramDriver
import Testing
import VaultDriver

/// `kill -9` during commands that replace or add many items.
@Suite("Killed in the middle of a restore or an import", .enabled(if: Strace.isUsable))
struct MovingKillTests {
  private func names(_ store: TestStore) async throws -> [String] {
    // A line of `ls` begins with the name.
    try await store.whorl("ls").text.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
  }

  /// Kills the call at points of a sample, each time with the same store, and checks what is left.
  private func killed(
    _ store: TestStore, _ call: Invocation, sample: Int, _ what: String, _ look: (Strace.Point) async throws -> Void
  ) async throws {
    try store.snapshot("before")
    let log = "\(store.folder)/log"
    try await Strace.traced(call, log: log).run().mustSucceed()
    var kills = 0
    // An import writes thousands of pages, and each try derives keys for seconds.
    for point in Campaign.sample(try Strace.points(in: log), short: sample, long: 40, of: what) {
      try store.restore("before")
      // Whichever of the processes is killed, the command fails.
      if try await Strace.traced(call, .kill, at: point, log: log).run().status != 0 { kills += 1 }
      let status = try await store.status()
      #expect(!status.isTrue("restoreDetected"), "\(what), killed at \(point): a crash is no restore")
      try await look(point)
    }
    #expect(kills > 0, "\(what): nothing was killed")
  }

  @Test("a killed whorl restore leaves all the store's own items or all the copy's")
  func restore() async throws {
    try await TestStore.with { store in
      for name in ["one", "two"] { try await store.set(name, "of \(name)", "--access", "none") }
      let copy = "\(store.folder)/copy"
      try await store.whorl("backup", copy).mustSucceed()
      for name in ["one", "two"] { try await store.whorl("rm", name).mustSucceed() }
      try await store.set("three", "of three", "--access", "none")
      let call = store.call("restore", copy, "--yes", passcode: [TestStore.passcode])
      try await killed(store, call, sample: 6, "restore") { point in
        let left = try await names(store)
        #expect(left == ["three"] || left == ["one", "two"], "killed at \(point): \(left)")
        for name in left { #expect(try await store.whorl("get", name).text == "of \(name)") }
        try await call.run().mustSucceed()
        #expect(try await names(store) == ["one", "two"], "killed at \(point)")
      }
    }
  }

  @Test("a killed whorl backup leaves a complete copy or none")
  func backup() async throws {
    try await TestStore.with { store in
      try await store.set("one", "of one", "--access", "none")
      let copy = "\(store.folder)/copy"
      let call = store.call("backup", copy)
      let log = "\(store.folder)/log"
      try await Strace.traced(call, log: log).run().mustSucceed()
      for point in Campaign.sample(try Strace.points(in: log), short: 5, of: "backup") {
        removeFolder(copy)
        _ = try await Strace.traced(call, .kill, at: point, log: log).run()
        if access(copy, F_OK) == 0 {
          let restored = try await store.unlocked("restore", copy, "--yes")
          #expect(restored.status == 0, "killed at \(point): \(restored.diagnostics)")
        } else {
          try await call.run().mustSucceed()
        }
        #expect(try await store.whorl("get", "one").text == "of one", "killed at \(point)")
      }
    }
  }

  @Test("a killed whorl import leaves only complete items, and a second import creates no duplicates")
  func importing() async throws {
    let count = 300
    // Longer secrets than fit into one transaction.
    let secret = String(repeating: "x", count: 10_000)
    try await TestStore.withoutPasscode { source in
      let csv = "title,username,password\n" + (1...count).map { "item \($0),me,\(secret) \($0)\n" }.joined()
      try writeFile("\(source.folder)/items.csv", Array(csv.utf8))
      try await source.whorl("import", "--from", "csv", "\(source.folder)/items.csv", "--yes", "--access", "none")
        .mustSucceed()
      let file = "\(source.folder)/moving.age"
      func call(_ words: [String], _ store: TestStore) -> Invocation {
        Invocation(
          arguments: store.arguments(words + ["--passphrase-fd", "3"]), descriptors: ["a long passphrase\n"])
      }
      try await call(["export", file], source).run().mustSucceed()
      try await TestStore.withoutPasscode { store in
        let importing = call(["import", file, "--yes"], store)
        try await killed(store, importing, sample: 5, "import") { point in
          let before = try await names(store)
          // Transactions of 2 MiB.
          #expect([0, (2 << 20) / 10_030, count].contains { abs($0 - before.count) < 5 }, "\(point): \(before.count)")
          if let last = before.last {
            let number = last.dropFirst("item ".count).prefix { $0.isNumber }
            #expect(try await store.whorl("get", last).text == "\(secret) \(number)", "killed at \(point)")
          }
          try await importing.run().mustSucceed()
          #expect(try await names(store).count == count, "killed at \(point)")
        }
      }
    }
  }
}
