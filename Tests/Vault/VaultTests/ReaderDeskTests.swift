import Fingerprint
import Glibc
import ProgramDriver
import SecureMemory
import Synchronization
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("The desk that gives a reader to one request at a time")
struct ReaderDeskTests {
  private let store: ScratchStore
  private let clock = StoppableClock()
  private let desk: ReaderDesk

  init() async throws {
    store = try await ScratchStore()
    desk = ReaderDesk(
      ScriptedReader(), locks: ReaderLocks(runtimeFolder: store.folder), outsideTime: .seconds(60),
      clock: { [clock] in clock.now })
  }

  /// The clock of the desk, which a test can stop, so that a busy machine does not end a cool-down.
  private final class StoppableClock: Sendable {
    private let stoppedAt = Mutex<UInt64?>(nil)

    var now: UInt64 { stoppedAt.withLock { $0 } ?? ScanClock.now() }
    func stop() { stoppedAt.withLock { $0 = ScanClock.now() } }
  }

  /// A claim for a program with this name, in its own store.
  private func claim(
    _ program: String, user: UInt32 = 1000, process: Int32? = nil, call: ContextCall? = nil,
    told: @escaping @Sendable (RequestAhead) -> Void = { _ in }
  ) async throws(VaultError) -> ReaderClaim {
    let item = ItemName(unchecked: "item of \(program)", account: "")
    return try await desk.claim(
      for: ReaderApplicant(
        caller: caller(program, user: user, process: process), purpose: .read(items: [item], reason: nil), call: call),
      storeLock: "\(store.folder)/\(program).lock", told: told)
  }

  /// A program with this name, in a file of its own.
  private func caller(_ program: String, user: UInt32 = 1000, process: Int32? = nil) -> Caller {
    Caller(
      user: user, process: process.map { .init(id: $0, started: 1) }, label: program,
      file: .installed(device: 1, inode: UInt64(bitPattern: Int64(program.hashValue))))
  }

  /// Claims the reader in a new task, and returns when that task waits.
  private func waiting(
    _ program: String, user: UInt32 = 1000, process: Int32? = nil, _ order: Order
  ) async throws -> Task<ReaderClaim, any Error> {
    let told = Order()
    let task = Task {
      let claim = try await claim(program, user: user, process: process) { ahead in
        told.note("\(ahead)")
        order.tell(program, ahead.use)
      }
      order.note(program)
      return claim
    }
    while told.noted.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
    return task
  }

  /// Events, in order.
  private final class Order: Sendable {
    private let state = Mutex<(noted: [String], told: [String: [ReaderUse]])>(([], [:]))
    var noted: [String] { state.withLock { $0.noted } }
    var told: [String: [ReaderUse]] { state.withLock { $0.told } }
    func note(_ text: String) { state.withLock { $0.noted.append(text) } }
    func tell(_ program: String, _ use: ReaderUse) { state.withLock { $0.told[program, default: []].append(use) } }
  }

  @Test("the reader desk serves a user's requests in order, and tells each of them which request is ahead")
  func order() async throws {
    let order = Order()
    let first = try await claim("first")
    let second = try await waiting("second", order)
    let third = try await waiting("third", order)
    let fourth = try await waiting("fourth", user: 1001, order)
    first.end(.succeeded)
    for task in [fourth, second, third] { try await task.value.end(.succeeded) }
    #expect(order.noted == ["fourth", "second", "third"], "the users take turns")
    func use(of program: String) -> ReaderUse {
      .program(program, items: [ItemName(unchecked: "item of \(program)", account: "")])
    }
    #expect(order.told["second"] == [use(of: "first"), .anotherUser])
    #expect(order.told["fourth"] == [.anotherUser], "another user's items are not named")
    #expect(order.told["third"] == [use(of: "first"), .anotherUser, use(of: "second")])
  }

