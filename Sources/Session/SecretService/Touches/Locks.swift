internal import SecretModel
internal import SecretServiceItems
internal import Synchronization

/// The collections and items that programs have locked. Only this service enforces these locks, for every program that
/// uses it. The vault does not know about them.
final class Locks: Sendable {
  private struct State {
    var collections: Set<String> = []
    var items: Set<ItemID> = []
  }

  private let state = Mutex(State())

  func isLocked(collection: String) -> Bool { state.withLock { $0.collections.contains(collection) } }

  func isLocked(_ item: SecretServiceItem) -> Bool {
    state.withLock { $0.collections.contains(item.collection) || $0.items.contains(item.id) }
  }

  /// Returns whether it was open.
  func lock(collection: String) -> Bool { state.withLock { $0.collections.insert(collection).inserted } }

  /// Returns whether it was open.
  func lock(_ item: SecretServiceItem) -> Bool { state.withLock { $0.items.insert(item.id).inserted } }

  func unlock(collection: String) { state.withLock { _ = $0.collections.remove(collection) } }

  func unlock(_ item: SecretServiceItem) { state.withLock { _ = $0.items.remove(item.id) } }
}
