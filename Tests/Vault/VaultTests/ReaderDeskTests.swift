import Glibc
import Primitives
import ProgramDriver
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
        if told.noted.isEmpty { told.note("told") }
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

  @Test("the reader desk lets 512 requests of a user wait, refuses more, and serves other users in between")
  func limit() async throws {
    let order = Order()
    let first = try await claim("first")
    let tasks = try await full(order)
    await #expect(throws: VaultError.busy("512 requests of this user wait for the reader; first has it")) {
      _ = try await claim("loop", process: 1_000)
    }
    let other = try await waiting("other", user: 1001, order)
    first.end(.succeeded)
    try await other.value.end(.succeeded)
    for task in tasks { try await task.value.end(.succeeded) }
    #expect(order.noted == ["other"] + Array(repeating: "loop", count: tasks.count))
  }

  /// As many requests as a user may have waiting, of one program.
  private func full(_ order: Order) async throws -> [Task<ReaderClaim, any Error>] {
    var tasks: [Task<ReaderClaim, any Error>] = []
    for number in 1...Int32(WaitingLimits.user) { tasks.append(try await waiting("loop", process: number, order)) }
    return tasks
  }

  @Test("the reader desk gives a place of the program with the most waiting requests to one with fewer")
  func shared() async throws {
    let order = Order()
    let first = try await claim("first")
    let tasks = try await full(order)
    let other = try await waiting("other", order)
    await #expect(throws: VaultError.self) { _ = try await tasks[WaitingLimits.user - 1].value }
    first.end(.succeeded)
    try await tasks[0].value.end(.succeeded)
    try await other.value.end(.succeeded)
    for task in tasks[1..<WaitingLimits.user - 1] { try await task.value.end(.succeeded) }
    #expect(order.noted.prefix(2) == ["loop", "other"])
  }

  @Test("the reader desk gives programs of a user their turns in between, and processes of a program")
  func turns() async throws {
    let order = Order()
    try await claim("loop", process: 1).end(.succeeded)
    let first = try await claim("first")
    var tasks: [Task<ReaderClaim, any Error>] = []
    // Process 1 has had a turn, and another process of the same program has not.
    for _ in 1...3 { tasks.append(try await waiting("loop", process: 1, order)) }
    tasks.append(try await waiting("loop", process: 2, order))
    tasks.append(try await waiting("mail", process: 3, order))
    first.end(.succeeded)
    try await tasks[4].value.end(.succeeded)
    try await tasks[3].value.end(.succeeded)
    for task in tasks[..<3] { try await task.value.end(.succeeded) }
    #expect(order.noted == ["mail", "loop", "loop", "loop", "loop"])
  }

  @Test("a request over the reader desk's limits gets the reader next if it rejects the one that has it")
  func rejectedFromOutside() async throws {
    let order = Order()
    func call(_ number: UInt8) -> ContextCall { ContextCall(context: ContextHandle(bytes: [number]), number: 1) }
    let first = try await claim("first", call: call(1))
    let tasks = try await full(order)
    let outside = Task { try await claim("loop", process: 1_000, call: call(2)) { order.tell("outside", $0.use) } }
    while order.told["outside"] == nil { try await Task.sleep(for: .milliseconds(2)) }
    #expect(order.told["outside"] == [.program("first", items: [ItemName(unchecked: "item of first", account: "")])])
    await desk.advance(call(2))
    first.end(.cancelled)
    try await outside.value.end(.succeeded)
    for task in tasks { try await task.value.end(.succeeded) }
    #expect(order.noted.count == tasks.count)
  }

  @Test(
    "the reader desk refuses a request over its limits after a wait, and names the program at the reader"
  )
  func refusedOutside() async throws {
    let desk = ReaderDesk(
      ScriptedReader(), locks: ReaderLocks(runtimeFolder: store.folder), outsideTime: .milliseconds(50))
    func claim(_ number: Int) async throws(VaultError) -> ReaderClaim {
      let call = ContextCall(context: ContextHandle(bytes: [UInt8(number % 251)]), number: UInt64(number))
      return try await desk.claim(
        for: ReaderApplicant(
          caller: caller("loop", process: Int32(number)), purpose: .evaluate(reason: nil), call: call),
        storeLock: nil, told: { _ in })
    }
    let first = try await claim(0)
    let refused = await withTaskGroup(of: VaultError?.self) { group in
      for number in 1...WaitingLimits.user + 1 {
        group.addTask {
          do throws(VaultError) {
            let claim = try await claim(number)
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
    #expect(refused == .busy("512 requests of this user wait for the reader; loop has it"))
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

  @Test("a program that cancelled gets the reader after later programs")
  func coolingDown() async throws {
    clock.stop()
    try await claim("impatient").end(.cancelled)
    let order = Order()
    let holder = try await claim("holder")
    let impatient = try await waiting("impatient", order)
    let other = try await waiting("other", order)
    holder.end(.succeeded)
    try await other.value.end(.succeeded)
    try await impatient.value.end(.succeeded)
    #expect(order.noted == ["other", "impatient"])
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

extension FingerLiftTests {
  @Test("a scan that was cancelled before the reader began leaves no finger to wait for")
  func neverBegan() async throws {
    let lift = FingerLift()
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await lift.followed {
        Issue.record("the reader is told of a scan that nobody wants")
        throw ReaderError.absent
      }
    }
    await #expect(throws: ReaderError.cancelled) { _ = try await cancelled.value }
    #expect(lift.isOff)
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