  @Test("the reader desk lets sixteen requests of a user wait, refuses more, and serves other users in between")
  func limit() async throws {
    let order = Order()
    let first = try await claim("first")
    var tasks: [Task<ReaderClaim, any Error>] = []
    let names = (1...WaitingLimits.user).map { "\($0)" }
    for name in names { tasks.append(try await waiting(name, order)) }
    await #expect(throws: VaultError.busy("16 requests of this user wait for the reader; first has it")) {
      _ = try await claim("one more")
    }
    let other = try await waiting("other", user: 1001, order)
    first.end(.succeeded)
    try await other.value.end(.succeeded)
    try await tasks[0].value.end(.succeeded)
    // There is room for another one.
    tasks.append(try await waiting("last", order))
    for task in tasks.dropFirst() { try await task.value.end(.succeeded) }
    #expect(order.noted == ["other"] + names + ["last"])
  }

  @Test("the reader desk gives a place of the program with the most waiting requests to one with fewer")
  func shared() async throws {
    let order = Order()
    let first = try await claim("first")
    var tasks: [Task<ReaderClaim, any Error>] = []
    for (process, name) in [("a", 1), ("a", 2), ("b", 3), ("b", 4)].map({ (Int32($0.1), $0.0) }) {
      for _ in 1...4 { tasks.append(try await waiting(name, process: process, order)) }
    }
    let other = try await waiting("other", process: 9, order)
    await #expect(throws: VaultError.self) { _ = try await tasks[15].value }
    first.end(.succeeded)
    for task in tasks.dropLast() + [other] { try await task.value.end(.succeeded) }
    #expect(order.noted.last == "other")
  }

  @Test("a request over the reader desk's limits gets the reader next if it rejects the one that has it")
  func rejectedFromOutside() async throws {
    let order = Order()
    func call(_ number: UInt8) -> ContextCall { ContextCall(context: ContextHandle(bytes: [number]), number: 1) }
    let first = try await claim("first", call: call(1))
    let names = (1...WaitingLimits.user).map { "\($0)" }
    var tasks: [Task<ReaderClaim, any Error>] = []
    for name in names { tasks.append(try await waiting(name, order)) }
    let outside = Task { try await claim("outside", call: call(2)) { order.tell("outside", $0.use) } }
    while order.told["outside"] == nil { try await Task.sleep(for: .milliseconds(2)) }
    #expect(order.told["outside"] == [.program("first", items: [ItemName(unchecked: "item of first", account: "")])])
    await desk.advance(call(2))
    first.end(.cancelled)
    try await outside.value.end(.succeeded)
    for task in tasks { try await task.value.end(.succeeded) }
    #expect(order.noted == names)
  }

  @Test(
    "the reader desk refuses a request over its limits after a wait, and names the program at the reader"
  )
  func refusedOutside() async throws {
    let desk = ReaderDesk(
      ScriptedReader(), locks: ReaderLocks(runtimeFolder: store.folder), outsideTime: .milliseconds(50))
    func claim(_ number: UInt8) async throws(VaultError) -> ReaderClaim {
      let call = ContextCall(context: ContextHandle(bytes: [number]), number: 1)
      return try await desk.claim(
        for: ReaderApplicant(
          caller: caller("loop", process: Int32(number)), purpose: .evaluate(reason: nil), call: call),
        storeLock: nil, told: { _ in })
    }
    let first = try await claim(0)
    let refused = await withTaskGroup(of: VaultError?.self) { group in
      for number in 1...9 {
        group.addTask {
          do throws(VaultError) {
            let claim = try await claim(UInt8(number))
            claim.end(.succeeded)
            return nil
          } catch {
            return error
          }
        }
      }
      // The others wait for the reader meanwhile.
      let refused = await group.next() ?? nil
      first.end(.succeeded)
      for await error in group { #expect(error == nil) }
      return refused
    }
    #expect(refused == .busy("8 requests of this program wait for the reader; loop has it"))
  }

  @Test("the reader desk tells a waiting request of a loan ahead, but not of a request without a touch")
  func brief() async throws {
    let caller = Caller(user: 1001, label: "status")
    for isLoan in [false, true] {
      let order = Order()
      let holder = try await desk.claim(
        for: ReaderApplicant(caller: caller, purpose: nil, isLoan: isLoan), storeLock: nil, told: { _ in })
      let login = Task {
        let claim = try await claim("login") { order.tell("login", $0.use) }
        claim.end(.succeeded)
      }
      try await Task.sleep(for: .milliseconds(200))
      #expect(order.told["login"] == (isLoan ? [.anotherUser] : nil))
      holder.end(.succeeded)
      try await login.value
    }
  }

  @Test("the reader desk reports a request ahead, also if it is from another program of the same name")
  func sameName() async throws {
    let order = Order()
    let first = try await claim("mail", process: 1)
    let second = try await waiting("mail", process: 2, order)
    #expect(order.told["mail"] == [.program("mail", items: [ItemName(unchecked: "item of mail", account: "")])])
    first.end(.succeeded)
    try await second.value.end(.succeeded)
  }

  @Test("a request that waits for the reader can be cancelled, and the others continue")
  func cancelled() async throws {
    let order = Order()
    let first = try await claim("first")
    let second = try await waiting("second", order)
    let third = try await waiting("third", order)
    second.cancel()
    await #expect(throws: VaultError.cancelled) { _ = try await second.value }
    first.end(.succeeded)
    try await third.value.end(.succeeded)
    #expect(order.noted == ["third"])
    let early = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      let last = try await claim("last")
      last.end(.failed)
    }
    _ = await early.result
    try await claim("next").end(.failed)
  }

  @Test("a program that cancelled gets the reader after later programs, until it has succeeded")
  func coolingDown() async throws {
    clock.stop()
    try await claim("impatient").end(.cancelled)
    for isCooling in [true, false] {
      let order = Order()
      let holder = try await claim("holder")
      let impatient = try await waiting("impatient", order)
      let other = try await waiting("other", order)
      holder.end(.succeeded)
      if isCooling {
        try await other.value.end(.succeeded)
        try await impatient.value.end(.succeeded)
      } else {
        try await impatient.value.end(.succeeded)
        try await other.value.end(.succeeded)
      }
    }
  }

  @Test("the reader desk refuses all requests while the machine sleeps, and serves requests again afterwards")
  func sleep() async throws {
    let order = Order()
    let first = try await claim("first")
    let wanted = try #require(try await desk.reader.readers().first)
    let waiting = try await waiting("second", order)
    let suspending = Task { await desk.suspend() }
    await #expect(throws: VaultError.reader(.suspended)) { _ = try await waiting.value }
    await #expect(throws: VaultError.reader(.suspended)) { _ = try await claim("third") }
    // A claim from before the sleep opens nothing now.
    await #expect(throws: VaultError.reader(.suspended)) { _ = try await first.open(wanted, for: .own) }
    first.end(.failed)
    await suspending.value
    await desk.resume()
    let next = try await claim("next")
    _ = try await next.open(wanted, for: .own)
    next.end(.succeeded)
  }

  @Test("a finger from one user's scan does not answer the next user's, which waits a second or until it lifts")
  func restingFinger() async throws {
    for leaves in [false, true] {
      let first = try await claim("first", user: 1000)
      let wanted = try #require(try await desk.reader.readers().first)
      let lift = try await first.open(wanted, for: .own).beginScan()
      lift.note(.fingerPresent)
      if leaves { lift.note(.fingerLifted) }
      let ended = ScanClock.now()
      first.end(.succeeded)
      let second = try await claim("second", user: 1001)
      _ = try await second.open(wanted, for: .own)
      #expect(leaves || ScanClock.now() - ended >= FingerLift.assumedAfter)
      second.end(.failed)
    }
  }
}

