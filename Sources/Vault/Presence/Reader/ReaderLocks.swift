import Fingerprint
import Glibc
import Keys
import Primitives
import VaultStore

/// The file locks of a user's physical readers. One request at a time has a reader, for whichever store, so that one
/// touch cannot answer two requests.
package struct ReaderLocks: Sendable {
  /// Derives the folder from the user id, not `XDG_RUNTIME_DIR`, so that no program can choose a lock of its own.
  package init(of user: UInt32) { self.init(runtimeFolder: "/run/user/\(user)") }

  private let runtimeFolder: String

  /// - Parameter runtimeFolder: the folder that logind makes for the user and removes after the last session.
  package init(runtimeFolder: String) { self.runtimeFolder = runtimeFolder }

  /// The lock file of this reader.
  ///
  /// Nil if the folder is missing, as for a user without a session, and for a reader that is not physical, whose
  /// identity is not unique. Then only the store's lock is used.
  func path(of reader: ReaderDescription) throws(VaultError) -> String? {
    guard reader.nature == .physical, Self.isPrivate(runtimeFolder) else { return nil }
    let folder = runtimeFolder + "/whorl"
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
      throw .inputOutput("cannot make \(folder): \(errnoText())")
    }
    guard Self.isPrivate(folder) else {
      throw .unsafeDirectory("\(folder) is not a private folder of this user: remove it")
    }
    let name = Hexadecimal.text(of: Digest.sha256(EnrolmentSet.canonical(reader.identity, reader.nature)).prefix(8))
    return "\(folder)/reader-\(name).lock"
  }

  private static func isPrivate(_ folder: String) -> Bool {
    var info = stat()
    return lstat(folder, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR && info.st_uid == geteuid()
      && info.st_mode & 0o077 == 0
  }
}
