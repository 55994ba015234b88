import Presence
import Primitives
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore

@Suite("A context that was satisfied serves later calls, and only those it satisfies")
struct ContextTests {
  private static let keeping = ContextOptions.keepingEvidence(.afterNoMatch)

  @Test("one touch in a context opens all items that a finger may open, and none that need the passcode")
  func oneTouch() async throws {
    let image = try await ImageReaderStore()
    let vault = try image.store.open(reader: image.process)
    _ = try await image.enroll(.rightIndex, in: vault)
    let bound = try await vault.add("bound", .biometryCurrentSet)
    let present = try await vault.add("present", .userPresence)
    let passcode = try await vault.add("passcode", .devicePasscode)
    let both = try await vault.add("both", [.biometryAny, .devicePasscode])
    let either = try await vault.add("either", [.or, .biometryCurrentSet, .devicePasscode])
    let person = Person(touches: [image.press(.rightIndex, 100)])
    try await person.with(vault, Self.keeping) { handle in
      try await vault.evaluate(.biometrics, reason: "test", in: handle)
      #expect(
        try await vault.secrets(of: [bound, present, either], reason: nil, in: handle).map(\.text) == [
          "bound", "present", "either",
        ])
      for refused in [passcode, both] {
        #expect(try await !vault.isSatisfied(refused, by: handle))
        await #expect(throws: VaultError.interactionNotAllowed) {
          _ = try await vault.secrets(of: [refused], reason: nil, in: handle)
        }
      }
      #expect(try await vault.isSatisfied(bound, by: handle))
      #expect(try await !vault.isSatisfied(bound, by: nil))
    }
    let touches = person.events.filter { if case .touchWanted = $0 { true } else { false } }
    #expect(touches.count == 1)
    await vault.shutdown()
  }

  @Test("adding a finger ends a context's access and bound items, but not items that the passcode opens too")
  func changedSet() async throws {
    let image = try await ImageReaderStore()
    let vault = try image.store.open(reader: image.process)
    _ = try await image.enroll(.rightIndex, in: vault)
    let state = try await vault.biometry().state
    let bound = try await vault.add("bound", .biometryCurrentSet)
    let either = try await vault.add("either", [.or, .biometryCurrentSet, .devicePasscode])
    let any = try await vault.add("any", .biometryAny)
    let person = Person(passcodes: [ScratchStore.passcode], touches: [image.press(.rightIndex, 101)])
    try await person.with(vault, Self.keeping) { handle in
      try await vault.evaluate(.biometrics, reason: nil, in: handle)
      let change = try await image.enroll(.leftIndex, in: vault)
      #expect(change.lost.map(\.description) == ["bound"])
      #expect(try await vault.biometry().state != state)
      #expect(try await !vault.isSatisfied(any, by: handle))
      #expect(try await vault.secrets(of: [either], reason: nil, in: handle)[0].text == "either", "by the passcode")
      await #expect(throws: VaultError.itemGone) {
        _ = try await vault.secrets(of: [bound], reason: nil, in: handle)
      }
    }
    await vault.shutdown()
  }

  @Test("a recent match is reused only if the context allows it, and evaluating an invalidated context fails")
  func reuse() async throws {
    let image = try await ImageReaderStore()
    let vault = try image.store.open(reader: image.process)
    _ = try await image.enroll(.rightIndex, in: vault)
    let any = try await vault.add("any", .biometryAny)
    let first = Person(touches: [image.press(.rightIndex, 102)])
    try await first.with(vault, Self.keeping) { try await vault.evaluate(.deviceOwner, reason: nil, in: $0) }
    var silent = Self.keeping
    silent.interactionNotAllowed = true
    try await Person().with(vault, silent) { handle in
      _ = await #expect(throws: VaultError.interactionNotAllowed) {
        _ = try await vault.secrets(of: [any], reason: nil, in: handle)
      }
    }
    silent.reuseDuration = .seconds(60)
    try await Person().with(vault, silent) { handle in
      let reused = try await vault.secrets(of: [any], reason: nil, in: handle)
      #expect(reused[0].text == "any")
    }
    let (handle, events) = try await vault.openContext(Self.keeping)
    let running = Task { try await vault.evaluate(.biometrics, reason: nil, in: handle) }
    for await event in events {
      if case .touchWanted = event.event { await vault.closeContext(handle, reason: .appCancelled) }
    }
    await #expect(throws: VaultError.appCancelled) { try await running.value }
    await #expect(throws: VaultError.contextInvalidated) {
      try await vault.evaluate(.biometrics, reason: nil, in: handle)
    }
    await vault.shutdown()
  }

  @Test("a late answer to a context's prompt is not used for the next prompt")
  func lateAnswer() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    let (handle, events) = try await vault.openContext(Self.keeping)
    let running = Task { try await vault.evaluate(.deviceOwner, reason: nil, in: handle) }
    var questions: [Int] = []
    for await event in events {
      guard case .secretWanted = event.event else { continue }
      questions.append(event.number)
      if questions.count == 1 {
        await vault.respond(handle, .secret(question: event.number, SecretBytes(text: "wrong")))
      } else {
        await vault.respond(handle, .secret(question: questions[0], SecretBytes(text: ScratchStore.passcode)))
        await vault.respond(handle, .decline(question: questions[0]))
        await vault.respond(handle, .decline(question: event.number))
        break
      }
    }
    await #expect(throws: VaultError.wrongPasscode) { try await running.value }
    #expect(questions.count == 2)
    await vault.closeContext(handle)
  }

  @Test("a call that waits for its turn in a context can be cancelled while the call before it still asks")
  func cancelledWhileWaiting() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    let (handle, events) = try await vault.openContext(Self.keeping)
    let running = Task { try await vault.evaluate(.deviceOwner, reason: nil, in: handle) }
    for await event in events {
      guard case .secretWanted = event.event else { continue }
      let waiting = Task { try await vault.evaluate(.deviceOwner, reason: nil, in: handle) }
      let last = Task { try await vault.evaluate(.deviceOwner, reason: nil, in: handle) }
      try await Task.sleep(for: .milliseconds(100))
      waiting.cancel()
      await #expect(throws: VaultError.cancelled) { try await waiting.value }
      await vault.respond(handle, .secret(question: event.number, SecretBytes(text: ScratchStore.passcode)))
      try await running.value
      // The next call in the queue gets its turn, and uses the passcode.
      try await last.value
      break
    }
    await vault.closeContext(handle)
  }
}