@Suite("A finger on the sensor, by the events of a scan")
struct FingerLiftTests {
  @Test(
    "a finger is known to be off the sensor if it was lifted, or the reader asked for one and reported none",
    arguments: [
      ([], false), ([.fingerNeeded], true), ([.fingerNeeded, .fingerPresent], false),
      ([.fingerNeeded, .fingerPresent, .fingerLifted], true), ([.fingerNeeded, .fingerPossible], false),
    ] as [([ScanEvent], Bool)])
  func off(events: [ScanEvent], isOff: Bool) {
    let lift = FingerLift()
    for event in events { lift.note(event) }
    #expect(lift.isOff == isOff)
  }
}

@Suite("The delay of a program that cancels again and again")
struct CoolDownTests {
  private let program = ReaderApplicant.Program(of: Caller(user: 1000, label: "program"))
  private static let second: UInt64 = 1_000_000_000

  @Test("a cancelling program's delay grows to half a minute, and ends with a success or after five minutes")
  func times() {
    var coolDowns = CoolDowns()
    var now: UInt64 = 100 * Self.second
    var waits: [UInt64] = []
    for _ in 1...7 {
      coolDowns.cancelled(program, now: now)
      let end = coolDowns.end(for: program, now: now)
      waits.append((end - now) / Self.second)
      #expect(coolDowns.end(for: program, now: end) == 0, "over")
      now = end
    }
    #expect(waits == [1, 2, 4, 8, 16, 30, 30])
    #expect(coolDowns.end(for: ReaderApplicant.Program(of: Caller(user: 1001, label: "program")), now: now - 1) == 0)
    coolDowns.succeeded(program)
    #expect(coolDowns.end(for: program, now: now - 1) == 0)
    coolDowns.cancelled(program, now: now)
    coolDowns.cancelled(program, now: now + CoolDowns.memory)
    #expect(coolDowns.end(for: program, now: now + CoolDowns.memory) == now + CoolDowns.memory + Self.second)
  }
}

