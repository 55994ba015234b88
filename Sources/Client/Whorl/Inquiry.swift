package import SecretModel

/// How a program asks a person for one request: with which prompt, and what it tries before and after.
package struct Inquiry: Sendable {
  /// What a program does where a request fails because the store waits for its first unlock.
  package enum FirstUnlock: Sendable {
    /// Nothing: the request fails.
    case never
    /// The person opens the store, and then shows what the request requires.
    case apart
    /// The passcode that opens the store also counts for the request.
    case together
  }

  /// Why the program asks, in its own words.
  package var reason: String?
  /// The prompt; nil for that of the store.
  package var prompt: (any AuthenticationPrompt)?
  package var options = AuthenticationContext.Options()
  /// Whether the request is made without asking anybody first, because most requests need nobody.
  package var triesSilently = true
  /// Whether a person may be asked at all.
  package var mayAsk = true
  package var firstUnlock = FirstUnlock.never
  /// Whether the person is asked once more where the vault ends meanwhile, since that is not a refusal. The request must
  /// be one that may be made twice: a read, a signature or an unlock.
  package var repeatsWhereVaultEnds = false
  /// Told which context asks, from its opening on, and nil when it no longer asks.
  package var follow: @Sendable (AuthenticationContext?) -> Void = { _ in }

  package init(_ reason: String? = nil, prompt: (any AuthenticationPrompt)? = nil) {
    (self.reason, self.prompt) = (reason, prompt)
  }

  /// The reason for a first unlock.
  private var unlocking: String { reason.map { "unlock the store, and then \($0)" } ?? "unlock the store" }
}

extension Inquiry {
  /// Makes a request without asking anybody. Nil where a person has to show something, or to open the store, first.
  package static func withoutAsking<Value: ~Copyable, Problem: RequestFailure>(
    in store: SecretStore, _ request: AskingRequest<Value, Problem>
  ) async throws(Problem) -> Value? {
    var refusal: Problem?
    if let value = try await Inquiry().attempt(store, request, &refusal) { return value }
    if let refusal, refusal.isOfClosedItems {
      let isWaiting = try await Problem.of { () async throws(VaultError) in try await store.awaitsFirstUnlock() }
      if !isWaiting { throw refusal }
    }
    return nil
  }

  /// Makes a request for which a person may have to show something. Every program asks in this order: without asking
  /// anybody, in a context with a prompt, after the first unlock, and again where the vault has ended.
  ///
  /// - Parameter keep: takes the context after success; it never asks again. Without this the context ends.
  package func ask<Value: ~Copyable, Problem: RequestFailure>(
    in store: SecretStore, keep: ((AuthenticationContext) -> Void)? = nil, _ request: AskingRequest<Value, Problem>
  ) async throws(Problem) -> Value {
    try await repeating { () async throws(Problem) in try await askOnce(store, keep, request) }
  }

  /// Runs several calls in one context with a prompt, and again where the vault has ended.
  ///
  /// - Parameter keep: see ``ask(in:keep:_:)``.
  package func converse<Value: ~Copyable, Problem: RequestFailure>(
    in store: SecretStore, keep: ((AuthenticationContext) -> Void)? = nil,
    _ body: (AuthenticationContext) async throws(Problem) -> Value
  ) async throws(Problem) -> Value {
    try await repeating { () async throws(Problem) in try await withContext(store, keep, body) }
  }

  /// Asks for the passcode if the store needs it before anything in it can be opened.
  ///
  /// - Parameter context: the context to ask in; nil for one of its own.
  /// - Returns: whether the store had to be opened.
  @discardableResult
  package func unlockIfWaiting(_ store: SecretStore, in context: AuthenticationContext? = nil)
    async throws(VaultError) -> Bool
  {
    guard try await store.awaitsFirstUnlock() else { return false }
    if let context {
      try await store.unlock(reason: unlocking, using: context)
    } else {
      try await withContext(store, nil) { context throws(VaultError) in
        try await store.unlock(reason: unlocking, using: context)
      }
    }
    return true
  }

