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

  /// Whether this process is in the machine's own user namespace, where user 0 is the machine's root. False where
  /// that cannot be told.
  ///
  /// A user who makes a namespace can also mount what they like over `/proc` there. So the answer counts only from the
  /// root of a real procfs, with nothing mounted over the way to it.
  package static var isInitial: Bool {
    guard let folder = Descriptor(taking: open("/proc", whorl_o_path | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) else {
      return false
    }
    var system = statfs()
    var status = stat()
    guard fstatfs(folder.rawValue, &system) == 0, Int(system.f_type) == procMagic,
      fstat(folder.rawValue, &status) == 0, status.st_ino == rootInode,
      let link = Descriptor(
        taking: whorl_open_in_one_mount(folder.rawValue, "self/ns/user", whorl_o_path | O_NOFOLLOW | O_CLOEXEC))
    else { return false }
    let bytes = [UInt8](unsafeUninitializedCapacity: 64) { buffer, count in
      // readlinkat with an empty path: of the open link itself; writes no terminator
      count = buffer.baseAddress.map { max(0, readlinkat(link.rawValue, "", $0, buffer.count)) } ?? 0
    }
    return String(decoding: bytes, as: UTF8.self) == "user:[\(initialInode)]"
  }
}
