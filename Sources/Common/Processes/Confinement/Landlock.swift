internal import CLinux
internal import Glibc
internal import Primitives

/// Landlock, with which a process permanently gives up access to files (landlock(7)).
///
/// Rights that the kernel's version does not know are left out. Newer versions restrict more.
package enum Landlock {
  /// The kernel's version of Landlock: 1 since Linux 5.13; signals are restricted since version 6. Nil if the kernel
  /// has no Landlock or it is disabled.
  package static var version: Int? {
    let version = Int(whorl_landlock_version())
    return version > 0 ? version : nil
  }

  /// Rights to a file or a folder (`LANDLOCK_ACCESS_FS_*`).
  struct Access: OptionSet, Sendable {
    let rawValue: UInt64

    static let execute = Access(rawValue: 1 << 0)
    static let writeFile = Access(rawValue: 1 << 1)
    static let readFile = Access(rawValue: 1 << 2)
    static let readFolder = Access(rawValue: 1 << 3)
    static let removeFolder = Access(rawValue: 1 << 4)
    static let removeFile = Access(rawValue: 1 << 5)
    static let makeCharacterDevice = Access(rawValue: 1 << 6)
    static let makeFolder = Access(rawValue: 1 << 7)
    static let makeFile = Access(rawValue: 1 << 8)
    static let makeSocket = Access(rawValue: 1 << 9)
    static let makePipe = Access(rawValue: 1 << 10)
    static let makeBlockDevice = Access(rawValue: 1 << 11)
    static let makeLink = Access(rawValue: 1 << 12)
    /// To move or link a file to another folder. Since version 2; earlier versions always deny it.
    static let moveBetweenFolders = Access(rawValue: 1 << 13)
    /// To truncate files. Since version 3; earlier versions never deny it.
    static let truncate = Access(rawValue: 1 << 14)
    /// To use the ioctls of a device. Since version 5.
    static let controlDevice = Access(rawValue: 1 << 15)

    static let read: Access = [.readFile, .readFolder]
    /// To use a device.
    static let use: Access = [.readFile, .writeFile, .readFolder, .controlDevice]

    /// The rights that apply to files.
    static let ofFiles: Access = [.execute, .writeFile, .readFile, .truncate, .controlDevice]

    /// All rights that the version can restrict.
    static func all(in version: Int) -> Access {
      let bits =
        switch version {
        case 1: 13
        case 2: 14
        case 3, 4: 15
        default: 16
        }
      return Access(rawValue: 1 << UInt64(bits) - 1)
    }
  }

  /// Access to a path and everything below it.
  struct Rule: Sendable {
    var path: String
    var access: Access

    init(_ path: String, _ access: Access) { (self.path, self.access) = (path, access) }
  }

  /// Files that libraries read while they run: modules, settings, random numbers, the state of processes.
  static let libraries: [Rule] =
    [
      "/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/ssl/openssl.cnf", "/etc/pki/tls/openssl.cnf",
      "/etc/crypto-policies", "/proc",
    ].map { .init($0, .read) }
    + ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"].map { .init($0, .use) }

  /// The folder that a path names a file of.
  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Restricts this thread, and all threads and processes it starts, to the access that the rules give. TCP, abstract
  /// sockets of other processes and signals to them are denied if the version supports that.
  ///
  /// A path that does not exist is skipped, and files created there later stay denied.
  static func restrict(to rules: [Rule], version: Int) throws(ConfinementError) {
    var ruleset = whorl_landlock_ruleset(
      handled_access_fs: Access.all(in: version).rawValue,
      handled_access_net: version >= 4 ? 0b11 : 0, scoped: version >= 6 ? 0b11 : 0)
    let fields = version >= 6 ? 3 : version >= 4 ? 2 : 1
    // borrows the structure for the call
    let descriptor = whorl_landlock_create_ruleset(&ruleset, fields * MemoryLayout<UInt64>.size)
    guard descriptor >= 0 else { throw ConfinementError("landlock_create_ruleset", errno) }
    defer { close(descriptor) }
    for rule in rules { try add(rule, to: descriptor, version) }
    guard whorl_landlock_restrict_self(descriptor) == 0 else { throw ConfinementError("landlock_restrict_self", errno) }
  }

  private static func add(_ rule: Rule, to ruleset: Int32, _ version: Int) throws(ConfinementError) {
    // A direct system call, because umockdev's preloaded library may replace open(3).
    let place = rule.path.withCString { path in
      Int32(
        whorl_system_call(
          Int(__NR_openat), Int(AT_FDCWD), Int(bitPattern: path), Int(whorl_o_path | O_CLOEXEC), 0, 0))
    }
    guard place >= 0 else { return }
    defer { close(place) }
    var status = stat()
    guard fstat(place, &status) == 0 else { throw ConfinementError(rule.path, errno) }
    var access = rule.access.intersection(.all(in: version))
    if status.st_mode & S_IFMT != S_IFDIR { access.formIntersection(.ofFiles) }
    guard whorl_landlock_allow_beneath(ruleset, place, access.rawValue) == 0 else {
      throw ConfinementError("landlock_add_rule for \(rule.path)", errno)
    }
  }
}

/// A process could not be confined and must exit.
package struct ConfinementError: Error, Sendable, Hashable {
  /// What failed and why, for messages.
  package let words: String

  /// Only the thread that gives up rights loses them, and those that it starts later.
  static func requireOneThread() throws(ConfinementError) {
    guard Folder.names(in: "/proc/self/task")?.count == 1 else {
      throw ConfinementError("there are threads already", EBUSY)
    }
  }

  init(_ what: String, _ code: Int32) { words = "\(what): \(String(cString: strerror(code)))" }
}
