import Glibc
import Primitives
import SecretModel
import Synchronization
import Testing
import VaultDriver

@testable import VaultHost

@Suite("The log of a store in the service")
struct StoreLogTests {
  private let folder: String

  init() throws {
    folder = try RunningService.makeFolder()
    // A folder without a database has no store and gets no log.
    try RunningService.write("", to: folder + "/vault.db")
  }

  private func entry(_ request: AuditEntry.Request, at time: Int64 = 1_000_000, asks: Bool = false) -> AuditEntry {
    AuditEntry(
      time: time, program: "mail", process: 7, behalf: asks ? "/usr/bin/git" : nil, request: request,
      items: [ItemID(bytes: [0xAB, 1])],
      prompts: asks ? [.touch, .passcode] : [], wrongPasscodes: 2, unmatchedTouches: 3, isSetChanged: true,
      outcome: .failed(.cancelled))
  }

  private func log() -> StoreLog { StoreLog(of: 1000, in: folder, on: BackgroundThread()) { _, _ in } }

  @Test("a store's log keeps every field, numbers the entries, and continues after a restart")
  func kept() async throws {
    let first = log()
    first.record(entry(.read, asks: true))
    var bare = AuditEntry(time: 5, program: nil, process: nil, request: .lock, outcome: .done)
    first.record(bare)
    #expect(try await first.entries(AuditSearch()).map(\.number) == [1, 2])
    let second = log()
    second.record(entry(.delete))
    var expected = [entry(.read, asks: true), bare, entry(.delete)]
    for index in expected.indices { expected[index].number = index + 1 }
    #expect(try await second.entries(AuditSearch()) == expected)
    bare.number = 2
    var search = AuditSearch()
    search.after = 1
    search.last = 1
    #expect(try await second.entries(search).map(\.number) == [3])
    search.last = 1_000
    #expect(try await second.entries(search).map(\.number) == [2, 3])
    search.since = 6
    #expect(try await second.entries(search).map(\.number) == [3])
    // The latest entry that matches the search, however many others are later.
    search = AuditSearch()
    search.requests = [.read, .unlock]
    search.last = 1
    #expect(try await second.entries(search).map(\.number) == [1])
    try ScratchStore.run("/bin/rm", ["-rf", folder])
  }

  @Test("a store's log limits entries without a prompt per minute, counts the omitted ones, and keeps all others")
  func omitted() async throws {
    let log = log()
    for _ in 1...StoreLog.unaskedLimit + 30 { log.record(entry(.read)) }
    log.record(entry(.unlock, asks: true))
    log.record(entry(.read))
    log.record(entry(.read, at: 1_000_060))
    let entries = try await log.entries(AuditSearch())
    #expect(entries.count == StoreLog.unaskedLimit + 2)
    #expect(entries.map(\.omitted).suffix(3) == [0, 30, 1])
    try ScratchStore.run("/bin/rm", ["-rf", folder])
  }

  @Test("a store's log takes at most two files, and keeps the newest entries")
  func bounded() throws {
    let file = LogFile(in: folder, limit: 4_096)
    for number in 1...200 {
      var each = entry(.read)
      each.number = number
      file.append([each])
    }
    let kept = file.entries().map(\.number)
    #expect(kept.last == 200)
    #expect(kept.count < 100 && kept == Array((201 - kept.count)...200))
    for name in ["log", "log.old"] {
      #expect(try ScratchStore.contents(of: "\(folder)/\(name)").count <= 4_096)
    }
    try ScratchStore.run("/bin/rm", ["-rf", folder])
  }

  @Test("a store's log skips truncated and replaced lines, and follows no link")
  func damaged() throws {
    let file = LogFile(in: folder)
    file.append([entry(.read), entry(.add)])
    let path = folder + "/log"
    truncate(path, off_t(try ScratchStore.contents(of: path).count - 3))
    #expect(file.entries().map(\.request) == [.read])
    try RunningService.write("\u{FF}\u{FF}\u{FF}\u{FF}nonsense", to: path)
    #expect(file.entries().isEmpty)
    unlink(path)
    try RunningService.write("mine", to: folder + "/other")
    symlink(folder + "/other", path)
    file.append([entry(.read)])
    #expect(try ScratchStore.contents(of: folder + "/other").count == 4)
    #expect(file.entries().isEmpty)
    try ScratchStore.run("/bin/rm", ["-rf", folder])
  }

  @Test("a store's log writes an entry to the journal as fields, with an id for each kind of request")
  func fields() {
    var read = entry(.read, asks: true)
    read.omitted = 4
    let fields = JournalEntry(read, of: 1000).fields
    #expect(
      fields.filter { !$0.hasPrefix("MESSAGE_ID=") } == [
        "MESSAGE=read by mail for /usr/bin/git of user 1000: Cancelled", "PRIORITY=5", "WHORL_REQUEST=read",
        "WHORL_UID=1000",
        "WHORL_OUTCOME=Cancelled", "WHORL_PROGRAM=mail", "WHORL_PID=7", "WHORL_BEHALF=/usr/bin/git", "WHORL_ITEM=ab01",
        "WHORL_PROMPT=touch",
        "WHORL_PROMPT=passcode", "WHORL_WRONG_PASSCODES=2", "WHORL_UNMATCHED_TOUCHES=3", "WHORL_SET_CHANGED=1",
        "WHORL_OMITTED=4",
      ])
    let ids = Set(AuditEntry.Request.allCases.map { JournalEntry(entry($0), of: 1).fields[1] })
    #expect(ids.count == AuditEntry.Request.allCases.count)
    #expect(ids.allSatisfy { $0.utf8.count == "MESSAGE_ID=".utf8.count + 32 })
  }
}