  private func askOnce<Value: ~Copyable, Problem: RequestFailure>(
    _ store: SecretStore, _ keep: ((AuthenticationContext) -> Void)?, _ request: AskingRequest<Value, Problem>
  ) async throws(Problem) -> Value {
    var refusal: Problem?
    if triesSilently, let value = try await attempt(store, request, &refusal) { return value }
    if let refusal, !mayAsk || refusal.isOfClosedItems && firstUnlock == .never { throw refusal }
    if refusal?.isOfClosedItems != true {
      do throws(Problem) {
        return try await withContext(store, keep) { context throws(Problem) in
          try await context.perform(reason, request)
        }
      } catch {
        guard error.isOfClosedItems, firstUnlock != .never else { throw error }
        refusal = error
      }
    }
    return try await askUnlocked(store, keep, refusal ?? Problem(.notUnlocked(.afterFirstUnlock)), request)
  }

  /// Makes a request that was refused because its items are closed, after the first unlock.
  private func askUnlocked<Value: ~Copyable, Problem: RequestFailure>(
    _ store: SecretStore, _ keep: ((AuthenticationContext) -> Void)?, _ refusal: Problem,
    _ request: AskingRequest<Value, Problem>
  ) async throws(Problem) -> Value {
    var next = self
    guard firstUnlock == .together else {
      let isOpened = try await Problem.of { () async throws(VaultError) in try await unlockIfWaiting(store)
      }
      // Otherwise the session is locked, which no passcode of this store changes.
      guard isOpened else { throw refusal }
      next.firstUnlock = .never
      return try await next.askOnce(store, keep, request)
    }
    guard try await Problem.of({ () async throws(VaultError) in try await store.awaitsFirstUnlock() }) else {
      throw refusal
    }
    next.options.keepsEvidence = true
    return try await next.withContext(store, keep) { context throws(Problem) in
      _ = try await Problem.of { () async throws(VaultError) in
        try await context.perform(unlocking, isObvious: false) { service, asking throws(VaultError) in
          try await service.evaluate(.access(AccessControl(.passcode)), asking)
        }
      }
      return try await context.perform(reason, request)
    }
  }

  /// Nil, with the refusal, where the request needs a person.
  private func attempt<Value: ~Copyable, Problem: RequestFailure>(
    _ store: SecretStore, _ request: AskingRequest<Value, Problem>, _ refusal: inout Problem?
  ) async throws(Problem) -> Value? {
    do throws(Problem) {
      return try await store.call { service throws(Problem) in
        try await request(service, Asking(in: nil, reason: reason).onBehalf)
      }
    } catch {
      guard error.cause == .interactionNotAllowed || error.isOfClosedItems else { throw error }
      refusal = error
      return nil
    }
  }

  private func withContext<Value: ~Copyable, Problem: RequestFailure>(
    _ store: SecretStore, _ keep: ((AuthenticationContext) -> Void)?,
    _ body: (AuthenticationContext) async throws(Problem) -> Value
  ) async throws(Problem) -> Value {
    let context = store.makeContext(prompt: prompt)
    context.options = options
    defer { follow(nil) }
    do throws(Problem) {
      try await Problem.of { () async throws(VaultError) in try await context.begin() }
      follow(context)
      let value = try await body(context)
      if let keep {
        context.options.interactionNotAllowed = true
        keep(context)
      } else {
        context.close()
      }
      return value
    } catch {
      context.close()
      throw error
    }
  }

  /// Runs a body, and once more where the vault ends meanwhile. A cancelled call does not ask again.
  private func repeating<Value: ~Copyable, Problem: RequestFailure>(
    _ body: () async throws(Problem) -> Value
  ) async throws(Problem) -> Value {
    do throws(Problem) {
      return try await body()
    } catch {
      guard repeatsWhereVaultEnds, error.isOfEndedVault else { throw error }
      guard !Task.isCancelled else { throw Problem(.appCancelled) }
    }
    return try await body()
  }
}
