// Paths: following one and checking who could change it, and renaming without replacing.

internal import CLinux
internal import Glibc

/// Follows a path from the root one component at a time, and refuses it if an untrusted user owns a component or can
/// write to one.
package enum PathWalk {
  /// The users whose files and folders are trusted.
  package enum Trust: Sendable {
    case rootAndEffectiveUser
    case rootAlone
  }

  /// The number of symbolic links that the kernel follows in one path (path_resolution(7)).
  private static let linkLimit = 40

  /// Follows a full path to its end, and checks every component, including those of symbolic links.
  package static func check(_ path: String, trusting trust: Trust = .rootAndEffectiveUser) throws(PathWalkError) {
    _ = try end(of: path, trusting: trust)
  }

  /// The file or folder that a full path leads to.
  static func end(
    of path: String, trusting trust: Trust = .rootAndEffectiveUser
  ) throws(PathWalkError) -> Entry {
    guard path.hasPrefix("/") else { throw .missing(code: EINVAL) }
    let root = try Entry("/", at: "/", in: nil, trust)
    var trail = [root]
    // The next component is the last of these.
    var remaining = components(of: path)
    var links = 0
    while let name = remaining.popLast() {
      let folder = trail[trail.count - 1]
      if name == ".." {
        // The trail has no symbolic links, so the parent of a folder is the one before it.
        if trail.count > 1 { trail.removeLast() }
        continue
      }
      let place = (folder.place == "/" ? "/" : "\(folder.place)/") + name
      let entry = try Entry(name, at: place, in: folder.descriptor, trust)
      guard entry.kind == S_IFLNK else {
        trail.append(entry)
        continue
      }
      links += 1
      guard links <= linkLimit else { throw .missing(code: ELOOP) }
      guard let target = entry.target, !target.isEmpty else { throw .missing(code: ENOENT) }
      if target.hasPrefix("/") { trail = [root] }
      remaining += components(of: target)
    }
    return trail[trail.count - 1]
  }

  /// The components in reverse order, without empty ones and `.`.
  private static func components(of path: String) -> [String] {
    path.split(separator: "/").filter { $0 != "." }.map(String.init).reversed()
  }

  /// One component of a path, open and checked. A symbolic link is opened itself.
  struct Entry {
    let descriptor: Descriptor
    /// Its path without symbolic links.
    let place: String
    private let status: stat
    private let trust: Trust

    /// `S_IFREG`, `S_IFDIR`, `S_IFLNK` …
    var kind: mode_t { status.st_mode & S_IFMT }

    init(_ name: String, at place: String, in folder: Descriptor?, _ trust: Trust) throws(PathWalkError) {
      let flags = whorl_o_path | O_NOFOLLOW | O_CLOEXEC
      let opened = Descriptor(taking: folder.map { openat($0.rawValue, name, flags) } ?? open(name, flags))
      guard let opened else { throw .missing(code: errno) }
      var status = stat()
      guard fstat(opened.rawValue, &status) == 0 else { throw .missing(code: errno) }
      descriptor = opened
      self.place = place
      self.status = status
      self.trust = trust
      if let problem { throw .untrusted(component: place, problem: problem) }
    }

    /// Where a symbolic link points.
    var target: String? {
      let bytes = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
        // readlinkat with an empty path: of the open link itself; writes no terminator
        count = buffer.baseAddress.map { max(0, readlinkat(descriptor.rawValue, "", $0, buffer.count)) } ?? 0
      }
      return bytes.isEmpty ? nil : String(validating: bytes, as: UTF8.self)
    }

    /// How an untrusted user could change it; nil if none could.
    private var problem: PathWalkError.Problem? {
      guard status.st_uid == 0 || trust == .rootAndEffectiveUser && status.st_uid == geteuid() else {
        return .owner(status.st_uid)
      }
      // A symbolic link's mode means nothing: only its owner, and who can write to its folder, can change it.
      guard kind != S_IFLNK else { return nil }
      // In a sticky folder only the owner of an entry or of the folder can rename or remove the entry, and the owner of
      // the next component is checked as well.
      let isSticky = kind == S_IFDIR && status.st_mode & S_ISVTX != 0
      guard !isSticky else { return nil }
      guard status.st_mode & S_IWOTH == 0 else { return .writableByAnybody }
      guard status.st_mode & S_IWGRP == 0 || trust == .rootAndEffectiveUser && isGroupPrivate else {
        return .writableByGroup(status.st_gid)
      }
      return nil
    }

    /// With an access control list, the group bits of the mode apply to everybody on the list.
    private var isGroupPrivate: Bool {
      let list = "system.posix_acl_access"
      return getxattr("/proc/self/fd/\(descriptor.rawValue)", list, nil, 0) < 0 && errno != ERANGE
        && PrivateGroup.isPrivate(status.st_gid)
    }
  }
}

/// Why a path may not be followed.
package enum PathWalkError: Error, Sendable, Hashable {
  /// A component is missing or cannot be read; the code is an errno.
  case missing(code: Int32)
  /// An untrusted user could replace the file or folder at the path.
  ///
  /// - Parameters:
  ///   - component: the file, folder or symbolic link that somebody else controls.
  case untrusted(component: String, problem: Problem)

  package enum Problem: Sendable, Hashable {
    /// The value is a user id.
    case owner(UInt32)
    case writableByAnybody
    /// The value is a group id.
    case writableByGroup(UInt32)
  }
}

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

/// A file descriptor that is closed when this object is freed.
final class Descriptor: Sendable {
  let rawValue: Int32

  /// Takes ownership of the descriptor; nil for the result of a failed call.
  init?(taking descriptor: Int32) {
    guard descriptor >= 0 else { return nil }
    rawValue = descriptor
  }

  deinit { close(rawValue) }
}
