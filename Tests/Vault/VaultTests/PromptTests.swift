import Presence
import Primitives
import ReaderClient
import Synchronization
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore

@Suite("A reader is armed when its prompt is shown")
struct PromptTests {
  private let image: ImageReaderStore
  private let vault: Vault
  private let armed = Count()

  private final class Count: Sendable {
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
    func add() { count.withLock { $0 += 1 } }
  }

  init() async throws {
    image = try await ImageReaderStore()
    let enrolling = try image.store.open(reader: image.process)
    _ = try await image.enroll(.rightIndex, in: enrolling)
    try await enrolling.put("item", "secret", .anyFinger)
    await enrolling.shutdown()
    let reader = InterposedReader(
      real: image.process, at: { [armed] step in if step == .armed { armed.add() } })
    vault = try image.store.open(reader: reader, arming: .whenPromptStands)
  }

  /// Presses a finger when the reader has been armed this many times.
  private func press(_ finger: Finger, armed times: Int) -> @Sendable () async throws -> Void {
    let press = image.press(finger)
    return { [armed] in
      while armed.value < times { try await Task.sleep(for: .milliseconds(5)) }
      try await press()
    }
  }

  @Test("a reader is armed only when its prompt is shown, and not by an answer to another event")
  func stands() async throws {
    let (handle, events) = try await vault.openContext()
    let reading = Task { try await vault.read([ItemName(parsing: "item")], reason: nil, in: handle)[0].text }
    for await event in events {
      guard case .touchWanted(let request) = event.event else { continue }
      #expect(request.awaitsPrompt)
      await vault.respond(handle, .ready(question: event.number + 1))
      try await Task.sleep(for: .milliseconds(300))
      #expect(armed.value == 0)
      await vault.respond(handle, .ready(question: event.number))
      break
    }
    try await press(.rightIndex, armed: 1)()
    #expect(try await reading.value == "secret")
    await vault.closeContext(handle)
    await vault.shutdown()
  }

  @Test("a reader is never armed for a prompt that nobody shows, and no failure is counted")
  func nobody() async throws {
    let (handle, events) = try await vault.openContext(ContextOptions(timeout: .seconds(2)))
    await #expect(throws: VaultError.busy("the prompt for a finger was not shown in time")) {
      _ = try await vault.read([ItemName(parsing: "item")], reason: nil, in: handle)
    }
    await vault.closeContext(handle)
    var wanted = 0
    for await event in events {
      if case .touchWanted = event.event { wanted += 1 }
    }
    #expect(wanted == 1)
    #expect(armed.value == 0)
    #expect(try await vault.status().failures == 0)
    await vault.shutdown()
  }

  @Test("a prompt for a touch says whether its reader is the only one")
  func alone() async throws {
    await vault.shutdown()
    var beside = try #require(try await image.process.readers().first)
    beside.identity.serial = "beside it"
    for others in [[], [beside]] {
      let vault = try image.store.open(reader: InterposedReader(real: image.process, beside: others, at: { _ in }))
      let person = Person(touches: [image.press(.rightIndex)])
      #expect(try await vault.get("item", by: person) == "secret")
      let alone = person.events.compactMap { event -> Bool? in
        if case .touchWanted(let request) = event { request.isOnlyReader } else { nil }
      }
      #expect(alone == [others.isEmpty])
      await vault.shutdown()
    }
  }

  @Test("each touch has its own prompt, also after a wrong finger")
  func touches() async throws {
    let person = Person(touches: [press(.leftThumb, armed: 1), press(.rightIndex, armed: 2)])
    #expect(try await vault.get("item", by: person) == "secret")
    let wanted = person.events.count { if case .touchWanted = $0 { true } else { false } }
    #expect(wanted == 2)
    await vault.shutdown()
  }

  @Test("an enrolment and its confirming touch each wait until their prompt is shown")
  func enrolment() async throws {
    let store = try await ScratchStore()
    let vault = try store.open(reader: ScriptedReader(), arming: .whenPromptStands)
    let person = Person(passcodes: [ScratchStore.passcode])
    _ = try await person.with(vault) { try await vault.enroll(.rightIndex, in: $0) }
    let awaited = person.events.compactMap {
      if case .touchWanted(let request) = $0 { request.awaitsPrompt } else { nil }
    }
    #expect(awaited == [true, false, true], "the enrolment, its first stage, the confirming touch")
  }
}
