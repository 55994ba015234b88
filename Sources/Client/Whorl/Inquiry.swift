package import SecretModel

/// A request to an open vault.
package typealias VaultRequest<Value: ~Copyable, Problem: Error> = (any VaultService) async throws(Problem) -> Value

/// A request that may ask a person, in the context that the ``Asking`` names.
package typealias AskingRequest<Value: ~Copyable, Problem: Error> =
  (any VaultService, Asking) async throws(Problem) -> Value

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
  fileprivate var unlocking: String { reason.map { "unlock the store, and then \($0)" } ?? "unlock the store" }
}

/// An error with which a request ends: the vault's own, or what a program makes of it.
package protocol RequestFailure: Error {
  init(_ error: VaultError)
  /// The vault's error; nil for a problem of the program.
  var cause: VaultError? { get }
}

extension VaultError: RequestFailure {
  package init(_ error: VaultError) { self = error }
  package var cause: VaultError? { self }
}

extension SecretStore {
  /// Makes a request that asks nobody.
  package func call<Value: ~Copyable, Problem: RequestFailure>(
    _ request: VaultRequest<Value, Problem>
  ) async throws(Problem) -> Value { try await link.call(request) }

  /// Makes a request without asking anybody. Nil where a person has to show something, or to open the store, first.
  package func withoutAsking<Value: ~Copyable, Problem: RequestFailure>(
    _ request: AskingRequest<Value, Problem>
  ) async throws(Problem) -> Value? {
    var refusal: Problem?
    if let value = try await attempt(request, nil, &refusal) { return value }
    if let refusal, refusal.isOfClosedItems {
      let isWaiting = try await Problem.of { () async throws(VaultError) in try await awaitsFirstUnlock() }
      if !isWaiting { throw refusal }
    }
    return nil
  }

  /// Makes a request for which a person may have to show something. Every program asks in this order: without asking
  /// anybody, in a context with a prompt, after the first unlock, and again where the vault has ended.
  ///
  /// - Parameter keep: takes the context after success; it never asks again. Without this the context ends.
  package func ask<Value: ~Copyable, Problem: RequestFailure>(
    _ inquiry: Inquiry, keep: ((AuthenticationContext) -> Void)? = nil, _ request: AskingRequest<Value, Problem>
  ) async throws(Problem) -> Value {
    try await repeating(inquiry) { () async throws(Problem) in try await askOnce(inquiry, keep, request) }
  }

  /// Runs several calls in one context with a prompt, and again where the vault has ended.
  ///
  /// - Parameter keep: see ``ask(_:keep:_:)``.
  package func converse<Value: ~Copyable, Problem: RequestFailure>(
    _ inquiry: Inquiry, keep: ((AuthenticationContext) -> Void)? = nil,
    _ body: (AuthenticationContext) async throws(Problem) -> Value
  ) async throws(Problem) -> Value {
    try await repeating(inquiry) { () async throws(Problem) in try await withContext(inquiry, keep, body) }
  }

  /// Asks for the passcode if the store needs it before anything in it can be opened.
  ///
  /// - Parameter context: the context to ask in; nil for one of its own.
  /// - Returns: whether the store had to be opened.
  @discardableResult
  package func unlockIfWaiting(_ inquiry: Inquiry, in context: AuthenticationContext? = nil)
    async throws(VaultError) -> Bool
  {
    guard try await awaitsFirstUnlock() else { return false }
    if let context {
      try await unlock(reason: inquiry.unlocking, using: context)
    } else {
      try await withContext(inquiry, nil) { context throws(VaultError) in
        try await unlock(reason: inquiry.unlocking, using: context)
      }
    }
    return true
  }

  private func askOnce<Value: ~Copyable, Problem: RequestFailure>(
    _ inquiry: Inquiry, _ keep: ((AuthenticationContext) -> Void)?, _ request: AskingRequest<Value, Problem>
  ) async throws(Problem) -> Value {
    var refusal: Problem?
    if inquiry.triesSilently, let value = try await attempt(request, inquiry.reason, &refusal) { return value }
    if let refusal, !inquiry.mayAsk || refusal.isOfClosedItems && inquiry.firstUnlock == .never { throw refusal }
    if refusal?.isOfClosedItems != true {
      do throws(Problem) {
        return try await withContext(inquiry, keep) { context throws(Problem) in
          try await context.perform(inquiry.reason, request)
        }
      } catch {
        guard error.isOfClosedItems, inquiry.firstUnlock != .never else { throw error }
        refusal = error
      }
    }
    return try await askUnlocked(inquiry, keep, refusal ?? Problem(.notUnlocked(.afterFirstUnlock)), request)
  }

