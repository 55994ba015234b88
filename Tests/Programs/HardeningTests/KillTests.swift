import Glibc
import ProgramDriver
import Testing
import VaultDriver

/// `kill -9` at every system call that writes, syncs or locks. Afterwards a change must be complete or absent, counts
/// must not be lost, and the crash must not look like a restore.
@Suite("Killed in the middle of a change", .enabled(if: Strace.isUsable))
struct KillTests {
  /// Kills the call at each point of a sample, each time with the same store, and checks the result.
  private func killed(
    _ store: TestStore, _ call: Invocation, sample: Int, _ what: String,
    touches: [Touches.Touch] = [], watching: String? = nil, statusWorks: Bool = true,
    _ look: (Strace.Point, Invocation.Result) async throws -> Void
  ) async throws {
    try store.snapshot("before")
    let log = "\(store.folder)/log"
    _ = try await store.run(Strace.traced(call, log: log), touches)
    let points = try Strace.points(in: log)
    try #require(points.count > 5, "\(what): the trace shows nothing")
    let sample = Campaign.sample(points, short: sample, of: what)
    var kills = 0
    // A run may make fewer calls than the traced one and miss every point of the sample. Then try the other points.
    for (number, point) in (sample + points.filter { !sample.contains($0) }).enumerated() {
      if number >= sample.count, kills > 0 { break }
      try store.restore("before")
      let traced = try Strace.traced(call, .kill, at: point, log: log, watching: watching)
      let result = try await store.run(traced, touches)
      if result.wasKilled { kills += 1 }
      try await look(point, result)
      guard statusWorks else { continue }
      let looks = try await store.status()
      #expect(!looks.isTrue("restoreDetected"), "\(what), killed at \(point): a crash is no restore")
    }
    #expect(kills > 0, "\(what): nothing was killed")
  }

  @Test("a killed whorl get has counted at least one failure for each wrong touch that it asked for")
  func wrongFinger() async throws {
    try await TestStore.enrolled { store in
      let call = store.call("get", "any-finger")
      try await killed(store, call, sample: 5, "get", touches: [.wrong, .wrong, .wrong]) { point, result in
        #expect(result.output.isEmpty)
        let counted = try await store.status().number("failures")
        // Each touch is asked for after its charge is on the disk, and no touch matched.
        #expect(counted >= result.asked, "killed at \(point)")
        #expect(counted <= result.asked + 1, "killed at \(point)")
      }
    }
  }

  @Test("a killed whorl unlock has counted each wrong passcode that it tried")
  func wrongPasscode() async throws {
    try await TestStore.enrolled { store in
      // The fifth wrong passcode starts a delay, which the status shows.
      for _ in 1...4 { _ = try await store.call("unlock", passcode: ["wrong"]).run() }
      let call = store.call("unlock", passcode: ["wrong"])
      try await killed(store, call, sample: 2, "unlock", watching: "mmap") { point, _ in
        // Only scrypt maps a little more than 128 MiB, so such a mapping shows that a try began.
        let trace = String(decoding: try readFile("\(store.folder)/log"), as: UTF8.self)
        let tried = trace.ranges(of: "mmap(NULL, ").contains { call in
          Int(trace[call.upperBound...].prefix { $0.isNumber }) ?? 0 > 1 << 27
        }
        let delayed = try await store.status().number("passcodeDelay") > 0
        #expect(delayed || !tried, "killed at \(point)")
      }
    }
  }

  @Test("a killed whorl set --replace leaves the old secret or the new one")
  func replacedSecret() async throws {
    try await TestStore.enrolled { store in
      let call = store.call("set", "open", "--access", "none", "--replace", input: "new")
      try await killed(store, call, sample: 8, "set") { point, _ in
        let left = try await store.whorl("get", "open").text
        #expect(["open", "new"].contains(left), "killed at \(point)")
        try await store.set("open", "after", "--access", "none", "--replace")
        #expect(try await store.whorl("get", "open").text == "after", "killed at \(point)")
      }
    }
  }

  @Test("a killed whorl init leaves a complete store or none, and the next try works")
  func initialise() async throws {
    try await withFolder { folder in
      let call = Invocation(
        arguments: ["init", "--no-passcode", "--recovery-fd", "9", "--store", "\(folder)/store"],
        readsDescriptor9: true)
      let log = "\(folder)/log"
      try await Strace.traced(call, log: log).run().mustSucceed()
      let points = try Strace.points(in: log)
      for point in Campaign.sample(points, short: 5, of: "init") {
        removeFolder("\(folder)/store")
        let killed = try await Strace.traced(call, .kill, at: point).run()
        let again = try await call.run()
        if again.status == 73 {
          // Killed after the store was moved to its place: then it is complete.
          #expect(killed.wasKilled || killed.status == 0, "killed at \(point)")
        } else {
          #expect(again.status == 0, "killed at \(point): \(again.diagnostics)")
        }
        let store = TestStore(folder: folder, recoveryKey: "")
        try await store.set("a", "works", "--access", "none")
        #expect(try await store.whorl("get", "a").text == "works", "killed at \(point)")
      }
    }
  }

