internal import Primitives
internal import SDBus
internal import SecretModel
internal import Synchronization

/// Says when a collection's list of items is announced. libsecret's `SecretCollection` takes the list from the property
/// `Items`, and ignores the signals for single items.
///
/// Several changes in a short time are announced once, and a long list is not announced: sending it after each of many
/// changes would cost more than the changes.
final class ItemLists: Sendable {
  /// The longest list that is sent.
  static let limit = 1_000
  private static let delay = Duration.milliseconds(300)

  private let keeper: ItemKeeper
  /// The names of the collections whose lists are to be sent.
  private let waiting = Mutex<Set<String>>([])

  init(of keeper: ItemKeeper) { self.keeper = keeper }

  /// - Parameter announce: announces the list.
  func changed(in collection: String, _ announce: @escaping @Sendable ([SecretServiceItem]) -> Void) {
    guard waiting.withLock({ $0.insert(collection).inserted }) else { return }
    _ = LoopTimer(after: Self.delay) {
      Task(executorPreference: BackgroundThread.shared) { await self.send(collection, announce) }
    }
  }

  /// The items of a collection; nil if they are too many to announce.
  func items(of collection: String) async -> [SecretServiceItem]? {
    (try? await keeper.items(in: collection, atMost: Self.limit)) ?? nil
  }

  private func send(_ collection: String, _ announce: ([SecretServiceItem]) -> Void) async {
    // Changes after this point schedule another announcement.
    waiting.withLock { _ = $0.remove(collection) }
    if let items = await items(of: collection) { announce(items) }
  }
}