@Suite("Two users' vaults on one reader")
struct SharedReaderTests {
  /// The store of one user, with a finger of one person.
  private struct Household {
    let image: ImageReaderStore
    let stores: [ScratchStore]
    let desk: ReaderDesk
    let vaults: [Vault]
    let sessions: [VaultSession]

    init() async throws {
      image = try await ImageReaderStore()
      stores = [try await ScratchStore(owner: 1000), try await ScratchStore(owner: 1001)]
      let desk = ReaderDesk(image.process, locks: ReaderLocks(runtimeFolder: image.store.folder))
      self.desk = desk
      vaults = try stores.map { try $0.open(desk: desk) }
      sessions = try zip(vaults, stores).map {
        try VaultSession(of: $0, for: Caller(user: $1.owner, label: "program of \($1.owner)"))
      }
      for (index, vault) in vaults.enumerated() {
        let touches = (1...6).map { image.press(.rightIndex, person: index + 1, UInt64($0)) }
        let person = Person(passcodes: [ScratchStore.passcode], touches: touches)
        _ = try await person.with(vault) { try await vault.enroll(.rightIndex, in: $0) }
        try await vault.put("item", "of \(index)", .anyFinger)
      }
    }

    func get(_ index: Int, by person: Person, timeout: Duration = .seconds(30)) async throws -> String {
      let session = sessions[index]
      let name = try ItemName(parsing: "item")
      return try await person.with(session, ContextOptions(timeout: timeout)) {
        try await session.secrets(.names([name]), Asking(in: $0))[0].text
      }
    }

    /// Presses a user's finger after the other user's person was told to wait.
    func pressWhen(_ index: Int, waits other: Person) -> @Sendable () async throws -> Void {
      let press = image.press(.rightIndex, person: index + 1)
      return {
        while !other.isTold { try await Task.sleep(for: .milliseconds(5)) }
        try await press()
      }
    }
  }

