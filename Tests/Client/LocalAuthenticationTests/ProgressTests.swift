import Presence
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore
import Whorl

@Suite("Progress of an authentication, through libfprint's virtual image reader")
struct ProgressTests {
  private func line(_ event: AuthenticationEvent) -> String? {
    switch event {
    case .touchWanted: "touch"
    case .retry: "retry"
    case .noMatch(let remaining): "no match, \(remaining) left"
    case .matched: "matched"
    default: nil
    }
  }

  @Test("every reader of a context's events gets all of them in a sequence that ends with the context")
  func events() async throws {
    let machine = try await Machine()
    let person = PersonAtPrompt(
      machine, [.run(machine.image.retry()), .pressStranger, .press(.rightIndex)])
    let context = machine.store.makeContext(prompt: person)
    let (first, second) = (context.events, context.events)
    let watchers = [first, second].map { events in
      Task { await events.reduce(into: []) { lines, event in lines += [line(event)].compactMap(\.self) } }
    }
    try await context.evaluate(.biometrics, reason: "be seen")
    context.invalidate()
    for watcher in watchers {
      let lines: [String] = await watcher.value
      #expect(lines.filter { $0 != "touch" } == ["retry", "no match, 2 left", "matched"])
      #expect(lines.first == "touch")
    }
    #expect(await context.events.first { _ in true } == nil, "an ended context has none")
  }

  @Test("a context that is released ends its events")
  func letGo() async throws {
    let machine = try await Machine()
    let person = PersonAtPrompt(machine, [.press(.rightIndex)])
    let events = try await {
      let context = machine.store.makeContext(prompt: person)
      let events = context.events
      try await context.evaluate(.biometrics, reason: "be seen")
      return events
    }()
    let lines = await events.reduce(into: [String]()) { lines, event in lines += [line(event)].compactMap(\.self) }
    #expect(lines == ["touch", "matched"])
  }
}
