import Primitives
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("Rejecting the request that holds the reader")
struct RejectionTests {
  /// Programs of one user and a program of another, with one reader.
  private struct House {
    let image: ImageReaderStore
    let desk: ReaderDesk
    let vaults: [Vault]
    private let stores: [ScratchStore]

    init() async throws {
      image = try await ImageReaderStore()
      stores = [try await ScratchStore(owner: 1000), try await ScratchStore(owner: 1001)]
      // The desk's clock stands still, so that cool-downs do not expire before the test checks them.
      let desk = ReaderDesk(
        image.process, locks: ReaderLocks(runtimeFolder: image.store.folder), clock: { 1_000_000_000_000 })
      self.desk = desk
      vaults = try stores.map { try $0.open(desk: desk) }
      for (index, vault) in vaults.enumerated() {
        let touches = (1...6).map { image.press(.rightIndex, person: index + 1, UInt64($0)) }
        let person = Person(passcodes: [ScratchStore.passcode], touches: touches)
        _ = try await person.with(vault) { try await vault.enroll(.rightIndex, in: $0) }
        try await vault.put("item", "of \(index)", .anyFinger)
      }
    }

    /// A file of its own for each program.
    static func file(of name: String) -> ProgramFile { .installed(device: 1, inode: UInt64(name.count)) }

    func asker(_ name: String, user: Int = 0) async throws -> Asker {
      let session = try VaultSession(
        of: vaults[user],
        for: Caller(
          user: vaults[user].owner, process: Caller.ProcessInstance(id: 100, started: UInt64(name.count)), label: name,
          file: Self.file(of: name)))
      return try await Asker(session, image.press(.rightIndex, person: user + 1))
    }
  }

  /// One program that reads the item, and its person.
  private final class Asker: Sendable {
    let session: VaultSession
    let reading: Task<String, any Error>
    private let handle: ContextHandle
    private let events: AsyncStream<NumberedEvent>
    private let press: @Sendable () async throws -> Void

    init(_ session: VaultSession, _ press: @escaping @Sendable () async throws -> Void) async throws {
      self.session = session
      self.press = press
      let (handle, events) = try await session.openContext(ContextOptions(timeout: .seconds(30)))
      self.handle = handle
      let (heard, source) = AsyncStream.makeStream(of: NumberedEvent.self)
      self.events = heard
      Task {
        for await event in events { source.yield(event) }
        source.finish()
      }
      reading = Task {
        try await session.secrets(.names([ItemName(parsing: "item")]), Asking(in: handle))[0].text
      }
    }

    /// The next event that satisfies the condition.
    func hears(_ isMeant: (AuthenticationEvent) -> Bool) async throws -> NumberedEvent {
      for await event in events where isMeant(event.event) { return event }
      throw Failed()
    }

    func isAsked() async throws {
      _ = try await hears { if case .touchWanted = $0 { true } else { false } }
    }

    /// Waits for the notice of this use of the reader, and returns its number.
    func isTold(_ use: ReaderUse) async throws -> Int {
      try await hears { if case .notice(.readerInUse(use)) = $0 { true } else { false } }.number
    }

    func reject(_ notice: Int) async { await session.respond(handle, .reject(notice: notice)) }
    func touch() async throws { try await press() }

    struct Failed: Error {}
  }

  private static func use(of program: String) throws -> ReaderUse {
    .program(program, items: [try ItemName(parsing: "item")])
  }

  @Test("a rejected reader request ends as cancelled, learns who rejected it, and yields to that request")
  func rejected() async throws {
    let house = try await House()
    let first = try await house.asker("first")
    try await first.isAsked()
    let second = try await house.asker("second one")
    _ = try await second.isTold(try Self.use(of: "first"))
    let third = try await house.asker("third of all")
    let notice = try await third.isTold(try Self.use(of: "first"))
    await third.reject(notice)
    let told = try await first.hears { if case .notice(.rejected) = $0 { true } else { false } }
    guard case .notice(.rejected(by: "third of all")) = told.event else { throw Asker.Failed() }
    await #expect(throws: VaultError.cancelled) { _ = try await first.reading.value }
    try await third.isAsked()
    try await third.touch()
    #expect(try await third.reading.value == "of 0")
    try await second.isAsked()
    // Its program has a cool-down, as after a cancel.
    let program = ReaderApplicant.Program(of: Caller(user: 1000, file: House.file(of: "first")))
    #expect(await house.desk.coolDownEnd(of: program) > 0)
    try await second.touch()
    #expect(try await second.reading.value == "of 0")
    await house.desk.shutdown()
  }

  @Test("a reader request cannot be rejected by another user, by another event's number, or after its end")
  func notRejected() async throws {
    let house = try await House()
    let first = try await house.asker("first")
    try await first.isAsked()
    let stranger = try await house.asker("stranger", user: 1)
    let foreign = try await stranger.isTold(.anotherUser)
    for number in 0...foreign + 1 { await stranger.reject(number) }
    let second = try await house.asker("second one")
    let notice = try await second.isTold(try Self.use(of: "first"))
    for number in 0...notice + 8 where number != notice { await second.reject(number) }
    try await first.touch()
    #expect(try await first.reading.value == "of 0")
    try await stranger.isAsked()
    // The request of the first notice has ended, and the next notice is about another user.
    await second.reject(notice)
    await second.reject(try await second.isTold(.anotherUser))
    try await stranger.touch()
    #expect(try await stranger.reading.value == "of 1")
    try await second.isAsked()
    await second.reject(notice)
    try await second.touch()
    #expect(try await second.reading.value == "of 0")
    await house.desk.shutdown()
  }
}
