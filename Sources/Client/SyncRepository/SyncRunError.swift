internal import Primitives
package import SecretModel

/// Why two repositories could not be made equal.
package enum SyncRunError: Error, Sendable, Hashable {
  /// There is no `git`, or none that may be run.
  case noGit(String)
  /// Text that names no remote.
  case unusableRemote(why: String)
  /// No remote is known for this store.
  case noRemote
  /// The store is in no circle, or another machine has removed it.
  case notInCircle(SyncStatus.Standing)
  /// The remote cannot be reached; the words are git's.
  case unreachable(reason: String)
  /// The remote is empty where a circle was expected.
  case empty
  /// The remote has a circle already where a new one was to be made.
  case taken
  /// The remote holds something else than a circle, which is left alone.
  case foreign
  /// A newer version of this program has made what the remote holds.
  case newerFormat
  /// The remote holds more than is read here.
  case tooMuch(String)
  /// The remote accepts no changes from this user; the words are git's.
  case refused(reason: String)
  /// Other machines were faster each time.
  case contested
  /// Another run is not finished.
  case busy
  /// The private copy of the remote cannot be used.
  case damaged(String)
  /// A file of this user cannot be read or written.
  case system(String)
  case vault(VaultError)
}

extension SyncRunError {
  /// Runs a call to the vault.
  static func asking<Answer>(
    _ call: () async throws(VaultError) -> Answer
  ) async throws(SyncRunError) -> Answer {
    do throws(VaultError) { return try await call() } catch { throw .vault(error) }
  }

  /// Makes or removes folders.
  static func making(_ call: () throws(Folder.Failure) -> Void) throws(SyncRunError) {
    do throws(Folder.Failure) { try call() } catch { throw .system(error.problem) }
  }
}
