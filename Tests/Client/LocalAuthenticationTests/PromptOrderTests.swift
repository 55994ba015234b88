import Presence
import Primitives
import Synchronization
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore
import VirtualFinger
import Whorl

@Suite("The order of prompts and calls")
struct PromptOrderTests {
  @Test("every prompt event of a call has been shown when the call returns")
  func shownBeforeReturn() async throws {
    let machine = try await Machine()
    let prompt = SlowPrompt(
      touch: { try? await machine.press(person: 1) }, matched: { try? await Task.sleep(for: .milliseconds(200)) })
    try await machine.store.makeContext(prompt: prompt).evaluate(.biometrics, reason: "be seen")
    #expect(prompt.shown == ["touch", "matched"])
  }

  @Test("a call also waits for a prompt listener that has not started yet")
  func heardLate() async throws {
    let machine = try await Machine(fingers: [])
    let vault = machine.vault
    let (handle, events) = try await vault.openContext()
    let call = Task { try await vault.evaluate(.deviceOwner, reason: nil, in: handle) }
    // No finger can be used, and the passcode is wanted.
    for _ in 1...1_000 where events.lastNumber < 2 { try await Task.sleep(for: .milliseconds(10)) }
    let listener = PromptListener(events)
    let shown = ShownNumbers()
    let caughtUp = Task {
      await listener.caughtUp()
      return shown.all.withLock { $0 }
    }
    try await Task.sleep(for: .milliseconds(50))
    let listening = Task { await listener.run { event in shown.all.withLock { $0.append(event.number) } } }
    #expect(await caughtUp.value == [1, 2])
    await vault.closeContext(handle)
    await listening.value
    await #expect(throws: VaultError.cancelled) { try await call.value }
  }

  @Test("a call does not wait without end for a prompt that is stuck")
  func stuck() async throws {
    let machine = try await Machine()
    let (waiting, end) = AsyncStream.makeStream(of: Void.self)
    let prompt = SlowPrompt(
      touch: { try? await machine.press(person: 1) }, matched: { for await _ in waiting {} })
    try await machine.store.makeContext(prompt: prompt).evaluate(.biometrics, reason: "be seen")
    #expect(prompt.shown == ["touch"])
    end.finish()
  }

  @Test("no prompt is shown after its call has ended")
  func nothingAfterwards() async throws {
    let machine = try await Machine()
    let (seen, noMatchSeen) = AsyncStream.makeStream(of: Void.self)
    let prompt = SlowPrompt(
      touch: { try? await machine.press(person: 2) },
      noMatch: {
        noMatchSeen.finish()
        try? await Task.sleep(for: .seconds(1))
      })
    let context = machine.store.makeContext(prompt: prompt)
    let events = context.events
    let ended = Task { try await context.evaluate(.biometrics, reason: "be seen") }
    for await _ in seen {}
    // The prompt is wanted, and waits to be shown.
    try await Task.sleep(for: .milliseconds(300))
    context.invalidate()
    await #expect(throws: VaultError.appCancelled) { try await ended.value }
    for await _ in events {}
    #expect(prompt.shown == ["touch", "no match"])
  }
}

extension Machine {
  fileprivate func press(person: Int) async throws {
    let image = SyntheticFinger(person: person, finger: .rightIndex).impression(.random(in: 1...1_000_000))
    try await onOwnThread { [socket = self.image.socket] () throws(VirtualReaderError) in
      try VirtualImageReader(socket: socket).press(image)
    }
  }
}

/// The numbers of the events a listener was given.
private final class ShownNumbers: Sendable {
  let all = Mutex<[Int]>([])
}

/// Runs an action at each event before it has shown the event.
private final class SlowPrompt: AuthenticationPrompt {
  typealias Deed = @Sendable () async -> Void

  private let lines = Mutex<[String]>([])
  private let touch: Deed
  private let matched: Deed
  private let noMatch: Deed

  init(touch: @escaping Deed, matched: @escaping Deed = {}, noMatch: @escaping Deed = {}) {
    (self.touch, self.matched, self.noMatch) = (touch, matched, noMatch)
  }

  var shown: [String] { lines.withLock { $0 } }

  func handle(_ event: AuthenticationEvent, in session: PromptSession) async {
    switch event {
    case .touchWanted: await show("touch", touch)
    case .matched: await show("matched", matched)
    case .noMatch: await show("no match", noMatch)
    default: break
    }
  }

  private func show(_ line: String, _ deed: Deed) async {
    await deed()
    lines.withLock { $0.append(line) }
  }
}