@Suite("The log of the system service")
struct ServiceLogTests {
  @Test("the service's log shows each user their own requests, and the journal all, without secrets and attributes")
  func users() async throws {
    let others = Mutex(false)
    let journal = Mutex<[(AuditEntry, UInt32)]>([])
    let service = try RunningService(
      callers: { caller in
        var changed = caller
        if others.withLock({ $0 }) { changed.user += 1 }
        return changed
      }, journal: { entry, user in journal.withLock { $0.append((entry, user)) } })
    try await service.makeStore()
    let alice = try service.connect()
    let vault = try await alice.open(.own)
    let item = try await vault.add(note, secret: SecretBytes(text: "gold"), replacing: false, .nobody)
    _ = try await vault.secrets(.ids([item.id]), .nobody).count
    others.withLock { $0 = true }
    try await service.makeStore()
    let bob = try service.connect()
    let his = try await bob.open(.own)
    await #expect(throws: VaultError.itemGone) { _ = try await his.secrets(.ids([item.id]), .nobody) }
    let entries = try await vault.log(AuditSearch())
    #expect(entries.map(\.request) == [.makeStore, .add, .read])
    #expect(entries.map(\.items) == [[], [item.id], [item.id]])
    #expect(entries.allSatisfy { $0.process == Int(getpid()) && $0.program?.isEmpty == false })
    let his2 = try await his.log(AuditSearch())
    #expect(his2.map(\.request) == [.makeStore, .read])
    #expect(his2.last?.outcome == .failed(.itemGone))
    let sent = journal.withLock { $0 }
    #expect(sent.map(\.0.request) == [.makeStore, .add, .read, .makeStore, .read])
    #expect(sent.map(\.1) == [0, 0, 0, 1, 1].map { geteuid() + $0 })
    let text = sent.flatMap { JournalEntry($0.0, of: $0.1).fields }.joined(separator: "\n")
    for word in ["gold", "note", RunningService.passcode] { #expect(!text.contains(word)) }
    var search = AuditSearch()
    search.last = AuditSearch.limit + 1
    await #expect {
      _ = try await vault.log(search)
    } throws: {
      if case .invalidRequest = $0 as? VaultError { true } else { false }
    }
    await alice.close()
    await bob.close()
    try await service.end()
  }

  @Test("the service's log has an entry for a store that is created or refused, and for a refused new key file")
  func whole() async throws {
    let journal = Mutex<[AuditEntry]>([])
    let allows = Mutex(false)
    let service = try RunningService(
      journal: { entry, _ in journal.withLock { $0.append(entry) } },
      authorizeOwner: { _, _ throws(VaultError) in
        guard allows.withLock({ $0 }) else { throw .notAuthorized(.denied, action: "org.whorl.own") }
      })
    await #expect(throws: VaultError.notAuthorized(.denied, action: "org.whorl.own")) { try await service.makeStore() }
    allows.withLock { $0 = true }
    try await service.makeStore()
    let connection = try service.connect()
    // A key that cannot be one is refused before anybody is asked.
    await #expect(throws: VaultError.malformedRecoveryKey) {
      try await connection.rebuildDeviceKey(at: .own, recoveryKey: SecretBytes(text: "of no store"))
    }
    let entries = try await connection.open(.own).log(AuditSearch())
    #expect(entries.map(\.request) == [.makeStore, .rebuildDeviceKey])
    #expect(entries.map(\.outcome) == [.done, .failed(.malformedRecoveryKey)])
    #expect(
      journal.withLock { $0.map(\.outcome) } == [.failed(.notAuthorized), .done, .failed(.malformedRecoveryKey)],
      "where there is no store yet, the journal alone has it")
    await connection.close()
    try await service.end()
  }

  @Test("the service's log has an entry for a new store that cannot be kept")
  func unkept() async throws {
    let journal = Mutex<[AuditEntry]>([])
    let service = try RunningService(journal: { entry, _ in journal.withLock { $0.append(entry) } })
    let connection = try service.connect()
    let draft = try await connection.create(.own, passcode: SecretBytes(text: RunningService.passcode))
    // Another file takes its place meanwhile.
    let place = "\(service.stores)/\(geteuid())-user\(geteuid())"
    try #require(mkdir(place, 0o700) == 0)
    try RunningService.write("", to: place + "/other")
    await #expect {
      try await connection.keep(draft.id)
    } throws: {
      if case .storeExists = $0 as? VaultError { true } else { false }
    }
    await connection.close()
    try await service.end()
    #expect(journal.withLock { $0.map(\.request) } == [.makeStore])
    #expect(journal.withLock { $0.map(\.outcome) } == [.failed(.storeExists)])
  }
}
