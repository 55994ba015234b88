package import Presence
import Primitives
import Synchronization
package import Vault

/// Answers a context's questions as a person would: secrets from a list, a touch each time one is wanted.
package final class Person: Sendable {
  struct Answers {
    var passcodes: [String] = []
    var newPasscode: String?
    /// What happens before a secret that is asked for is given.
    var before: (@Sendable (SecretRequest) async throws -> Void)?
    var recoveryKey: String?
    var applicationPassword: String?
    /// The person's actions, one each time the reader is armed. After the last one the person does nothing.
    var touches: [@Sendable () async throws -> Void] = []
  }

  private let answers: Mutex<Answers>
  private let heard = Mutex<[AuthenticationEvent]>([])

  package init(
    passcodes: [String] = [], newPasscode: String? = nil, recoveryKey: String? = nil,
    applicationPassword: String? = nil, touches: [@Sendable () async throws -> Void] = [],
    before: (@Sendable (SecretRequest) async throws -> Void)? = nil
  ) {
    answers = Mutex(
      Answers(
        passcodes: passcodes, newPasscode: newPasscode, before: before, recoveryKey: recoveryKey,
        applicationPassword: applicationPassword, touches: touches))
  }

  /// All events of the context.
  package var events: [AuthenticationEvent] { heard.withLock { $0 } }

  /// Runs a call of the vault in a new context while this person answers.
  package func with<T: Sendable>(
    _ vault: Vault, _ options: ContextOptions = ContextOptions(timeout: .seconds(20)),
    _ body: @Sendable (ContextHandle) async throws -> T
  ) async throws -> T {
    let (handle, events) = try await vault.openContext(options)
    let listener = Task {
      for await numbered in events { await self.hear(numbered) { await vault.respond(handle, $0) } }
    }
    do {
      let value = try await body(handle)
      await vault.closeContext(handle)
      await listener.value
      return value
    } catch {
      await vault.closeContext(handle)
      await listener.value
      throw error
    }
  }

  /// Runs a call of a service in a new context while this person answers.
  package func with<T: Sendable>(
    _ service: any VaultService, _ options: ContextOptions = ContextOptions(timeout: .seconds(20)),
    _ body: @Sendable (ContextHandle) async throws -> T
  ) async throws -> T {
    let (handle, events) = try await service.openContext(options)
    let listener = Task {
      for await numbered in events { await self.hear(numbered) { await service.respond(handle, $0) } }
    }
    do {
      let value = try await body(handle)
      await service.closeContext(handle, reason: .program)
      await listener.value
      return value
    } catch {
      await service.closeContext(handle, reason: .program)
      await listener.value
      throw error
    }
  }

  private func hear(_ numbered: NumberedEvent, _ respond: (consuming ContextResponse) async -> Void) async {
    let event = numbered.event
    heard.withLock { $0.append(event) }
    switch event {
    case .secretWanted(let request):
      try? await answers.withLock { $0.before }?(request)
      let text = answers.withLock { answers -> String? in
        switch request {
        case .passcode: answers.passcodes.isEmpty ? nil : answers.passcodes.removeFirst()
        case .newPasscode: answers.newPasscode
        case .recoveryKey: answers.recoveryKey
        case .applicationPassword: answers.applicationPassword
        }
      }
      if let text {
        await respond(.secret(question: numbered.number, SecretBytes(text: text)))
      } else {
        await respond(.decline(question: numbered.number))
      }
    case .touchWanted(let request):
      if request.awaitsPrompt {
        await respond(.ready(question: numbered.number))
        // After this the reader itself reports when the finger is wanted.
        if case .enroll = request.purpose { return }
      }
      let touch = answers.withLock { $0.touches.isEmpty ? nil : $0.touches.removeFirst() }
      try? await touch?()
    default: break
    }
  }
}

extension Vault {
  /// Ends every context, and the reader process of a vault that shares its desk with no other.
  package func shutdown() async {
    endContexts()
    await desk.shutdown()
  }

  /// Stores a secret.
  package func put(
    _ name: String, _ secret: String, _ constraint: AccessControl.Constraint = .none,
    accessibility: Accessibility = .whenUnlocked, replace: Bool = false, by person: Person = Person()
  ) async throws {
    let name = try ItemName(parsing: name)
    _ = try await person.with(self) { handle in
      try await self.add(
        NewItem(named: name, access: AccessControl(constraint), accessibility: accessibility),
        secret: SecretBytes(text: secret), replacing: replace, in: handle)
    }
  }

  /// Releases the command line's items with these names.
  package func read(_ names: [ItemName], reason: String?, in handle: ContextHandle)
    async throws(VaultError) -> [ReleasedItem]
  {
    var ids: [ItemID] = []
    for name in names {
      guard let item = try items(ItemSearch(named: name)).first else { throw .itemGone }
      switch item.state {
      case .living: ids.append(item.id)
      case .dead: throw .itemInvalidated(name)
      case .damaged: throw .itemDamaged(name)
      }
    }
    return try await secrets(of: ids, reason: reason, in: handle)
  }

  /// Stores a password whose service and secret are its name.
  package func add(_ name: String, _ flags: AccessControl.Flags) async throws -> ItemID {
    try await add(
      NewItem(.genericPassword, [.service: .text(name)], access: AccessControl(flags)),
      secret: SecretBytes(text: name), in: nil
    ).id
  }

  /// Reads one secret while the person answers.
  package func get(
    _ name: String, _ options: ContextOptions = ContextOptions(timeout: .seconds(20)), by person: Person = Person()
  )
    async throws -> String
  {
    let name = try ItemName(parsing: name)
    return try await person.with(self, options) { handle in
      try await self.read([name], reason: nil, in: handle)
    }[0].text
  }
}

extension Vault {
  /// Accepts a detected restore, answered by this person. Does nothing where there is none.
  @discardableResult
  package func acceptRestore(by person: Person) async throws -> [ItemName] {
    guard let restore = try detectedRestore() else { return [] }
    return try await person.with(self) { try await self.acceptRestore(restore.id, in: $0) }
  }
}

extension ContextOptions {
  /// Options of a context whose later calls reuse what was shown.
  package static func keepingEvidence(_ fallback: Fallback) -> ContextOptions {
    var options = ContextOptions(timeout: .seconds(20))
    options.keepsEvidence = true
    options.fallback = fallback
    return options
  }
}
