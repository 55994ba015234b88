import Glibc
import Keys
import Primitives
import ProgramDriver
import Synchronization
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

/// Puts back every earlier copy of database, write-ahead log, state and key file, or deletes the file, in every
/// combination that leaves a current file in place.
@Suite("Restored files of an earlier store")
struct RestoreTests {
  /// The history of a store, with a copy of its files after each step.
  private struct History {
    struct Moment {
      var what: String
      var copy: String
      var failures: Int
      var delayed: Bool
      var sequence: UInt64
      var passcode: String
    }

    let store: ScratchStore
    let reader = ScriptedReader()
    var moments: [Moment] = []

    init() async throws {
      store = try await ScratchStore()
      let first = try open()
      try await enroll(.rightIndex, first)
      for (name, access) in [("bound", AccessControl.Constraint.currentSet), ("gated", .presence), ("free", .none)] {
        try await first.put(name, name, access)
      }
      try await note("made", first, ScratchStore.passcode)
      try await enroll(.leftIndex, first)
      try await note("a changed set", first, ScratchStore.passcode)
      try await Person(passcodes: [ScratchStore.passcode], newPasscode: "another").with(first) {
        try await first.changePasscode(in: $0)
      }
      try await note("a changed passcode", first, "another")
      // Another program, which continues with the log that the first one has left.
      let second = try open()
      try await wrongTouch(second)
      try await note("a wrong touch", second, "another")
      await second.emptyLog()
      for _ in 1...5 {
        _ = try? await Person(passcodes: ["wrong"]).with(second) { try await second.unlock(in: $0) }
      }
      try await note("wrong passcodes", second, "another")
      try await wrongTouch(second)
      try await note("another wrong touch", second, "another")
    }

    func open(at path: String? = nil, clock: BootClock = Self.clock(0)) throws -> Vault {
      try Vault(
        at: path ?? store.path, desk: ReaderDesk(reader, locks: ReaderLocks(runtimeFolder: store.folder)), clock: clock,
        floor: .weakForTests)
    }

    static func clock(_ hours: UInt64) -> BootClock {
      BootClock(bootID: { "this boot" }, now: { hours * 3_600_000_000_000 })
    }

    private func enroll(_ finger: Finger, _ vault: Vault) async throws {
      _ = try await Person(passcodes: [ScratchStore.passcode]).with(vault) { try await vault.enroll(finger, in: $0) }
    }

    private func wrongTouch(_ vault: Vault) async throws {
      reader.next(.noMatch, .fails(.removed))
      _ = try? await vault.get("gated")
    }

    private mutating func note(_ what: String, _ vault: Vault, _ passcode: String) async throws {
      let status = try await vault.status()
      moments.append(
        Moment(
          what: what, copy: try store.snapshot(), failures: status.failures, delayed: status.passcodeDelay > 0,
          sequence: try await vault.sequence(), passcode: passcode))
    }
  }

  /// The origin of each file: the index of a moment, or nil for deleted.
  private struct Mixture: CustomStringConvertible {
    var now: Int
    var database: Int?
    var log: Int?
    var state: Int?
    var hasKey: Bool

    var description: String {
      func name(_ moment: Int?) -> String { moment.map { $0 == now ? "now" : "\($0)" } ?? "deleted" }
      return "at \(now): database \(name(database)), log \(name(log)), state \(name(state)), key \(hasKey)"
    }
  }

  private static func mixtures(_ count: Int) -> [Mixture] {
    var all: [Mixture] = []
    for now in 1..<count {
      let choices: [Int?] = Array(0...now) + [nil]
      for database in choices {
        for log in choices {
          for state in choices {
            let untouched = database == now && log == now && state == now
            for hasKey in untouched ? [false] : [true, false] {
              all.append(Mixture(now: now, database: database, log: log, state: state, hasKey: hasKey))
            }
          }
        }
      }
    }
    return all
  }

