import CLinux
import Glibc
import Processes
import ProgramDriver
import Synchronization
import Testing

private let isRoot = geteuid() == 0
/// A user id without an account, which is neither root nor this user.
private let stranger: uid_t = 4321

@Suite("Checks of a helper program before it runs")
struct HelperProgramTests {
  @Test("a helper program in the system's folders is accepted, also through root's symbolic links")
  func system() throws {
    #expect(try HelperProgram(at: "/bin/sh").path == "/bin/sh")
  }

  @Test("a helper program in this user's own folder below root's sticky folder is accepted")
  func own() async throws {
    try await withProgram { folder, program in
      #expect(problem(with: program) == nil)
      #expect(problem(with: "\(folder)/./other/../place//program") == nil)
    }
  }

  @Test("helper programs in others' folders are refused", .enabled(if: isRoot, "only root can give a folder away"))
  func foldersOwner() async throws {
    try await withProgram { folder, program in
      try #require(chown("\(folder)/place", stranger, 0) == 0)
      #expect(problem(with: program) == .init(component: "\(folder)/place", .owner(stranger)))
      // The owner of a sticky folder can replace its entries.
      try #require(chmod("\(folder)/place", 0o1755) == 0)
      #expect(problem(with: program) == .init(component: "\(folder)/place", .owner(stranger)))
    }
  }

  @Test("a helper program of another user is refused", .enabled(if: isRoot, "only root can give a file away"))
  func filesOwner() async throws {
    try await withProgram { folder, program in
      try #require(chown(program, stranger, 0) == 0)
      #expect(problem(with: program) == .init(component: program, .owner(stranger)))
      // The sticky bit keeps others from replacing entries, but they can add their own.
      try #require(chmod("\(folder)/place", 0o1777) == 0)
      #expect(problem(with: program) == .init(component: program, .owner(stranger)))
    }
  }

  @Test("a link of another user to a helper program is refused", .enabled(if: isRoot, "only root can give a link away"))
  func linksOwner() async throws {
    try await withProgram { folder, program in
      let link = "\(folder)/link"
      try #require(symlink(program, link) == 0)
      #expect(problem(with: link) == nil)
      try #require(lchown(link, stranger, 0) == 0)
      #expect(problem(with: link) == .init(component: link, .owner(stranger)))
    }
  }

  @Test("our own link to a helper program is refused if it leads through a folder that others can write to")
  func linkedFolder() async throws {
    try await withProgram { folder, program in
      let link = "\(folder)/other/link"
      // A relative link upwards: its target is not below the components of the given path.
      try #require(symlink("../place", link) == 0)
      #expect(problem(with: "\(link)/program") == nil)
      try #require(chmod("\(folder)/place", 0o777) == 0)
      #expect(problem(with: "\(link)/program") == .init(component: "\(folder)/place", .writableByAnybody))
    }
  }

  @Test("a helper program or its folder that everybody can write to is refused, except a sticky folder")
  func writable() async throws {
    try await withProgram { folder, program in
      try #require(chmod("\(folder)/place", 0o777) == 0)
      #expect(problem(with: program) == .init(component: "\(folder)/place", .writableByAnybody))
      try #require(chmod("\(folder)/place", 0o1777) == 0)
      #expect(problem(with: program) == nil)
      try #require(chmod(program, 0o757) == 0)
      #expect(problem(with: program) == .init(component: program, .writableByAnybody))
      // The sticky bit protects entries of a folder. On a file it has no effect.
      try #require(chmod(program, 0o1757) == 0)
      #expect(problem(with: program) == .init(component: program, .writableByAnybody))
    }
  }

  @Test("a helper program that a shared group can write to is refused", .enabled(if: isRoot))
  func groupWritable() async throws {
    try await withProgram { folder, program in
      try #require(chown("\(folder)/place", 0, stranger) == 0)
      try #require(chmod("\(folder)/place", 0o775) == 0)
      #expect(problem(with: program) == .init(component: "\(folder)/place", .writableByGroup(stranger)))
      try #require(chmod("\(folder)/place", 0o755) == 0)
      try #require(chown(program, 0, stranger) == 0)
      try #require(chmod(program, 0o775) == 0)
      #expect(problem(with: program) == .init(component: program, .writableByGroup(stranger)))
    }
  }

  @Test(
    "a helper program in a folder of this user's private group is accepted, unless an access list lets others",
    .enabled(if: hasPrivateGroup))
  func privateGroup() async throws {
    try await withProgram { folder, program in
      try #require(chmod("\(folder)/place", 0o770) == 0)
      #expect(problem(with: program) == nil)
      let list = accessControlList(forUser: stranger)
      guard setxattr("\(folder)/place", "system.posix_acl_access", list, list.count, 0) == 0 else {
        return print("skipped: this file system has no access control lists")
      }
      #expect(problem(with: program) == .init(component: "\(folder)/place", .writableByGroup(getegid())))
    }
  }

