internal import Primitives
package import SecretModel

/// Why a sync failed.
package enum SyncRunError: Error, Sendable, Hashable {
  /// There is no `git`, or none that may be run.
  case noGit(String)
  /// The text cannot be used as a remote.
  case unusableRemote(why: String)
  /// No remote is known for this store.
  case noRemote
  /// The store is in no circle, or another machine has removed it.
  case notInCircle(SyncStatus.Standing)
  /// The remote cannot be reached, with git's reason.
  case unreachable(reason: String)
  /// The remote asks for something that only a person can type, and nobody can be asked; with git's reason.
  case unanswered(reason: String)
  /// The remote is a folder that git must not use as it is.
  case unusableFolder(String, why: String)
  /// The remote is empty, but a circle was expected.
  case empty
  /// The remote has a circle already, but a new one was to be made.
  case taken
  /// The remote has other contents than a circle, which are left unchanged.
  case foreign
  /// A newer version of this program has written the remote's contents.
  case newerFormat
  /// An earlier version of this program has written them, whose copies were weaker than the items.
  case olderFormat
  /// The remote exceeds a size limit.
  case tooMuch(String)
  /// The remote accepts no changes from this user, with git's reason.
  case refused(reason: String)
  /// Other machines pushed first at each attempt.
  case contested
  /// Another run is not finished.
  case busy
  /// The local copy of the remote is damaged.
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
