internal import Executors
internal import KeychainServices
internal import SecretModel
internal import Synchronization
internal import Whorl

/// Whether a right is authorized, and the context that holds the proof. Only the right owns it, so that the proof is
/// released with the right.
final class RightAuthorization: Sendable {
  enum Phase: Int {
    case unknown = 0
    case authorizing = 1
    case authorized = 2
    case notAuthorized = 3
  }

  private struct State {
    var phase = Phase.unknown
    var context: AuthenticationContext?
    /// The enrolled fingers when the right was authorized.
    var fingers: [UInt8]?
    /// The enrolled fingers to which a right that is not saved is bound, from its first use on.
    var bound: [UInt8]?
    /// How often the store or the session was locked before the right was authorized.
    var locks = 0
    /// Checks the authorization when the vault reports a change.
    var listening: StoreChanges.Listening?
  }

  let access: AccessControl
  /// The key of a saved right.
  let item: ItemID?
  private let state = Mutex(State())

  init(_ access: AccessControl, item: ItemID? = nil) {
    self.access = access
    self.item = item
  }

  /// Throws if the requirement could not be satisfied now. Shows no prompt.
  @discardableResult
  func check() async throws(VaultError) -> Biometry {
    let store = try SecretStore.shared()
    if let item {
      let found = try await store.items(ItemSearch(ids: [item], synchronizable: .any, states: [.living, .dead]))
      guard let found = found.first else { throw .itemGone }
      // The fingers or the passcode that it was bound to are gone.
      guard found.state == .living else { throw .notEnrolled }
    }
    let biometry = try await store.biometry()
    if item == nil, access.flags.contains(.biometryCurrentSet), let current = biometry.state {
      let bound = state.withLock { state in
        state.bound = state.bound ?? current
        return state.bound
      }
      guard bound == current else { throw .notEnrolled }
    }
    let takesPasscode = !access.flags.isDisjoint(with: [.userPresence, .devicePasscode])
    if let problem = biometry.problem(for: takesPasscode ? .deviceOwner : .biometrics) { throw problem }
    return biometry
  }

  /// Authenticates the user, unless the right is authorized already.
  func authorize(_ reason: String) async throws(VaultError) {
    guard reason.contains(where: { !$0.isWhitespace }) else {
      throw .invalidRequest("an authorization needs a reason to show")
    }
    await confirm()
    let store = try SecretStore.shared()
    let made = store.makeContext()
    let context = state.withLock { state in
      let context = state.context ?? made
      if state.phase != .authorized { state.phase = .authorizing }
      state.context = context
      return context
    }
    do throws(VaultError) {
      // Read first, so that later changes are noticed.
      let surroundings = try await context.surroundings()
      let biometry = try await check()
      context.options.interactionNotAllowed = false
      _ = try await context.evaluate(.access(access), reason: reason)
      // From now on the context must not prompt.
      context.options.interactionNotAllowed = true
      let kept = state.withLock { state in
        guard state.context === context else { return false }
        (state.phase, state.fingers, state.locks) = (.authorized, biometry.state, surroundings.locks)
        state.listening = state.listening ?? store.changes.listen { [weak self] in await self?.confirm() }
        return true
      }
      guard kept else { throw .appCancelled }
      // The session may have been locked since the person was asked.
      await confirm()
    } catch {
      end(context)
      throw error
    }
  }

  /// Ends the authorization. A running call throws `appCancelled`.
  func deauthorize() { end(nil) }

  /// The phase, after checking with the vault that an authorization is still valid.
  func currentPhase() async -> Phase {
    await confirm()
    return state.withLock { $0.phase }
  }

  /// The context of an authorized right, which does not prompt. Checks that store and session were not locked since.
  ///
  /// - Throws: `interactionNotAllowed` if the right is not authorized.
  func provenContext() async throws(VaultError) -> AuthenticationContext {
    let (context, locks) = state.withLock { ($0.phase == .authorized ? $0.context : nil, $0.locks) }
    guard let context else { throw .interactionNotAllowed }
    guard try await context.surroundings().locks == locks else { throw .interactionNotAllowed }
    return context
  }

  /// Ends the authorization; if a context is given, only if it is still the current one.
  func end(_ context: AuthenticationContext?) {
    let ended = state.withLock { state -> AuthenticationContext? in
      if let context, state.context !== context { return nil }
      let ended = state.context
      (state.phase, state.context, state.fingers, state.listening) = (.notAuthorized, nil, nil, nil)
      return ended
    }
    ended?.invalidate()
  }

  /// Ends an authorization that is no longer valid: the fingers have changed, the connection has ended, the store or
  /// the session is locked, or the right was removed.
  private func confirm() async {
    let (context, fingers, locks) = state.withLock { state in
      (state.phase == .authorized ? state.context : nil, state.fingers, state.locks)
    }
    guard let context else { return }
    do throws(VaultError) {
      let store = try SecretStore.shared()
      // Searches over the context's own connection, and fails if the item would need a prompt.
      var search = ItemSearch(ids: item.map { [$0] } ?? [], synchronizable: .any)
      search.interaction = .fail
      let found = try await store.items(search, using: context)
      guard item == nil || !found.isEmpty, try await context.surroundings().locks == locks,
        try await store.isUnlocked(), try await context.biometry().state == fingers
      else { return end(context) }
    } catch {
      end(context)
    }
  }
}
