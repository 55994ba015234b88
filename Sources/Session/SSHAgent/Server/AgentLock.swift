package import Glibc
internal import Keys
package import Primitives
internal import Synchronization

/// The lock of the agent (`ssh-add -x`): a locked agent lists no key and signs nothing. It is unlocked by the right
/// password, or by a restart.
package final class AgentLock: Sendable {
  /// A salted hash of a password.
  private struct Password {
    /// The base-2 logarithm of scrypt's cost, for 16 MiB and less than a tenth of a second.
    private static let cost = 14

    private let salt: [UInt8]
    private let hash: SharedSecret

    init(_ password: SharedSecret) throws(KeysError) {
      salt = try Random.bytes(Scrypt.saltCount)
      hash = SharedSecret(try Scrypt.derive(passphrase: password.bytes, salt: salt, logN: Self.cost))
    }

    /// Also false if the hash cannot be computed.
    func equals(_ other: SharedSecret) -> Bool {
      guard let derived = try? Scrypt.derive(passphrase: other.bytes, salt: salt, logN: Self.cost) else { return false }
      return hash.bytes.constantTimeEquals(derived)
    }
  }

  private struct State {
    /// Nil while the agent is not locked.
    var password: Password?
    /// The number of wrong passwords since the agent was locked.
    var failures = 0
    /// Closures that cancel the running signatures, of this agent and the other one.
    var signatures: [UInt64: @Sendable () -> Void] = [:]
    var lastNumber: UInt64 = 0
  }

  /// As in OpenSSH, each wrong password delays its answer by another tenth of a second, up to 10 seconds.
  private static let mostCounted = 100

  private let wait: @Sendable (Duration) -> Void
  private let state = Mutex(State())
  /// One try runs at a time. Processes take turns, so that a guesser with many connections does not delay another
  /// process's right password.
  package let tries = FairQueue<pid_t>()

  /// - Parameter wait: blocks for a time; tests do not wait.
  package init(wait: @escaping @Sendable (Duration) -> Void = AgentLock.sleep) { self.wait = wait }

  package static func sleep(_ time: Duration) {
    usleep(useconds_t(time.components.seconds * 1_000_000 + time.components.attoseconds / 1_000_000_000_000))
  }

  package var isLocked: Bool { state.withLock { $0.password != nil } }

  /// Locks the agent and cancels running signatures. False if it is locked already or the password is empty. Blocks its
  /// thread.
  package func lock(with password: SharedSecret, by process: pid_t) async -> Bool {
    guard let turn = try? await tries.turn(for: process) else { return false }
    let isDone = lock(with: password)
    _ = consume turn
    return isDone
  }

  private func lock(with password: SharedSecret) -> Bool {
    guard password.bytes.count > 0, !isLocked, let kept = try? Password(password) else { return false }
    let signatures = state.withLock { state in
      defer { state.signatures = [:] }
      (state.password, state.failures) = (kept, 0)
      return state.signatures.values
    }
    for cancel in signatures { cancel() }
    return true
  }

  /// Unlocks the agent. False if it is not locked or the password is wrong. Blocks its thread.
  package func unlock(with password: SharedSecret, by process: pid_t) async -> Bool {
    guard let turn = try? await tries.turn(for: process) else { return false }
    let isDone = unlock(with: password)
    _ = consume turn
    return isDone
  }

  private func unlock(with password: SharedSecret) -> Bool {
    guard let kept = state.withLock({ $0.password }) else { return false }
    guard kept.equals(password) else {
      let failures = state.withLock { state in
        state.failures = min(state.failures + 1, Self.mostCounted)
        return state.failures
      }
      wait(.milliseconds(100 * failures))
      return false
    }
    state.withLock { $0.password = nil }
    return true
  }

  /// Registers a running signature, of this agent or the other one. Nil if the agent is locked.
  ///
  /// - Parameter cancel: called when the agent is locked.
  func begin(_ cancel: @escaping @Sendable () -> Void) -> UInt64? {
    state.withLock { state in
      guard state.password == nil else { return nil }
      state.lastNumber += 1
      state.signatures[state.lastNumber] = cancel
      return state.lastNumber
    }
  }

  /// Ends the registration. False if the agent was locked meanwhile; the signature must then be discarded.
  func end(_ number: UInt64) -> Bool { state.withLock { $0.signatures.removeValue(forKey: number) != nil } }
}
