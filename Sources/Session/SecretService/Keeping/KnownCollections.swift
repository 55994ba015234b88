internal import SDBus
internal import SecretModel
internal import Synchronization

/// The list of collections, for a short time after it was read. Only names and labels are taken from it: whether an item has a
/// rule is always read from the vault.
///
/// The service forgets it at each change of its own. Another program, such as `whorl secret-service`, may change the list
/// meanwhile.
final class KnownCollections: Sendable {
  /// How long it is known, in microseconds.
  private static let age: UInt64 = 2_000_000

  private struct State {
    var collections: [SecretServiceFolder]?
    var until: UInt64 = 0
    /// Grows with each change of the service's own.
    var version = 0
  }

  private let state = Mutex(State())

  /// The list, if it is known; and the version for ``keep(_:readAt:)``.
  var recent: (collections: [SecretServiceFolder]?, version: Int) {
    state.withLock { ($0.until > LoopClock.now ? $0.collections : nil, $0.version) }
  }

  /// - Parameter version: that of before the list was read. After a change since, the list is not kept.
  func keep(_ collections: [SecretServiceFolder], readAt version: Int) {
    state.withLock { state in
      guard state.version == version else { return }
      (state.collections, state.until) = (collections, LoopClock.now + Self.age)
    }
  }

  func forget() {
    state.withLock { state in
      state.collections = nil
      state.version += 1
    }
  }
}