  @Test("no helper program is found for a folder, a file that cannot be executed, a loop of links or a missing file")
  func missing() async throws {
    try await withProgram { folder, program in
      #expect(errorCode(of: "\(folder)/place") == EACCES)
      #expect(errorCode(of: "\(program)/more") == ENOTDIR)
      #expect(errorCode(of: "\(folder)/nothing") == ENOENT)
      #expect(errorCode(of: "place/program") == EINVAL)
      try #require(symlink("\(folder)/loop", "\(folder)/loop") == 0)
      #expect(errorCode(of: "\(folder)/loop") == ELOOP)
      try #require(chmod(program, 0o600) == 0)
      #expect(errorCode(of: program) == EACCES)
    }
  }

  @Test("a helper program runs as the checked file, also if another one takes its path afterwards")
  func swapped() async throws {
    try await withProgram { _, program in
      let checked = try HelperProgram(at: program)
      try #require(rename(program, "\(program).old") == 0)
      try copy("/bin/false", to: program)
      #expect(try status(of: checked.executionPath) == 0)
      #expect(try status(of: program) == 1)
      // The child has the descriptor only until it executes the program.
      #expect(fcntl(checked.descriptor, F_GETFD) & FD_CLOEXEC != 0)
      #expect(checked.descriptor > 2)
    }
  }

  @Test("the refusal of a helper program says in one line what, why, and what to do")
  func words() {
    let error = HelperProgramError.untrusted(path: "/tmp/x/whorl-reader", component: "/tmp/x", problem: .owner(4321))
    #expect(
      error.words == "/tmp/x/whorl-reader is not run, because user 4321 owns /tmp/x and could replace the program; "
        + "remove it, or give it to root or to yourself with chown")
  }
}

private struct Refusal: Equatable {
  var component: String
  var problem: PathWalkError.Problem

  init(component: String, _ problem: PathWalkError.Problem) {
    (self.component, self.problem) = (component, problem)
  }
}

private func problem(with path: String) -> Refusal? {
  do {
    _ = try HelperProgram(at: path)
    return nil
  } catch .untrusted(_, let component, let problem) {
    return Refusal(component: component, problem)
  } catch {
    Issue.record("\(error.words)")
    return nil
  }
}

private func errorCode(of path: String) -> Int32? {
  do {
    _ = try HelperProgram(at: path)
    return nil
  } catch .missing(_, let code) {
    return code
  } catch {
    Issue.record("\(error.words)")
    return nil
  }
}

/// A folder with `place/program`, which ends with status 0, and a folder `other`.
private func withProgram(_ body: (_ folder: String, _ program: String) async throws -> Void) async throws {
  try await withFolder { folder in
    for name in ["place", "other"] { try #require(mkdirPrivate("\(folder)/\(name)")) }
    let program = "\(folder)/place/program"
    try copy("/bin/true", to: program)
    try await body(folder, program)
  }
}

private func copy(_ program: String, to path: String) throws {
  try writeFile(path, try readFile(program))
  try #require(chmod(path, 0o755) == 0)
}

private func status(of path: String) throws -> Int32 {
  let arguments = [strdup(path), nil]
  defer { free(arguments[0]) }
  var pid: pid_t = 0
  let code = spawning.withLock { _ in posix_spawn(&pid, path, nil, nil, arguments, [nil]) }
  try #require(code == 0)
  var status: Int32 = 0
  while waitpid(pid, &status, 0) < 0, errno == EINTR {}
  return status >> 8
}

/// An access control list that lets the owner and one other user write: its version and five entries of a tag, the
/// rights and an id, as `linux/posix_acl_xattr.h` has them.
private func accessControlList(forUser user: UInt32) -> [UInt8] {
  func bytes(_ number: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: number.littleEndian) { Array($0) } }
  let none = UInt32.max
  let entries: [(tag: UInt16, rights: UInt16, id: UInt32)] = [
    (0x01, 7, none), (0x02, 7, user), (0x04, 0, none), (0x10, 7, none), (0x20, 0, none),
  ]
  return bytes(UInt32(2)) + entries.flatMap { bytes($0.tag) + bytes($0.rights) + bytes($0.id) }
}

/// Whether this user's primary group has the user's name. Fedora's root shares its group with system accounts.
private var hasPrivateGroup: Bool {
  guard let user = getpwuid(geteuid()), let group = getgrgid(user.pointee.pw_gid) else { return false }
  return String(cString: user.pointee.pw_name) == String(cString: group.pointee.gr_name)
    && access("/etc/debian_version", F_OK) == 0 && getegid() == user.pointee.pw_gid
}
