internal import CLinux
internal import Glibc

/// The user namespace of this process (user_namespaces(7)).
package enum UserNamespace {
  /// The inode number of the initial one: `PROC_USER_INIT_INO` of the kernel's `include/linux/proc_ns.h`.
  private static let initialInode = 0xEFFF_FFFD
  /// The inode number of the root of every procfs: `PROC_ROOT_INO` of the same file.
  private static let rootInode = 1
  /// `PROC_SUPER_MAGIC` of `linux/magic.h`.
  private static let procMagic = 0x9FA0

  /// Whether this process is in the machine's initial user namespace, where user 0 is the machine's root. False if that
  /// cannot be determined.
  ///
  /// A user who makes a namespace can mount anything over `/proc` there. So the answer is read only from the root of a
  /// real procfs, with nothing mounted over the path.
  package static var isInitial: Bool {
    guard let folder = Descriptor(taking: open("/proc", whorl_o_path | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) else {
      return false
    }
    var system = statfs()
    var status = stat()
    let mount = whorl_mount_id(folder.rawValue)
    guard fstatfs(folder.rawValue, &system) == 0, Int(system.f_type) == procMagic,
      fstat(folder.rawValue, &status) == 0, status.st_ino == rootInode, mount != 0,
      let itself = entry("self", of: folder, in: mount),
      let process = entry(target(of: itself), of: folder, in: mount),
      let namespaces = entry("ns", of: process, in: mount),
      let user = entry("user", of: namespaces, in: mount)
    else { return false }
    return target(of: user) == "user:[\(initialInode)]"
  }

  /// The entry with this name in the folder, unless something is mounted over it. Does not follow links. (openat2(2)
  /// could check both, but systemd forbids it in units that may not set user ids in files.)
  private static func entry(_ name: String, of folder: Descriptor, in mount: UInt64) -> Descriptor? {
    guard !name.isEmpty, !name.contains("/"), name != "..",
      let entry = Descriptor(taking: openat(folder.rawValue, name, whorl_o_path | O_NOFOLLOW | O_CLOEXEC)),
      whorl_mount_id(entry.rawValue) == mount
    else { return nil }
    return entry
  }

  /// The target of an open link; empty for anything else.
  private static func target(of link: Descriptor) -> String {
    let bytes = [UInt8](unsafeUninitializedCapacity: 64) { buffer, count in
      // readlinkat with an empty path: of the open link itself; writes no terminator
      count = buffer.baseAddress.map { max(0, readlinkat(link.rawValue, "", $0, buffer.count)) } ?? 0
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
