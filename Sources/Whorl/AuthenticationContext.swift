public import SecureMemory
public import Vault

/// Which proof a policy wants: LocalAuthentication's two.
public enum AuthenticationPolicy: Int, Sendable {
  /// A finger; no passcode in its place.
  case biometrics = 1
  /// A finger, or the passcode.
  case deviceOwner = 2
}

/// What an access control is evaluated for.
public enum AccessControlOperation: Int, Sendable { case createItem, useItem, createKey, useKeySign, useKeyDecrypt, useKeyKeyExchange }

/// An authentication context in the vault: what it has been satisfied with serves later calls, until it is invalidated, the set changes, or its store goes away.
public final class AuthenticationContext: Sendable {
  public struct Options: Sendable, Hashable {
    /// Nothing may be asked of the person.
    public var interactionNotAllowed = false
    /// A match by the same user this recently is accepted in place of a touch; zero by default, 300 s at most.
    public var reuseDuration: Duration = .zero
    /// How long a touch is waited for.
    public var timeout: Duration? = .seconds(60)
    /// The words on the fallback; nil for the usual ones; empty hides it. With policy `biometrics` choosing it throws userFallback; with deviceOwner it goes on to the passcode.
    public var fallbackTitle: String?
    public var cancelTitle: String?
    public init() {}
  }
  /// Takes effect at the next call.
  public var options: Options { get { fatalError() } set { fatalError() } }

  /// Throws what keeps the policy from being evaluated: notEnrolled, biometryLockout, reader(…), passcodeNotSet, contextInvalidated. Touches no reader beyond listing it.
  public func canEvaluate(_ policy: AuthenticationPolicy) async throws(VaultError) { fatalError() }
  /// authenticationFailed, cancelled (by the person), userFallback, appCancelled (invalidate in the middle), systemCancelled, interactionNotAllowed, ...
  public func evaluate(_ policy: AuthenticationPolicy, reason: String) async throws(VaultError) { fatalError() }
  public func evaluate(_ access: AccessControl, for operation: AccessControlOperation, reason: String) async throws(VaultError) { fatalError() }
  /// Ends a running evaluation with appCancelled; every later call throws contextInvalidated. Returns at once.
  public func invalidate() { fatalError() }
  /// An application password used in place of asking; nil takes it away.
  public func setApplicationPassword(_ password: consuming SecretBytes?) { fatalError() }
  public var isApplicationPasswordSet: Bool { fatalError() }
}

/// Shows what an authentication waits for and answers what it asks. One instance may serve several sessions at once.
public protocol AuthenticationPrompt: Sendable {
  /// Called in order, on no particular thread; it may take its time for secrets, the scan goes on meanwhile.
  func handle(_ event: AuthenticationEvent, in session: PromptSession) async
}

/// What whoever shows a prompt may do: nothing here turns into a key.
public struct PromptSession: Sendable {
  public let reason: String?
  public let fallbackTitle: String?
  public let cancelTitle: String?
  /// The person cancelled.
  public func cancel() async { fatalError() }
  /// The person chose the fallback (the passcode, or under `biometrics` the program's own).
  public func chooseFallback() async { fatalError() }
  /// Answers the last `secretWanted`.
  public func answer(_ secret: consuming SecretBytes) async { fatalError() }
  /// No answer can be given.
  public func decline() async { fatalError() }
}
// events: see Sources/Vault/Model/AuthenticationEvent.swift, which becomes public: touchWanted(TouchRequest) (request.passcodeInstead says whether the fallback may be shown now),
// fingerPresent, retry(RetryReason), noMatch(remaining:), matched, fingerUnavailable, secretWanted(.passcode(attempt:)/.applicationPassword), notice
