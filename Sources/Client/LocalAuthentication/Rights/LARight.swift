internal import Executors
public import KeychainServices
internal import SecretModel
internal import Synchronization

/// Protects a part of a program: the user must authenticate before it may be used (LARight.h, macOS 13).
///
/// An authorization ends with ``deauthorize()``, or when the right is released, the enrolled fingers change, the
/// connection to the vault ends, or the store or the session is locked, even if it is unlocked again before the next
/// use. The vault reports all of these, except a finger that another program enrols in fprintd: that is noticed when
/// the vault next reads fprintd's fingers, as for each use of the right.
open class LARight: NSObject {
  /// Whether the right is authorized. The values are Apple's.
  @nonexhaustive(warn)
  public enum State: Int, Sendable {
    /// It was never authorized.
    case unknown = 0
    /// The person is being asked.
    case authorizing = 1
    /// The person has given the proof that the right requires.
    case authorized = 2
    /// It was refused, or has ended.
    case notAuthorized = 3
  }

  let authorization: RightAuthorization
  private let number = Mutex(0)

  /// A right that requires a finger or the passcode.
  public override convenience init() { self.init(requirement: .default) }

  /// A right with a requirement.
  public init(requirement: LAAuthenticationRequirement) {
    authorization = RightAuthorization(requirement.access)
  }

  init(_ authorization: RightAuthorization) { self.authorization = authorization }

  // A running call may keep the authorization object alive for a moment.
  deinit { authorization.deauthorize() }

  /// Whether the right is authorized now. Queries the vault, which takes a moment, without a prompt.
  open var state: State {
    let authorization = authorization
    let phase: Result<RightAuthorization.Phase, Never> = blocking { await authorization.currentPhase() }
    return State(rawValue: phase.get().rawValue) ?? .unknown
  }

  /// A number for the program's own use. It is not saved.
  open var tag: Int {
    get { number.withLock { $0 } }
    set { number.withLock { $0 = newValue } }
  }

  /// Asks the person for what the right requires, unless it is authorized.
  ///
  /// - Parameters:
  ///   - localizedReason: the reason, for the person; must not be empty.
  ///   - handler: called once, with nil or an ``LAError``.
  @preconcurrency
  open func authorize(localizedReason: String, completion handler: @escaping @Sendable ((any Error)?) -> Void) {
    answer(handler) { authorization throws(VaultError) in try await authorization.authorize(localizedReason) }
  }

  /// Asks the person for what the right requires, or throws an ``LAError``.
  open func authorize(localizedReason: String) async throws {
    try await outcome(of: { authorize(localizedReason: localizedReason, completion: $0) })
  }

  /// Whether the right could be authorized now. Shows no prompt.
  ///
  /// - Parameter handler: called once, with nil or why not.
  @preconcurrency
  open func checkCanAuthorize(completion handler: @escaping @Sendable ((any Error)?) -> Void) {
    answer(handler) { authorization throws(VaultError) in try await authorization.check() }
  }

  /// Throws if the right could not be authorized now. Shows no prompt.
  open func checkCanAuthorize() async throws { try await outcome(of: { checkCanAuthorize(completion: $0) }) }

  /// Ends the authorization, and a running ``authorize(localizedReason:)`` with `appCancel`.
  @preconcurrency
  open func deauthorize(completion handler: @escaping @Sendable () -> Void) {
    authorization.deauthorize()
    reply { handler() }
  }

  /// Ends the authorization, and a running ``authorize(localizedReason:)`` with `appCancel`.
  open func deauthorize() async { authorization.deauthorize() }

  private func answer(
    _ handler: @escaping @Sendable ((any Error)?) -> Void,
    _ call: @escaping @Sendable (RightAuthorization) async throws(VaultError) -> Void
  ) {
    // Do not capture the right itself, so that it can be released meanwhile.
    Task(executorPreference: BackgroundThread.shared) { [authorization] in
      do throws(VaultError) {
        try await call(authorization)
        reply { handler(nil) }
      } catch {
        reply { handler(error.rightError) }
      }
    }
  }
}

// Unchecked: its variables are protected by locks. As with `LAContext`, older language modes do not see it.
@available(swift, introduced: 6)
extension LARight: @unchecked Sendable {}

/// Waits for a completion handler that gets an error or nil.
func outcome(of call: (@escaping @Sendable ((any Error)?) -> Void) -> Void) async throws {
  try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
    call { error in
      if let error { continuation.resume(throwing: error) } else { continuation.resume() }
    }
  }
}
