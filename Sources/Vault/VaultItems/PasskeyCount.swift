import Synchronization
import VaultStore

/// The number of passkeys in the store. Programs ask for it often, and counting a thousand takes 0.2 ms, so it is
/// cached until the next commit.
final class PasskeyCount: Sendable {
  private let last = Mutex<(commit: UInt64, count: Int)?>(nil)

  func current(in snapshot: StoreSnapshot) throws -> Int {
    let commit = snapshot.authority.sequence
    if let last = last.withLock({ $0 }), last.commit == commit { return last.count }
    let count = try snapshot.passkeyCount(ItemSearch(.passkey))
    last.withLock { $0 = (commit, count) }
    return count
  }
}