  /// Makes a request that was refused because its items are closed, after the first unlock.
  private func askUnlocked<Value: ~Copyable, Problem: RequestFailure>(
    _ inquiry: Inquiry, _ keep: ((AuthenticationContext) -> Void)?, _ refusal: Problem,
    _ request: AskingRequest<Value, Problem>
  ) async throws(Problem) -> Value {
    var inquiry = inquiry
    guard inquiry.firstUnlock == .together else {
      let isOpened = try await Problem.of { [inquiry] () async throws(VaultError) in try await unlockIfWaiting(inquiry)
      }
      // Otherwise the session is locked, which no passcode of this store changes.
      guard isOpened else { throw refusal }
      inquiry.firstUnlock = .never
      return try await askOnce(inquiry, keep, request)
    }
    guard try await Problem.of({ () async throws(VaultError) in try await awaitsFirstUnlock() }) else { throw refusal }
    inquiry.options.keepsEvidence = true
    let unlocking = inquiry.unlocking
    return try await withContext(inquiry, keep) { context throws(Problem) in
      _ = try await Problem.of { () async throws(VaultError) in
        try await context.perform(unlocking, isObvious: false) { service, asking throws(VaultError) in
          try await service.evaluate(.access(AccessControl(.passcode)), asking)
        }
      }
      return try await context.perform(inquiry.reason, request)
    }
  }

  /// Nil, with the refusal, where the request needs a person.
  private func attempt<Value: ~Copyable, Problem: RequestFailure>(
    _ request: AskingRequest<Value, Problem>, _ reason: String?, _ refusal: inout Problem?
  ) async throws(Problem) -> Value? {
    do throws(Problem) {
      return try await link.call { service throws(Problem) in
        try await request(service, Asking(in: nil, reason: reason).onBehalf)
      }
    } catch {
      guard error.cause == .interactionNotAllowed || error.isOfClosedItems else { throw error }
      refusal = error
      return nil
    }
  }

  private func withContext<Value: ~Copyable, Problem: RequestFailure>(
    _ inquiry: Inquiry, _ keep: ((AuthenticationContext) -> Void)?,
    _ body: (AuthenticationContext) async throws(Problem) -> Value
  ) async throws(Problem) -> Value {
    let context = makeContext(prompt: inquiry.prompt)
    context.options = inquiry.options
    defer { inquiry.follow(nil) }
    do throws(Problem) {
      try await Problem.of { () async throws(VaultError) in try await context.begin() }
      inquiry.follow(context)
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
    _ inquiry: Inquiry, _ body: () async throws(Problem) -> Value
  ) async throws(Problem) -> Value {
    do throws(Problem) {
      return try await body()
    } catch {
      guard inquiry.repeatsWhereVaultEnds, error.isOfEndedVault else { throw error }
      guard !Task.isCancelled else { throw Problem(.appCancelled) }
    }
    return try await body()
  }
}

extension RequestFailure {
  /// Runs calls of the vault, and throws their errors as errors of this type.
  static func of<Value: ~Copyable>(_ calls: () async throws(VaultError) -> Value) async throws(Self) -> Value {
    do throws(VaultError) { return try await calls() } catch { throw Self(error) }
  }

  /// Whether the items are closed: until the store's first unlock, or while the session is locked.
  package var isOfClosedItems: Bool { if case .notUnlocked? = cause { true } else { false } }

  /// Whether the vault ended during the request.
  fileprivate var isOfEndedVault: Bool {
    switch cause {
    case .systemCancelled?, .contextInvalidated?, .outcomeUnknown?: true
    default: false
    }
  }
}

/// The program for which this one makes its calls, for the log of the vault. It is a value of the task, so that no call of
/// a task that serves another program can lack it.
package enum Principal {
  /// Its name for people; nil where this program asks for itself.
  @TaskLocal package static var program: String?
}

extension Asking {
  /// The same, on behalf of the program that this task serves.
  var onBehalf: Asking {
    var asking = self
    asking.behalf = Principal.program
    return asking
  }
}
