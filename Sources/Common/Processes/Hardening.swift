// This process: its restrictions, its user namespace, its environment, and the accounts of the machine.

internal import CLinux
internal import Glibc

/// Restrictions that a user's program applies to itself at its start, and that can be undone for the programs that it
/// executes.
package struct Hardening: Sendable {
  private let coreLimit: rlimit
  private let fileLimit: rlimit
  private let raisedFileLimit: rlimit
  private let mask: mode_t

  /// Disables core files, tracing by other programs of the same user, and access for group and others to new files.
  ///
  /// - Parameter files: how many open files this program may need. Programs start with a limit of 1,024, which is not
  ///   raised for the programs that it executes: some use select(2), which knows no more.
  package init(files: Int = 0) {
    // All borrow the limit for the call.
    var limit = rlimit()
    whorl_get_core_limit(&limit)
    coreLimit = limit
    limit.rlim_cur = 0
    whorl_set_core_limit(&limit)
    whorl_refuse_inspection()
    mask = umask(0o077)
    var (before, raised) = (rlimit(), rlimit())
    whorl_get_file_limit(&before)
    raised = before
    raised.rlim_cur = max(before.rlim_cur, min(before.rlim_max, rlim_t(files)))
    whorl_set_file_limit(&raised)
    (fileLimit, raisedFileLimit) = (before, raised)
  }

  /// Restores the limits for the next program of this process. `execve` itself permits tracing again.
  package func undo() {
    var (limit, files) = (coreLimit, fileLimit)
    whorl_set_core_limit(&limit)
    whorl_set_file_limit(&files)
    umask(mask)
  }

  /// Runs a closure with the limits from before, which a child inherits.
  package func undone<Value>(_ body: () throws(ChildStartError) -> Value) throws(ChildStartError) -> Value {
    var (none, files) = (coreLimit, raisedFileLimit)
    none.rlim_cur = 0
    undo()
    defer {
      umask(0o077)
      whorl_set_core_limit(&none)
      whorl_set_file_limit(&files)
    }
    return try body()
  }
}

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