  @Test("exactly one of the old and the new passcode opens everything under it after whorl passcode is killed")
  func passcode() async throws {
    try await TestStore.enrolled { store in
      for name in ["bank", "door"] { try await store.set(name, name, "--access", "passcode") }
      let call = store.call("passcode", passcode: [TestStore.passcode, "battery staple"])
      try await killed(store, call, sample: 2, "passcode") { point, _ in
        var opened: [String] = []
        for passcode in [TestStore.passcode, "battery staple"] {
          let result = try await store.call("get", "presence", passcode: [passcode]).run()
          if result.text == "presence" { opened.append(passcode) }
          let stored = try await store.call("get", "bank", "door", "--json", passcode: [passcode]).run()
          #expect((stored.status == 0) == (result.text == "presence"), "killed at \(point): \(stored.diagnostics)")
        }
        #expect(opened.count == 1, "killed at \(point): \(opened) open it")
      }
    }
  }

  @Test("exactly one of the old and the new passcode opens the items under it after whorl recover is killed")
  func recover() async throws {
    try await TestStore.enrolled { store in
      try await store.set("bank", "bank", "--access", "passcode")
      var call = store.call("recover", "--recovery-fd", "4", passcode: ["battery staple"])
      call.descriptors.append(store.recoveryKey + "\n")
      try await killed(store, call, sample: 2, "recover") { point, _ in
        var opened: [String] = []
        for passcode in [TestStore.passcode, "battery staple"] {
          let stored = try await store.call("get", "bank", passcode: [passcode]).run()
          if stored.text == "bank" { opened.append(passcode) }
        }
        #expect(opened.count == 1, "killed at \(point): \(opened) open it")
      }
    }
  }

  @Test("the recovery key opens a store that lost its key file, even after whorl recover was killed")
  func recoverKeyFile() async throws {
    try await TestStore.enrolled { store in
      unlink("\(store.directory)/device.key")
      var call = store.call("recover", "--recovery-fd", "4", passcode: ["battery staple"])
      call.descriptors.append(store.recoveryKey + "\n")
      try await killed(store, call, sample: 3, "recover without the key file", statusWorks: false) { point, _ in
        let again = try await call.run()
        #expect(again.status == 0, "killed at \(point): \(again.diagnostics)")
        #expect(try await store.whorl("get", "open").text == "open", "killed at \(point)")
      }
    }
  }

  @Test("exactly one of the old and the new recovery key opens the store after whorl recover --new-key is killed")
  func newKey() async throws {
    try await TestStore.enrolled { store in
      var call = store.call(
        "recover", "--new-key", "--new-recovery-fd", "9", passcode: [TestStore.passcode])
      call.readsDescriptor9 = true
      try await killed(store, call, sample: 2, "recover --new-key") { point, result in
        let shown = String(result.descriptor9.dropLast())
        var opened = 0
        for key in [store.recoveryKey, shown] where !key.isEmpty {
          var recovering = store.call("recover", "--recovery-fd", "4", passcode: ["battery staple"])
          recovering.descriptors.append(key + "\n")
          if try await recovering.run().status == 0 { opened += 1 }
        }
        #expect(opened == 1, "killed at \(point): \(opened) of the keys open it")
      }
    }
  }

  @Test("items bound to the set are dead after a killed whorl enroll or unenroll exactly if the fingers changed")
  func changedSet() async throws {
    try await TestStore.enrolled { store in
      let call = store.call("unenroll", "right-index", "--yes", passcode: [TestStore.passcode])
      try await killed(store, call, sample: 2, "unenroll") { point, _ in
        try await checkSet(of: store, changed: { !$0.contains("right-index") }, point)
      }
      guard Campaign.isLong else { return }
      try store.restore("before")
      removeFolder("\(store.folder)/before")
      let enrolling = store.call("enroll", "left-thumb", "--yes", passcode: [TestStore.passcode])
      let thumbs = Array(repeating: Touches.Touch.thumb, count: 6)
      try await killed(store, enrolling, sample: 3, "enroll", touches: thumbs) { point, _ in
        try await checkSet(of: store, changed: { $0.contains("left-thumb") }, point)
      }
    }
  }

  private func checkSet(of store: TestStore, changed: (String) -> Bool, _ point: Strace.Point) async throws {
    let fingers = try await store.whorl("fingers", "--json")
    #expect(fingers.status == 0, "killed at \(point): \(fingers.diagnostics)")
    let bound = try await store.whorl("ls", "current-set", "--json").text
    #expect(bound.contains(changed(fingers.text) ? #""state":"dead""# : #""state":"living""#), "killed at \(point)")
    let other = try await store.whorl("ls", "any-finger", "--json").text
    #expect(other.contains(#""state":"living""#), "killed at \(point)")
  }
}

extension Invocation.Result {
  /// Whether the program was killed, or the vault that it had started.
  var wasKilled: Bool { status == 137 || diagnostics.contains("the vault ended") }
}
