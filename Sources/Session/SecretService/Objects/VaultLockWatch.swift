internal import SDBus
internal import SecretModel
internal import Synchronization
internal import Whorl

/// Announces when the vault is locked or unlocked. Some programs keep the property `Locked`, and do not ask for a secret
/// while it says that the collection is locked.
final class VaultLockWatch: Sendable {
  /// The pause before retrying to reach the vault. It doubles from the first value up to the last.
  private static let pauses = (first: Duration.seconds(1), last: Duration.seconds(60))

  private let keeper: ItemKeeper
  private let locks: Locks
  /// The state that was last announced; nil before ``follow(_:)``.
  private let told = Mutex<Bool?>(nil)

  init(_ keeper: ItemKeeper, _ locks: Locks) { (self.keeper, self.locks) = (keeper, locks) }

  /// Follows the vault for as long as the process runs.
  func follow(_ signals: ServiceSignals) async {
    // If the vault does not answer, the first answer below decides.
    let isLocked = (try? await keeper.isLocked()) ?? true
    var known = told.withLock { told in
      told = told ?? isLocked
      return told ?? isLocked
    }
    var pause = Self.pauses.first
    while true {
      do throws(VaultError) {
        let isLocked = try await keeper.store.unlockChange(fromLocked: known)
        // A prompt may have announced it already.
        if told.withLock({ $0 != isLocked }) { await tell(isLocked: isLocked, signals) }
        (known, pause) = (isLocked, Self.pauses.first)
      } catch {
        await LoopTimer.wait(for: pause)
        pause = min(pause * 2, Self.pauses.last)
      }
    }
  }

  /// Announces the state of the vault.
  func tell(isLocked: Bool, _ signals: ServiceSignals) async {
    told.withLock { $0 = isLocked }
    for collection in (try? await keeper.collections()) ?? [] where !locks.isLocked(collection: collection.name) {
      await signals.changed(collection, isLocked: isLocked, locks)
    }
  }
}
