internal import SDBus
internal import SecretModel
internal import Synchronization
internal import Whorl

/// The store that all clients of the agent use, over one connection to the vault: the vault limits the connections of a
/// process. It is opened when it is first needed, and closed after a time in which no client needed it.
final class AgentStore: Sendable {
  private struct State {
    var store: SecretStore?
    var users = 0
    /// Counts the uses, so that the timer of an earlier pause closes nothing.
    var lastUse: UInt64 = 0
  }

  private let open: @Sendable () throws(VaultError) -> SecretStore
  private let unusedTime: Duration
  private let state = Mutex(State())

  /// - Parameter unusedTime: how long it stays open without a use.
  init(unusedTime: Duration, _ open: @escaping @Sendable () throws(VaultError) -> SecretStore) {
    (self.unusedTime, self.open) = (unusedTime, open)
  }

  /// A use of the store, until the last reference is released.
  final class Use: Sendable {
    let store: SecretStore
    private let owner: AgentStore

    fileprivate init(_ store: SecretStore, of owner: AgentStore) { (self.store, self.owner) = (store, owner) }

    deinit { owner.end() }
  }

  func use() throws(VaultError) -> Use {
    let store = try state.withLock { state throws(VaultError) in
      let store = if let store = state.store { store } else { try open() }
      state.store = store
      state.users += 1
      state.lastUse += 1
      return store
    }
    return Use(store, of: self)
  }

  private func end() {
    let pause: UInt64? = state.withLock { state in
      state.users -= 1
      return state.users == 0 ? state.lastUse : nil
    }
    guard let pause else { return }
    _ = LoopTimer(after: unusedTime) { [weak self] in
      self?.state.withLock { state in
        if state.users == 0, state.lastUse == pause { state.store = nil }
      }
    }
  }
}
