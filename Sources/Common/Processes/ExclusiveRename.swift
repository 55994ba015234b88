internal import CLinux
internal import Glibc

/// Renames a file or a folder without replacing anything (`renameat2(2)`, RENAME_NOREPLACE).
package enum ExclusiveRename {
  /// Renames `path`.
  ///
  /// - Returns: nil on success, else the error number: `EEXIST` if the new name is taken, `EINVAL` if the file system
  ///   does not support this.
  package static func rename(_ path: String, to new: String) -> CInt? {
    whorl_rename_without_replacing(path, new) == 0 ? nil : errno
  }
}
