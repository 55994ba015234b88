import Glibc
import Presence
import Primitives
import Synchronization
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore

@Suite("One touch answers one request, soon after the touch")
struct OneTouchTests {
  private static func enroll(in vault: Vault) async throws {
    _ = try await Person(passcodes: [ScratchStore.passcode]).with(vault) { try await vault.enroll(.rightIndex, in: $0) }
  }

  /// A vault whose machine sleeps for an hour after each of the first touches, before the vault hears of their match.
  private static func sleepingOver(_ touches: Int, of store: ScratchStore) throws -> Vault {
    let slept = Mutex<UInt64>(0)
    let left = Mutex(touches)
    let reader = InterposedReader(
      real: ScriptedReader(),
      beforeAnswer: { answer throws(ReaderError) in
        let answer = ScanAnswer(
          nonce: answer.nonce, outcome: answer.outcome, finishedAt: ScanClock.now() + slept.withLock { $0 })
        left.withLock { left in
          guard left > 0 else { return }
          left -= 1
          slept.withLock { $0 += 3_600_000_000_000 }
        }
        return answer
      })
    return try store.open(reader: reader, touchClock: { ScanClock.now() + slept.withLock { $0 } })
  }

  @Test(
    "a fingerprint match that arrives after the machine slept opens nothing, and a touch is asked for again")
  func sleep() async throws {
    let store = try await ScratchStore()
    try await Self.enroll(in: store.open(reader: ScriptedReader()))
    let vault = try Self.sleepingOver(1, of: store)
    try await vault.put("item", "secret", .anyFinger)
    let person = Person()
    #expect(try await vault.get("item", by: person) == "secret")
    let events = person.events.compactMap { event -> String? in
      switch event {
      case .touchWanted: "asked"
      case .retry: "again"
      case .matched: "matched"
      default: nil
      }
    }
    #expect(events == ["asked", "again", "asked", "matched"])
    #expect(try await vault.status().failures == 0)
  }

  @Test("a second fingerprint match in a row that a sleep delays is refused, and both touches stay counted")
  func sleepTwice() async throws {
    let store = try await ScratchStore()
    try await Self.enroll(in: store.open(reader: ScriptedReader()))
    let vault = try Self.sleepingOver(2, of: store)
    try await vault.put("item", "secret", .anyFinger)
    await #expect(throws: VaultError.touchRefused) { try await vault.get("item") }
    #expect(try await vault.status().failures == 2)
  }

  /// A reader that keeps its scan armed until it is released.
  private final class Gate: Sendable {
    private let state = Mutex((closed: true, reached: false))

    var isReached: Bool { state.withLock { $0.reached } }

    func open() { state.withLock { $0.closed = false } }

    func pass() async {
      state.withLock { $0.reached = true }
      while state.withLock({ $0.closed }) { try? await Task.sleep(for: .milliseconds(5)) }
    }
  }

  /// Whether a second program, of another store or of the same one, waits while the first has the same reader armed.
  private func waits(
    inOneStore: Bool = false, runtimeFolder: String?, nature: ReaderDescription.Nature = .physical
  ) async throws -> Bool {
    let first = try await ScratchStore()
    let second = try await inOneStore ? first : ScratchStore()
    let gate = Gate()
    let isReading = Mutex(false)
    @Sendable func described(_ description: ReaderDescription) -> ReaderDescription {
      var description = description
      description.nature = nature
      return description
    }
    let held = InterposedReader(
      real: ScriptedReader(), describing: described,
      at: { step in
        if step == .armed, isReading.withLock({ $0 }) { await gate.pass() }
      })
    let one = try first.open(reader: held, runtimeFolder: runtimeFolder)
    let two = try second.open(
      reader: InterposedReader(real: ScriptedReader(), describing: described), runtimeFolder: runtimeFolder)
    for vault in inOneStore ? [one] : [one, two] {
      try await Self.enroll(in: vault)
      try await vault.put("item", "secret", .anyFinger)
    }
    isReading.withLock { $0 = true }
    let reading = Task { try await one.get("item") }
    while !gate.isReached { try await Task.sleep(for: .milliseconds(5)) }
    let waited: Bool
    do {
      waited = try await two.get("item", ContextOptions(timeout: .milliseconds(300))) != "secret"
    } catch {
      #expect(error as? VaultError == .busy("another program is waiting for a finger"))
      waited = true
    }
    gate.open()
    #expect(try await reading.value == "secret")
    #expect(try await two.get("item") == "secret", "when the reader is free")
    return waited
  }

  @Test("two stores with one reader use it one after the other")
  func twoStores() async throws {
    let runtime = try await ScratchStore()
    #expect(try await waits(runtimeFolder: runtime.folder))
    #expect(try await !waits(runtimeFolder: runtime.folder, nature: .virtual), "a virtual reader is its store's own")
  }

  @Test("without a private folder for a reader's lock, only programs of one store wait for each other")
  func noRuntimeFolder() async throws {
    let runtime = try await ScratchStore()
    chmod(runtime.folder, 0o755)
    #expect(try await !waits(runtimeFolder: runtime.folder), "one that others may look into")
    chmod(runtime.folder, 0o700)
    #expect(try await !waits(runtimeFolder: runtime.folder + "/none"), "none")
    #expect(try await waits(inOneStore: true, runtimeFolder: runtime.folder + "/none"), "the store's lock")
  }
}