  @Test(
    "a store with earlier files put back keeps its failures and dead items, and reports a restore until accepted"
  )
  func everyCombination() async throws {
    let history = try await History()
    let mixtures = Campaign.sample(Self.mixtures(history.moments.count), short: 150, of: "restores")
    var detected = 0
    for (number, mixture) in mixtures.enumerated() {
      let path = "\(history.store.folder)/attack-\(number)"
      try mix(mixture, history, at: path)
      if try await attack(mixture, history, at: path) { detected += 1 }
      removeFolder(path)
    }
    #expect(detected > mixtures.count / 4, "most of these are restores")
  }

  private func mix(_ mixture: Mixture, _ history: History, at path: String) throws {
    #expect(mkdirPrivate(path))
    func put(_ file: String, from moment: Int?) throws {
      guard let moment else { return }
      let source = "\(history.moments[moment].copy)/\(file)"
      if access(source, F_OK) == 0 { try writeFile("\(path)/\(file)", try readFile(source)) }
    }
    try put("vault.db", from: mixture.database)
    try put("vault.db-wal", from: mixture.log)
    try put("state", from: mixture.state)
    if mixture.hasKey { try put("device.key", from: mixture.now) }
  }

  /// Whether the restore was noticed.
  private func attack(_ mixture: Mixture, _ history: History, at path: String) async throws -> Bool {
    let now = history.moments[mixture.now]
    do {
      if !mixture.hasKey {
        #expect(throws: (any Error).self, "\(mixture)") { _ = try history.open(at: path) }
        try StoreCreation.rebuildDeviceKey(
          at: path, recoveryKey: .init(text: history.store.recoveryKey), floor: .weakForTests)
      }
      var vault = try history.open(at: path)
      let status = try await vault.status()
      let sequence = try await vault.sequence()
      // If database and state are both from an earlier moment, the whole store was restored, which cannot be detected.
      if sequence < now.sequence, let state = mixture.state, state < mixture.now { return status.restoreDetected }
      // Rebuilding the key file is a commit of its own.
      #expect(status.restoreDetected || sequence >= now.sequence, "\(mixture)")
      #expect(status.failures >= now.failures, "\(mixture)")
      await #expect(throws: VaultError.self, "\(mixture)") { try await vault.get("bound") }
      if status.restoreDetected {
        await #expect("\(mixture)") {
          try await vault.get("gated")
        } throws: { error in
          [VaultError.restoreDetected, .itemGone].contains(error as? VaultError)
        }
      }
      if now.delayed, status.restore != .recoveryKeyAndNewPasscode {
        _ = try? await guess(vault)
        #expect(try await vault.status().passcodeDelay > 0, "\(mixture)")
      }
      let passcode = try await accept(&vault, rightPasscodes(mixture, history, sequence), history, at: path)
      #expect(try await !vault.status().restoreDetected, "\(mixture)")
      #expect(try await vault.status().failures == 0, "\(mixture)")
      if mixture.state != nil {
        await #expect(throws: VaultError.self, "\(mixture)") { try await vault.get("bound") }
      }
      try await vault.put("after", "works")
      #expect(try await vault.get("after") == "works", "\(mixture)")
      // A database without its log may miss much, but its items can be read: with a finger, or with the passcode where
      // the set is mixed and refused.
      for item in try await vault.items(.everything) where item.name?.service == "gated" {
        #expect(try await vault.get("gated", by: Person(passcodes: [passcode])) == "gated", "\(mixture)")
      }
      return status.restoreDetected
    } catch let error as VaultError {
      switch error {
      case .storeNotFound: #expect(mixture.database == nil, "\(mixture)")
      // A log from another moment may not fit the database.
      case .storeDamaged: #expect(mixture.database != mixture.log, "\(mixture): \(error)")
      default: Issue.record("\(mixture): \(error)")
      }
      return false
    }
  }

  private func guess(_ vault: Vault) async throws {
    let person = Person(passcodes: ["wrong"])
    guard let restore = try await vault.detectedRestore() else {
      return try await person.with(vault) { try await vault.unlock(in: $0) }
    }
    _ = try await person.with(vault) { try await vault.acceptRestore(restore.id, in: $0) }
  }

  /// The passcodes that may accept the restore: the current one, or an older one if no current file shows that it was
  /// changed, since the database is older and the state is deleted.
  private func rightPasscodes(_ mixture: Mixture, _ history: History, _ sequence: UInt64) -> [String] {
    let now = history.moments[mixture.now]
    // Rebuilding the key file is a commit of its own.
    let found = mixture.hasKey ? sequence : sequence - 1
    guard mixture.state == nil, found < now.sequence else { return [now.passcode] }
    return Array(Set(history.moments[...mixture.now].map(\.passcode)))
  }

  /// Unlocks or accepts the restore, and returns the passcode that is then valid. First tries every other passcode of
  /// the history, which must be refused.
  private func accept(_ vault: inout Vault, _ right: [String], _ history: History, at path: String)
    async throws -> String
  {
    var hours: UInt64 = 0
    for passcode in Set(history.moments.map(\.passcode)).subtracting(right) {
      do {
        try await unlock(&vault, passcode, &hours, history, at: path)
        Issue.record("\(passcode) is taken at \(path)")
      } catch is VaultError {}
    }
    if try await vault.status().restore == .recoveryKeyAndNewPasscode {
      let (opened, restore) = (vault, try #require(try await vault.detectedRestore()))
      _ = try await Person(newPasscode: "set anew", recoveryKey: history.store.recoveryKey).with(opened) {
        try await opened.recover(accepting: restore.id, in: $0)
      }
      return "set anew"
    }
    for (tries, passcode) in right.enumerated() {
      do {
        try await unlock(&vault, passcode, &hours, history, at: path)
        return passcode
      } catch VaultError.wrongPasscode where tries < right.count - 1 {}
    }
    throw VaultError.wrongPasscode
  }

  /// Tries one passcode, after any running delay.
  private func unlock(
    _ vault: inout Vault, _ passcode: String, _ hours: inout UInt64, _ history: History, at path: String
  ) async throws {
    for attempt in 1...2 {
      hours += 2
      vault = try history.open(at: path, clock: History.clock(hours))
      let opened = vault
      do {
        if try await opened.status().restoreDetected {
          try await opened.acceptRestore(by: Person(passcodes: [passcode]))
        } else {
          try await Person(passcodes: [passcode]).with(opened) { try await opened.unlock(in: $0) }
        }
        return
      } catch VaultError.passcodeDelayed where attempt == 1 {}
    }
  }

  @Test("restored store files give whorl get status 65, show in whorl status, and need whorl unlock --accept-restore")
  func program() async throws {
    try await TestStore.enrolled { store in
      try store.snapshot("before")
      for count in 1...3 { try await store.set("more", "\(count)", "--access", "none", "--replace") }
      for file in Campaign.sample(["vault.db", "state"], short: 1, of: "restored file") {
        try writeFile("\(store.directory)/\(file)", try readFile("\(store.folder)/before/\(file)"))
        let refused = try await store.run(store.call("get", "any-finger"), [.right])
        #expect(refused.status == 65, "\(file): \(refused.diagnostics)")
        #expect(refused.output.isEmpty)
        #expect(refused.failure.contains("whorl unlock"))
        #expect(try await store.status().isTrue("restoreDetected"), "\(file)")
        let unasked = try await store.call("unlock", passcode: [TestStore.passcode]).run()
        #expect(unasked.status == 77, "\(file): \(unasked.diagnostics)")
        #expect(unasked.failure.contains("--accept-restore"))
        for listed in ["right index", "any-finger", "current-set"] {
          #expect(unasked.diagnostics.contains(listed), "\(file): \(unasked.diagnostics)")
        }
        #expect(try await store.status().isTrue("restoreDetected"), "\(file)")
        let accepting = store.call("unlock", "--accept-restore", passcode: [TestStore.passcode])
        #expect(try await accepting.run().status == 0, "\(file)")
        #expect(try await !store.status().isTrue("restoreDetected"), "\(file)")
        #expect(try await store.run(store.call("get", "any-finger"), [.right]).text == "any-finger", "\(file)")
      }
    }
  }
}

extension Vault {
  /// Writes the log into the database, like the last program that closes a store.
  fileprivate func emptyLog() { store.database.forgetOldPages() }

  /// The number of the last commit.
  fileprivate func sequence() throws(VaultError) -> UInt64 {
    let store = store
    return try store.read { moment in moment.authority.sequence }
  }
}
