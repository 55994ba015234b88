import Glibc

/// The way from the root to a store: whoever can change a folder of it can put another store in the place of this one.
enum StorePath {
  /// As many symbolic links as the kernel follows in one path (path_resolution(7)).
  private static let linkLimit = 40

  /// Refuses a folder that somebody other than root and the effective user could put another one in the place of.
  ///
  /// - Parameter path: a full path. Each component is looked at, those of symbolic links too.
  static func requireTrusted(_ path: String) throws(VaultError) {
    var trail: [String] = []
    // The next component is the last of these.
    var remaining = components(of: path)
    var links = 0
    try check("/")
    while let name = remaining.popLast() {
      if name == ".." {
        trail = trail.dropLast()
        continue
      }
      let place = "/" + (trail + [name]).joined(separator: "/")
      guard let target = try check(place) else {
        trail.append(name)
        continue
      }
      links += 1
      guard links <= linkLimit else { throw .unsafeDirectory("\(path) has too many symbolic links") }
      if target.hasPrefix("/") { trail = [] }
      remaining += components(of: target)
    }
  }

  /// In reverse, without those that lead nowhere.
  private static func components(of path: String) -> [String] {
    path.split(separator: "/").filter { $0 != "." }.map(String.init).reversed()
  }

  /// Looks at one component, and gives the target of a symbolic link.
  @discardableResult
  private static func check(_ place: String) throws(VaultError) -> String? {
    var info = stat()
    guard lstat(place, &info) == 0 else { throw .inputOutput("cannot look at \(place): \(errnoText())") }
    guard info.st_uid == geteuid() || info.st_uid == 0 else {
      throw .unsafeDirectory(
        "user \(info.st_uid) owns \(place) and can replace the store: name another with --store")
    }
    // Only its owner, and who can write to its folder, can change a symbolic link.
    if info.st_mode & S_IFMT == S_IFLNK { return try target(of: place) }
    // In a sticky folder such as /tmp others can add, but neither remove nor rename what is root's or ours.
    guard info.st_mode & S_ISVTX == 0 else { return nil }
    guard info.st_mode & S_IWOTH == 0 else {
      throw .unsafeDirectory("\(place) is writable by others, who can replace the store: chmod o-w it")
    }
    guard info.st_mode & S_IWGRP == 0 || isPrivate(group: info.st_gid) else {
      throw .unsafeDirectory(
        "\(place) is writable by group \(info.st_gid), which can replace the store: chmod g-w it")
    }
    return nil
  }

  private static func target(of link: String) throws(VaultError) -> String {
    let bytes = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
      // readlink: writes no terminator
      count = buffer.baseAddress.map { max(0, readlink(link, $0, buffer.count)) } ?? 0
    }
    guard let target = String(validating: bytes, as: UTF8.self), !target.isEmpty else {
      throw .inputOutput("cannot follow \(link): \(errnoText())")
    }
    return target
  }

  /// Whether the group is the effective user's own: named as the user, and with no other member.
  private static func isPrivate(group: gid_t) -> Bool {
    // getpwuid, getgrgid: the entry is the library's, until the next call; both are copied at once.
    guard let user = getpwuid(geteuid()).map({ (String(cString: $0.pointee.pw_name), $0.pointee.pw_gid) }),
      user.1 == group, let entry = getgrgid(group), String(cString: entry.pointee.gr_name) == user.0
    else { return false }
    var next = entry.pointee.gr_mem
    while let member = next?.pointee {
      guard String(cString: member) == user.0 else { return false }
      next = next?.successor()
    }
    return true
  }
}
