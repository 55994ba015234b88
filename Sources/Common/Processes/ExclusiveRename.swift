internal import CLinux
internal import Glibc

/// A change of a file's or a folder's name that replaces nothing (`renameat2(2)`, RENAME_NOREPLACE).
package enum ExclusiveRename {
  /// Renames `path`.
  ///
  /// - Returns: nil when done, else the error number: `EEXIST` where anything has the new name, `EINVAL` where the file
  ///   system knows no such renaming.
  package static func rename(_ path: String, to new: String) -> CInt? {
    whorl_rename_without_replacing(path, new) == 0 ? nil : errno
  }
}
