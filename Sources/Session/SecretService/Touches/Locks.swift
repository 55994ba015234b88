internal import SecretModel
internal import Synchronization

/// The collections and items that programs have locked. Only this service enforces these locks, for every program that
/// uses it. The vault does not know about them.
final class Locks: Sendable {
  private struct State {
    var collections: Set<String> = []
    var items: Set<ItemID> = []
  }

  private let state = Mutex(State())

  /// Whether nothing is locked.
  var areOpen: Bool { state.withLock { $0.collections.isEmpty && $0.items.isEmpty } }

  func isLocked(collection: String) -> Bool { state.withLock { $0.collections.contains(collection) } }

  func isLocked(_ item: some SecretServiceEntry) -> Bool {
    state.withLock { $0.collections.contains(item.collection) || $0.items.contains(item.id) }
  }

  /// Returns whether it was open.
  func lock(collection: String) -> Bool { state.withLock { $0.collections.insert(collection).inserted } }

  /// Returns whether it was open.
  func lock(_ item: SecretServiceItem) -> Bool { state.withLock { $0.items.insert(item.id).inserted } }

  func unlock(collection: String) { state.withLock { _ = $0.collections.remove(collection) } }

  func unlock(_ item: SecretServiceItem) { state.withLock { _ = $0.items.remove(item.id) } }
}

/// What a program has to prove before it may read items, by their rules and its own, at the time of a call.
struct Gate {
  let locks: Locks
  let reads: GatedReads
  let rule: ProgramRule.Value?

  /// Whether the person is asked for a finger or the passcode before the program may read the item.
  func isGated(_ item: some SecretServiceEntry) -> Bool { item.isGated || rule != nil }

  /// Whether reading the item would need a prompt now.
  func isLocked(_ item: some SecretServiceEntry) -> Bool {
    locks.isLocked(item) || isGated(item) && reads.granted(item) == nil
  }
}
