internal import CLinux
internal import Glibc

/// The file that a process runs.
package struct ExecutedFile: Sendable {
  /// Its path on this machine; nil if another file is there, or none. The kernel tells the path of the mounts through which
  /// the file was opened, and a program can mount its own file over any path in a namespace that it has made.
  package let path: String?
  /// For a file without a path: where it was before it was replaced or removed, as by an upgrade. This is only what the
  /// program says, since a removed file is at no path that could be compared.
  package let earlierPath: String?
  package let device: UInt64
  package let inode: UInt64
  /// Nil in a FUSE file system, whose program chooses the owner and inode number of a file.
  package let owner: UInt32?
  /// When the file or its properties were last changed, in nanoseconds since 1970. No program can set it.
  package let changed: Int64

  /// Nil if the kernel does not reveal it.
  package init?(of process: Int32) {
    // O_PATH follows the link to the file, whatever is at its path, and needs no permission to read. The status and the
    // path are then those of one file, also if the process executes another one meanwhile.
    let opened = open("/proc/\(process)/exe", whorl_o_path | O_CLOEXEC)
    guard opened >= 0 else { return nil }
    defer { close(opened) }
    var status = stat()
    guard fstat(opened, &status) == 0, let text = Self.target(of: "/proc/self/fd/\(opened)") else { return nil }
    (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
    owner = Self.isMadeUp(opened) ? nil : status.st_uid
    changed = Int64(status.st_ctim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_ctim.tv_nsec)
    path = Self.leads(text, to: status) ? text : nil
    earlierPath = path == nil ? Self.earlierPath(text, of: process) : nil
  }

  private static func leads(_ path: String, to file: stat) -> Bool {
    var found = stat()
    return stat(path, &found) == 0 && found.st_dev == file.st_dev && found.st_ino == file.st_ino
  }

  /// Nil for a program with mounts of its own, and for a file that never had a path.
  private static func earlierPath(_ text: String, of process: Int32) -> String? {
    let mark = " (deleted)"
    guard text.hasSuffix(mark), !text.hasPrefix("/memfd:"), let own = target(of: "/proc/self/ns/mnt"),
      target(of: "/proc/\(process)/ns/mnt") == own
    else { return nil }
    return String(text.dropLast(mark.count))
  }

  /// `FUSE_SUPER_MAGIC` of <linux/magic.h>, which Swift's Glibc module does not include.
  private static let userSpaceMagic = 0x6573_5546

  private static func isMadeUp(_ opened: Int32) -> Bool {
    var system = statfs()
    return fstatfs(opened, &system) != 0 || system.f_type == userSpaceMagic
  }

  private static func target(of link: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    // Writes at most the buffer's size, without a terminator.
    let count = readlink(link, &buffer, buffer.count)
    return count > 0 && count < buffer.count ? String(validating: buffer.prefix(count), as: UTF8.self) : nil
  }
}
