internal import Glibc

/// The environment of this program.
package enum OwnEnvironment {
  /// Each as `NAME=value`, without those that are not UTF-8.
  package static var entries: [String] {
    var entries: [String] = []
    var next = environ
    // `environ` and its strings belong to the C library.
    while let entry = next.pointee {
      if let text = String(validatingCString: entry) { entries.append(text) }
      next += 1
    }
    return entries
  }
}
