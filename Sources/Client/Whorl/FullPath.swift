internal import Glibc

/// Paths from the root.
package enum FullPath {
  /// The folder that this program is in; the root where it was removed.
  package static var currentFolder: String {
    // getcwd allocates the result, which is ours to free.
    guard let folder = unsafe getcwd(nil, 0) else { return "/" }
    defer { unsafe free(folder) }
    return unsafe String(cString: folder)
  }

  /// The full path of a path that a person has named, which may be relative to the current folder.
  package static func of(_ path: String) -> String {
    guard !path.isEmpty, !path.hasPrefix("/") else { return path }
    return currentFolder == "/" ? "/\(path)" : "\(currentFolder)/\(path)"
  }
}
