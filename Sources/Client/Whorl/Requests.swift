package import SecretModel

/// A request to an open vault.
package typealias VaultRequest<Value: ~Copyable, Problem: Error> = (any VaultService) async throws(Problem) -> Value

/// A request that may ask a person, in the context that the ``Asking`` names.
package typealias AskingRequest<Value: ~Copyable, Problem: Error> =
  (any VaultService, Asking) async throws(Problem) -> Value

/// A ``VaultRequest`` that runs on another executor than its maker.
package typealias SentVaultRequest<Value: Sendable> =
  @Sendable (any VaultService) async throws(VaultError) -> Value

/// An ``AskingRequest`` that runs on another executor than its maker.
package typealias SentAskingRequest<Value: Sendable> =
  @Sendable (any VaultService, Asking) async throws(VaultError) -> Value

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

extension RequestFailure {
  /// Runs calls of the vault, and throws their errors as errors of this type.
  static func of<Value: ~Copyable>(_ calls: () async throws(VaultError) -> Value) async throws(Self) -> Value {
    do throws(VaultError) { return try await calls() } catch { throw Self(error) }
  }

  /// Whether the items are closed: until the store's first unlock, or while the session is locked.
  package var isOfClosedItems: Bool { if case .notUnlocked? = cause { true } else { false } }

  /// Whether the vault ended during the request.
  var isOfEndedVault: Bool {
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
