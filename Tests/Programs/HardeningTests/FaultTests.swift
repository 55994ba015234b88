import Glibc
import ProgramDriver
import Testing
import VaultDriver

/// A disk that is full, broken or read-only, at every call that writes or syncs. The store must have the old state or
/// the new one, the command must print one line and release nothing, and everything must work when the disk does.
@Suite("With a failing disk")
struct FaultTests {

  private struct Attempt: Sendable, CustomStringConvertible {
    var point: Strace.Point
    var error: String
    var lasting: Bool

    var description: String { "\(error)\(lasting ? " from" : " at") \(point)" }
    var fault: Strace.Fault { .error(error, lasting: lasting) }
  }

  private func attempts(_ call: Invocation, _ log: String, sample: Int, _ what: String) throws -> [Attempt] {
    let all = try Strace.points(in: log).flatMap { point in
      ["ENOSPC", "EIO"].flatMap { error in
        [false, true].map { Attempt(point: point, error: error, lasting: $0) }
      }
    }
    try #require(all.count > 20, "\(what): the trace shows nothing")
    return Campaign.sample(all, short: sample, of: what)
  }

  /// Expects success, or one line and a status that say what failed.
  ///
  /// - Parameter done: a line that may come before it, and says what was done before something else failed.
  private func expectDefinite(
    _ result: Invocation.Result, _ attempt: Attempt, prompts: Bool = false, after done: String? = nil
  ) {
    guard result.status != 0 else { return }
    #expect(result.status == 74, "\(attempt): \(result.diagnostics)")
    let lines = result.diagnostics.split(separator: "\n").drop { String($0) == done }
    if !prompts { #expect(lines.count == 1, "\(attempt): \(result.diagnostics)") }
    #expect(lines.last?.hasPrefix("whorl: ") == true, "\(attempt): \(result.diagnostics)")
  }

  @Test("whorl set --replace on a failing disk leaves the old or the new secret", .enabled(if: Strace.isUsable))
  func set() async throws {
    try await TestStore.enrolled { store in
      try store.snapshot("before")
      let call = store.call("set", "open", "--access", "none", "--replace", input: "new")
      let log = "\(store.folder)/log"
      try await Strace.traced(call, log: log).run().mustSucceed()
      for attempt in try attempts(call, log, sample: 10, "faults of set") {
        try store.restore("before")
        let result = try await Strace.traced(call, attempt.fault, at: attempt.point).run()
        expectDefinite(result, attempt)
        let left = try await store.whorl("get", "open").text
        #expect(result.status == 0 ? left == "new" : ["open", "new"].contains(left), "\(attempt)")
        #expect(try await !store.status().isTrue("restoreDetected"), "\(attempt)")
        try await store.set("open", "after", "--access", "none", "--replace")
        #expect(try await store.whorl("get", "open").text == "after", "\(attempt)")
      }
    }
  }

  @Test(
    "whorl get on a failing disk releases the whole secret for the right finger or fails, and counts wrong touches",
    .enabled(if: Strace.isUsable))
  func touch() async throws {
    try await TestStore.enrolled { store in
      try store.snapshot("before")
      let call = store.call("get", "any-finger")
      let log = "\(store.folder)/log"
      try await store.run(Strace.traced(call, log: log), [.wrong, .right]).mustSucceed()
      for attempt in try attempts(call, log, sample: 5, "faults of get") {
        let traced = try Strace.traced(call, attempt.fault, at: attempt.point)
        try store.restore("before")
        let matched = try await store.run(traced, [.right])
        expectDefinite(matched, attempt, prompts: true)
        #expect(matched.text == (matched.status == 0 ? "any-finger" : ""), "\(attempt)")

        try store.restore("before")
        let result = try await store.run(traced, [.wrong, .wrong, .wrong])
        #expect(result.output.isEmpty, "\(attempt)")
        if result.status != 77 { expectDefinite(result, attempt, prompts: true) }
        #expect(result.status != 0, "\(attempt): a wrong finger")
        #expect(try await store.status().number("failures") >= result.asked, "\(attempt)")
        #expect(try await !store.status().isTrue("restoreDetected"), "\(attempt)")
        let right = try await store.run(call, [.right])
        #expect(right.text == "any-finger", "\(attempt): \(right.diagnostics)")
      }
    }
  }

  @Test("a passcode change on a failing disk leaves the old or the new passcode", .enabled(if: Strace.isUsable))
  func passcode() async throws {
    try await TestStore.enrolled { store in
      try store.snapshot("before")
      let call = store.call("passcode", passcode: [TestStore.passcode, "battery staple"])
      let log = "\(store.folder)/log"
      try await Strace.traced(call, log: log).run().mustSucceed()
      for attempt in try attempts(call, log, sample: 2, "faults of passcode") {
        try store.restore("before")
        let result = try await Strace.traced(call, attempt.fault, at: attempt.point).run()
        let done = "The new passcode is set."
        expectDefinite(result, attempt, after: done)
        var opened: [String] = []
        for passcode in [TestStore.passcode, "battery staple"] {
          let got = try await store.call("get", "presence", passcode: [passcode]).run()
          if got.text == "presence" { opened.append(passcode) }
        }
        #expect(opened.count == 1, "\(attempt): \(opened) open it")
        // The change can be done, and the note about it for logins fail.
        if result.diagnostics.contains(done) { #expect(opened == ["battery staple"], "\(attempt)") }
      }
    }
  }

  @Test("whorl init on a failing disk makes a complete store or none", .enabled(if: Strace.isUsable))
  func initialise() async throws {
    try await withFolder { folder in
      let call = Invocation(
        arguments: ["init", "--no-passcode", "--recovery-fd", "9", "--store", "\(folder)/store"],
        readsDescriptor9: true)
      let log = "\(folder)/log"
      try await Strace.traced(call, log: log).run().mustSucceed()
      for attempt in try attempts(call, log, sample: 6, "faults of init") {
        removeFolder("\(folder)/store")
        let result = try await Strace.traced(call, attempt.fault, at: attempt.point).run()
        expectDefinite(result, attempt)
        let again = try await call.run()
        if result.status == 0 {
          #expect(again.status == 73, "\(attempt)")
        } else {
          #expect(again.status == 0 || again.status == 73, "\(attempt): \(again.diagnostics)")
        }
        let store = TestStore(folder: folder, recoveryKey: "")
        try await store.set("a", "works", "--access", "none")
        #expect(try await store.whorl("get", "a").text == "works", "\(attempt)")
      }
    }
  }

  @Test(
    "whorl init where files cannot be locked says so, shows no recovery key and leaves no folder",
    .enabled(if: Strace.isUsable))
  func withoutLocks() async throws {
    try await withFolder { folder in
      let call = Invocation(
        arguments: ["init", "--no-passcode", "--recovery-fd", "9", "--store", "\(folder)/store"],
        readsDescriptor9: true)
      let point = Strace.Point(call: "flock", number: 1)
      let result = try await Strace.traced(call, .error("EIO", lasting: true), at: point).run()
      #expect(result.status == 74, "\(result.diagnostics)")
      #expect(result.diagnostics.hasPrefix("whorl: init: cannot lock \(folder)/store"), "\(result.diagnostics)")
      #expect(result.output.isEmpty && result.descriptor9.isEmpty)
      #expect(rmdir(folder) == 0, "something is left beside the place")
    }
  }

  @Test("whorl set and get under a file size limit succeed or name the disk in one line, and the store stays usable")
  func fileSizeLimit() async throws {
    try await TestStore.enrolled { store in
      for limit in Campaign.isLong ? Array(stride(from: 0, through: 80_000, by: 1_024)) : [0, 4_200, 40_000] {
        let set = try await limited(store.call("set", "large", "--access", "none", "--replace", input: "x"), limit)
        expectRoomOrReason(set, "\(limit)")
        let get = try await limited(store.call("get", "open"), limit)
        expectRoomOrReason(get, "\(limit)")
        #expect(get.text == (get.status == 0 ? "open" : ""), "\(limit)")
        if limit == 0 { #expect(set.status == 74, "nothing can be written") }
        // Reading writes only the index of SQLite's log, which has 32 KiB.
        if limit >= 32_768 { #expect(get.status == 0, "\(limit): \(get.diagnostics)") }
        try await store.set("large", "fits", "--access", "none", "--replace")
        #expect(try await !store.status().isTrue("restoreDetected"), "\(limit)")
      }
    }
  }

  private func expectRoomOrReason(_ result: Invocation.Result, _ limit: String) {
    guard result.status != 0 else { return }
    #expect(result.status == 74, "\(limit): \(result.diagnostics)")
    #expect(result.diagnostics.split(separator: "\n").count == 1, "\(limit): \(result.diagnostics)")
    #expect(result.failure.contains("the disk's space"), "\(limit): \(result.diagnostics)")
  }

  private func limited(_ call: Invocation, _ bytes: Int) async throws -> Invocation.Result {
    var limited = call
    limited.arguments = ["--fsize=\(bytes)", try Programs.path(call.program)] + call.arguments
    limited.program = "/usr/bin/prlimit"
    return try await limited.run()
  }

  @Test(
    "a read-only store releases nothing that needs a failure count, and says so in one line",
    .enabled("mounting needs a root of one's own, and this is a changed root") { try await canMakeReadOnly() })
  func readOnly() async throws {
    try await TestStore.enrolled { store in
      for words in [["get", "any-finger"], ["set", "new", "--access", "none"], ["rm", "open"]] {
        let call = Invocation(arguments: store.arguments(words) + store.reader, input: [1])
        let result = try await store.run(readOnly(call, store), [.right])
        #expect(result.output.isEmpty, "\(words)")
        #expect(result.status == 74, "\(words): \(result.diagnostics)")
        #expect(result.diagnostics.split(separator: "\n").count == 1, "\(words): \(result.diagnostics)")
        // Where only the permission is missing, the line has the system's or SQLite's words.
        let reason = geteuid() == 0 ? "the store is on a read-only file system" : "who may read and write there"
        #expect(result.failure.contains(reason), "\(words): \(result.diagnostics)")
      }
      // Items that need no count can be read on a read-only file system, which an ordinary user cannot mount here.
      for (words, text) in [
        (["get", "open"], "open"), (["ls", "--json"], #""service":"open""#), (["status"], "store "),
      ] {
        guard geteuid() == 0 else { break }
        let call = Invocation(arguments: store.arguments(words) + store.reader)
        let result = try await readOnly(call, store).run()
        #expect(result.status == 0 && result.text.contains(text), "\(words): \(result.diagnostics)")
      }
      #expect(try await !store.status().isTrue("restoreDetected"))
      let get = try await store.run(store.call("get", "any-finger"), [.right])
      #expect(get.text == "any-finger")
      // A log with changes cannot be read there, so the store is refused.
      guard geteuid() == 0 else { return }
      try writeFile("\(store.directory)/vault.db-wal", [1])
      let unfinished = try await readOnly(Invocation(arguments: store.arguments(["ls"])), store).run()
      #expect(unfinished.status == 74 && unfinished.output.isEmpty)
      #expect(unfinished.failure.contains("with changes that no program has finished"), "\(unfinished.diagnostics)")
    }
  }

  /// Whether the store can be made read-only. Root ignores permissions, so it needs a read-only mount, which it cannot
  /// make in a changed root.
  private static func canMakeReadOnly() async throws -> Bool {
    guard geteuid() == 0 else { return true }
    return try await Invocation(program: "/usr/bin/unshare", arguments: ["-m", "/bin/true"]).run().status == 0
  }

  /// The call with the store's folder mounted read-only; without the rights for that, with the folder's write
  /// permission removed.
  private func readOnly(_ call: Invocation, _ store: TestStore) throws -> Invocation {
    let whorl = ([try Programs.path(call.program)] + call.arguments).map { "'\($0)'" }.joined(separator: " ")
    let path = store.directory
    var mounted = call
    if geteuid() == 0 {
      mounted.program = "/usr/bin/unshare"
      mounted.arguments = [
        "-m", "/bin/sh", "-c",
        "mount --bind \(path) \(path) && mount -o remount,ro,bind \(path) && exec \(whorl)",
      ]
    } else {
      mounted.program = "/bin/sh"
      mounted.arguments = ["-c", "chmod -R a-w \(path); \(whorl); status=$?; chmod -R u+w \(path); exit $status"]
    }
    return mounted
  }
}
