internal import Glibc

/// The group that many systems make for each user, named as the user and with no other member.
enum PrivateGroup {
  /// Whether the group belongs to the effective user and has no other members.
  ///
  /// Members are searched in the group's own list and among the accounts of `/etc/passwd`. Accounts of a directory
  /// service cannot be listed reliably, so the group must also have the user's name.
  static func isPrivate(_ group: gid_t) -> Bool {
    guard let user = account(of: geteuid()), user.group == group, let entry = members(of: group) else { return false }
    return entry.name == user.name && entry.members.allSatisfy { $0 == user.name }
      && !isPrimaryGroup(group, ofOthersThan: user.name)
  }

  private static func account(of user: uid_t) -> (name: String, group: gid_t)? {
    withBuffer { buffer in
      var entry = passwd()
      var found: UnsafeMutablePointer<passwd>?
      // getpwuid_r: the strings lie in the buffer
      guard getpwuid_r(user, &entry, buffer, size, &found) == 0, found != nil else { return nil }
      return (String(cString: entry.pw_name), entry.pw_gid)
    }
  }

  private static func members(of group: gid_t) -> (name: String, members: [String])? {
    withBuffer { buffer in
      var entry = Glibc.group()
      var found: UnsafeMutablePointer<Glibc.group>?
      // getgrgid_r: the strings and the list of members, which ends with NULL, lie in the buffer
      guard getgrgid_r(group, &entry, buffer, size, &found) == 0, found != nil else { return nil }
      var members: [String] = []
      var next = entry.gr_mem
      while let member = next?.pointee {
        members.append(String(cString: member))
        next = next?.successor()
      }
      return (String(cString: entry.gr_name), members)
    }
  }

  /// Also true if the accounts cannot be read.
  private static func isPrimaryGroup(_ group: gid_t, ofOthersThan name: String) -> Bool {
    guard let file = fopen("/etc/passwd", "re") else { return true }
    defer { fclose(file) }
    return withBuffer { buffer in
      var entry = passwd()
      var found: UnsafeMutablePointer<passwd>?
      while true {
        // fgetpwent_r: the strings lie in the buffer
        let code = fgetpwent_r(file, &entry, buffer, size, &found)
        guard code == 0, found != nil else { return code != ENOENT }
        if entry.pw_gid == group, String(cString: entry.pw_name) != name { return true }
      }
    }
  }

  /// The size of the buffer for the strings of one entry. A longer entry counts as missing.
  private static let size = 64 << 10

  private static func withBuffer<Value>(_ body: (UnsafeMutablePointer<CChar>) -> Value) -> Value {
    let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: size)
    defer { buffer.deallocate() }
    return body(buffer)
  }
}
