internal import Glibc

/// The accounts of this machine.
package enum Account {
  /// The name of a user. Nil if there is no such account, or if its name is not text.
  ///
  /// Asks the machine's name services, which may be slow.
  package static func name(of user: UInt32) -> String? {
    with(user) { String(validatingCString: $0.pw_name) }
  }

  /// Whether a user's password is in this machine's own files. The name services say so with an "x"; directory services
  /// have another mark. False if there is no such account.
  package static func hasPasswordHere(_ user: UInt32) -> Bool {
    with(user) { $0.pw_passwd.map { $0[0] == CChar(UInt8(ascii: "x")) && $0[1] == 0 } } ?? false
  }

  private static func with<Value>(_ user: UInt32, _ body: (passwd) -> Value?) -> Value? {
    let size = 64 << 10
    let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: size)
    defer { buffer.deallocate() }
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    // getpwuid_r: the strings lie in the buffer
    guard getpwuid_r(user, &entry, buffer, size, &found) == 0, found != nil else { return nil }
    return body(entry)
  }
}
