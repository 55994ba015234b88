internal import Glibc

/// The accounts of this machine.
package enum Account {
  /// The name of a user. Nil if there is no such account, or if its name is not text.
  ///
  /// Asks the machine's name services, which may be slow.
  package static func name(of user: UInt32) -> String? {
    let size = 64 << 10
    let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: size)
    defer { buffer.deallocate() }
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    // getpwuid_r: the strings lie in the buffer
    guard getpwuid_r(user, &entry, buffer, size, &found) == 0, found != nil else { return nil }
    return String(validatingCString: entry.pw_name)
  }
}
