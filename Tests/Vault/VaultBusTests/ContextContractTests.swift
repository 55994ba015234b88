import Primitives
import SecretModel
import Testing
import VaultDriver

/// The contract of calls that ask a person, wherever the vault is.
@Suite("A context of a vault, in process and over a socket")
struct ContextContractTests {
  private static let options = ContextOptions(timeout: .seconds(20))

  /// Waits for the next question of a context, and gives its number.
  private func question(_ events: ContextEvents) async -> Int? {
    for await event in events { if case .secretWanted = event.event { return event.number } }
    return nil
  }

  @Test("a vault's context sends a call's events before its answer, and none after its close", arguments: Way.allCases)
  func order(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    let (handle, events) = try await open.vault.openContext(Self.options)
    #expect(events.lastNumber == 0)
    let numbers = Task {
      var numbers: [Int] = []
      for await event in events {
        numbers.append(event.number)
        guard case .secretWanted(.passcode(let attempt)) = event.event else { continue }
        let text = attempt == 1 ? "wrong" : ScratchStore.passcode
        await open.vault.respond(handle, .secret(question: event.number, SecretBytes(text: text)))
      }
      return numbers
    }
    try await open.vault.unlock(Asking(in: handle))
    let last = events.lastNumber
    #expect(last >= 2)
    await open.vault.closeContext(handle, reason: .program)
    #expect(await numbers.value == Array(1...last))
    await #expect(throws: VaultError.contextInvalidated) { try await open.vault.unlock(Asking(in: handle)) }
    await open.connection.close()
  }

  @Test("a vault serves other calls while a call in a context waits for a person", arguments: Way.allCases)
  func concurrency(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    let (handle, events) = try await open.vault.openContext(Self.options)
    let waiting = Task { try await open.vault.unlock(Asking(in: handle)) }
    let question = try #require(await question(events))
    #expect(try await open.vault.status().items == 0)
    let (another, _) = try await open.vault.openContext(Self.options)
    await open.vault.respond(another, .cancel)
    await open.vault.respond(handle, .decline(question: question + 1_000))
    await open.vault.closeContext(another, reason: .program)
    await open.vault.respond(handle, .secret(question: question, SecretBytes(text: ScratchStore.passcode)))
    try await waiting.value
    await open.connection.close()
  }

  @Test("closing a vault's context ends its running call with the error of the closing side", arguments: Way.allCases)
  func closing(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    for (reason, error): (ContextEnd, VaultError) in [
      (.person, .cancelled), (.program, .appCancelled), (.system, .systemCancelled),
    ] {
      let (handle, events) = try await open.vault.openContext(Self.options)
      let waiting = Task { try await open.vault.unlock(Asking(in: handle)) }
      _ = await question(events)
      await open.vault.closeContext(handle, reason: reason)
      await #expect(throws: error) { try await waiting.value }
    }
    await open.connection.close()
  }

  @Test("a vault's context ends a call that the person cancels, and serves the next call", arguments: Way.allCases)
  func cancelling(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    let (handle, events) = try await open.vault.openContext(Self.options)
    let waiting = Task { try await open.vault.unlock(Asking(in: handle)) }
    _ = await question(events)
    await open.vault.respond(handle, .cancel)
    await #expect(throws: VaultError.cancelled) { try await waiting.value }
    let next = Task { try await open.vault.unlock(Asking(in: handle)) }
    let asked = try #require(await question(events))
    await open.vault.respond(handle, .secret(question: asked, SecretBytes(text: ScratchStore.passcode)))
    try await next.value
    await open.connection.close()
  }

  @Test("a vault's context ends a call whose task is cancelled", arguments: Way.allCases)
  func taskCancellation(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    let (handle, events) = try await open.vault.openContext(Self.options)
    let waiting = Task { try await open.vault.unlock(Asking(in: handle)) }
    _ = await question(events)
    waiting.cancel()
    await #expect(throws: VaultError.cancelled) { try await waiting.value }
    await open.connection.close()
  }

  @Test("a vault's context is closed also by a cancelled task", arguments: Way.allCases)
  func closedByCancelledTask(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    let (handle, events) = try await open.vault.openContext(Self.options)
    let closing = Task {
      try? await Task.sleep(for: .seconds(60))
      await open.vault.closeContext(handle, reason: .program)
    }
    closing.cancel()
    await closing.value
    for await _ in events {}
    await #expect(throws: VaultError.contextInvalidated) { try await open.vault.unlock(Asking(in: handle)) }
    await open.connection.close()
  }

  @Test("a vault's context is refused on another connection, and not affected by calls there", arguments: Way.allCases)
  func foreignHandles(_ way: Way) async throws {
    let (open, other) = (try await OpenScratch(way), try await OpenScratch(way))
    let (handle, events) = try await open.vault.openContext(Self.options)
    let waiting = Task { try await open.vault.unlock(Asking(in: handle)) }
    let question = try #require(await question(events))
    await #expect(throws: VaultError.contextInvalidated) { try await other.vault.unlock(Asking(in: handle)) }
    await #expect(throws: VaultError.contextInvalidated) {
      _ = try await other.vault.items(ItemSearch(), Asking(in: handle))
    }
    await other.vault.respond(handle, .cancel)
    await other.vault.closeContext(handle, reason: .person)
    await open.vault.respond(handle, .secret(question: question, SecretBytes(text: ScratchStore.passcode)))
    try await waiting.value
    await open.connection.close()
    await other.connection.close()
  }

  @Test("a vault's context and its running call end with the connection", arguments: Way.allCases)
  func lostConnection(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    let (handle, events) = try await open.vault.openContext(Self.options)
    // Reading an item that needs the passcode changes nothing.
    let item = try await open.vault.add(
      NewItem(.genericPassword, [.service: .text("p")], access: AccessControl(.passcode)),
      secret: SecretBytes(text: "x"), replacing: false, .nobody)
    let waiting = Task { try await open.vault.secrets(.ids([item.id]), Asking(in: handle)).map(\.text) }
    _ = await question(events)
    await open.connection.close()
    await #expect(throws: VaultError.systemCancelled) { _ = try await waiting.value }
    #expect(await question(events) == nil)
    await #expect(throws: VaultError.contextInvalidated) {
      _ = try await open.vault.secrets(.ids([item.id]), Asking(in: handle))
    }
  }

  @Test("a vault's context uses a given application password until the password is taken away", arguments: Way.allCases)
  func applicationPassword(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    let (handle, _) = try await open.vault.openContext(ContextOptions(interactionNotAllowed: true))
    await open.vault.setApplicationPassword(SecretBytes(text: "open sesame"), of: handle)
    let item = try await open.vault.add(
      NewItem(.genericPassword, [.service: .text("a")], access: AccessControl(.none, applicationPassword: true)),
      secret: SecretBytes(text: "x"), replacing: false, Asking(in: handle))
    #expect(try await open.vault.secrets(.ids([item.id]), Asking(in: handle))[0].text == "x")
    await open.vault.setApplicationPassword(nil, of: handle)
    await #expect(throws: VaultError.interactionNotAllowed) {
      _ = try await open.vault.secrets(.ids([item.id]), Asking(in: handle))
    }
    await open.connection.close()
  }
}