  @Test("two users' vaults use one reader one after the other, each with a touch of its own user's finger")
  func oneAfterTheOther() async throws {
    let house = try await Household()
    let second = Person(touches: [house.image.press(.rightIndex, person: 2)])
    let first = Person(touches: [house.pressWhen(0, waits: second)])
    let reading = Task { try await house.get(0, by: first) }
    while first.touchesWanted == 0 { try await Task.sleep(for: .milliseconds(5)) }
    #expect(try await house.get(1, by: second) == "of 1")
    #expect(try await reading.value == "of 0")
    #expect(first.touchesWanted == 1)
    #expect(second.touchesWanted == 1)
    for vault in house.vaults { #expect(try await vault.status().failures == 0) }
    await house.desk.shutdown()
  }

  @Test("one touch does not answer the vaults of two users, and neither user's finger opens an item of the other")
  func oneTouch() async throws {
    let house = try await Household()
    // The waiting request is armed after the other finger was lifted, and nobody touches again.
    let second = Person()
    let first = Person(touches: [house.pressWhen(0, waits: second)])
    let reading = Task { try await house.get(0, by: first) }
    while first.touchesWanted == 0 { try await Task.sleep(for: .milliseconds(5)) }
    await #expect(throws: VaultError.timedOut) { try await house.get(1, by: second, timeout: .seconds(3)) }
    #expect(try await reading.value == "of 0")
    #expect(second.touchesWanted == 1)
    let stranger = Person(touches: (1...3).map { _ in house.image.press(.rightIndex, person: 1) })
    await #expect(throws: VaultError.authenticationFailed) { try await house.get(1, by: stranger) }
    #expect(try await house.vaults[1].status().failures == 3)
    #expect(try await house.vaults[0].status().failures == 0)
    let both = Person(touches: [2, 1].map { house.image.press(.rightIndex, person: $0) })
    #expect(try await house.get(0, by: both) == "of 0")
    #expect(both.touchesWanted == 2)
    await house.desk.shutdown()
  }

  @Test("a shared reader is closed before sleep, its armed scan counts no failure, and it is found again later")
  func sleep() async throws {
    let house = try await Household()
    let first = Person()
    let reading = Task { try await house.get(0, by: first) }
    while first.touchesWanted == 0 { try await Task.sleep(for: .milliseconds(5)) }
    let before = processes(with: house.image.socket).filter { $0 != getpid() }
    try #require(before.count == 1)
    await house.desk.suspend()
    #expect(processes(with: house.image.socket).filter { $0 != getpid() }.isEmpty, "its process has ended")
    await #expect(throws: VaultError.reader(.suspended)) { try await reading.value }
    await #expect(throws: VaultError.reader(.suspended)) { try await house.get(1, by: Person()) }
    #expect(try await house.vaults[0].status().failures == 0)
    await house.desk.resume()
    let person = Person(touches: [house.image.press(.rightIndex, person: 1)])
    #expect(try await house.get(0, by: person) == "of 0")
    #expect(processes(with: house.image.socket).allSatisfy { !before.contains($0) })
    await house.desk.shutdown()
  }

  @Test("a request that waits for another user's touch ends at its own timeout, and can be cancelled")
  func bounded() async throws {
    let house = try await Household()
    let first = Person()
    let reading = Task { try await house.get(0, by: first) }
    while first.touchesWanted == 0 { try await Task.sleep(for: .milliseconds(5)) }
    await #expect(throws: VaultError.busy("another program is waiting for a finger")) {
      try await house.get(1, by: Person(), timeout: .milliseconds(300))
    }
    let session = house.sessions[1]
    let (handle, events) = try await session.openContext(ContextOptions())
    let waiting = Task { try await session.secrets(.names([ItemName(parsing: "item")]), Asking(in: handle)) }
    for await event in events {
      guard case .notice(.readerInUse(.anotherUser)) = event.event else { continue }
      await session.respond(handle, .cancel)
      break
    }
    await #expect(throws: VaultError.cancelled) { _ = try await waiting.value }
    reading.cancel()
    await #expect(throws: VaultError.cancelled) { try await reading.value }
    let person = Person(touches: [house.image.press(.rightIndex, person: 2)])
    #expect(try await house.get(1, by: person) == "of 1")
    await house.desk.shutdown()
  }
}

extension Person {
  fileprivate var isTold: Bool { events.contains { if case .notice(.readerInUse) = $0 { true } else { false } } }
  fileprivate var touchesWanted: Int { events.count { if case .touchWanted = $0 { true } else { false } } }
}
