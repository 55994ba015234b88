internal import Glibc

/// The people who may change the machine.
package enum Administrators {
  /// The groups whose members sudo lets become root, on Debian, Fedora and older Ubuntus.
  private static let groups = ["sudo", "wheel", "admin"]

  /// Whether this process's user is one: root, or a member of such a group.
  package static var haveThisUser: Bool {
    guard geteuid() != 0 else { return true }
    var own = [gid_t](repeating: 0, count: Int(max(getgroups(0, nil), 0)))
    // Writes at most as many as the array has.
    guard getgroups(Int32(own.count), &own) == own.count else { return false }
    return groups.contains { name in getgrnam(name).map { own.contains($0.pointee.gr_gid) } ?? false }
  }
}
