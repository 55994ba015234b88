import Fingerprint
import Glibc
import Keys
import Primitives

/// The locks of a user's physical readers: one request at a time has a reader, whichever store it is for, so that one
/// touch cannot answer two.
package struct ReaderLocks: Sendable {
  /// Named by the kernel's user id and not by `XDG_RUNTIME_DIR`, with which a program would choose a lock of its own.
  package init(of user: UInt32) { self.init(runtimeFolder: "/run/user/\(user)") }

  private let runtimeFolder: String

  /// - Parameter runtimeFolder: the folder that logind makes for the user and takes away with the last session.
  package init(runtimeFolder: String) { self.runtimeFolder = runtimeFolder }

  /// The file that is locked while this reader is used.
  ///
  /// Nil where there is no such folder, as for a user without a session, and for a reader that is not physical: its
  /// identity does not tell it from another of its kind. Then the lock of the store is all there is.
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
