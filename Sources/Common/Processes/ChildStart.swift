internal import CLinux
internal import Glibc

/// Prepares a process for `posix_spawn`: its descriptors, and default signal dispositions, since this program blocks
/// and ignores some.
package struct ChildStart: ~Copyable {
  package enum Program {
    case path(String)
    /// A name that `PATH` finds, or a path.
    case name(String)
  }

  private var actions = posix_spawn_file_actions_t()
  private var attributes = posix_spawnattr_t()

  /// - Parameters:
  ///   - inOwnSession: whether it gets a session of its own, without this process's terminal.
  ///   - ignoring: the signals that it ignores if this process does.
  package init(inOwnSession: Bool = false, ignoring: [Int32] = []) {
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    var (none, all) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    sigfillset(&all)
    for number in ignoring where EndingSignals.isIgnored(number) { sigdelset(&all, number) }
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    let session = inOwnSession ? whorl_spawn_in_own_session : 0
    posix_spawnattr_setflags(&attributes, Int16(session | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
  }

  deinit {
    // Destroying needs mutable copies, which a deinit does not have.
    var (actions, attributes) = (actions, attributes)
    posix_spawn_file_actions_destroy(&actions)
    posix_spawnattr_destroy(&attributes)
  }

  /// Opens a file as this descriptor.
  ///
  /// - Parameter mode: of a new file.
  package mutating func open(_ path: String, _ flags: Int32, as descriptor: Int32, mode: UInt32 = 0) {
    posix_spawn_file_actions_addopen(&actions, descriptor, path, flags, mode)
  }

  /// Passes it a descriptor of this process. With the same number it stays open even if it is close-on-exec.
  package mutating func give(_ descriptor: Int32, as number: Int32) {
    posix_spawn_file_actions_adddup2(&actions, descriptor, number)
  }

  package mutating func close(_ descriptor: Int32) { posix_spawn_file_actions_addclose(&actions, descriptor) }

  package mutating func closeAll(from descriptor: Int32) {
    posix_spawn_file_actions_addclosefrom_np(&actions, descriptor)
  }

  /// - Parameters:
  ///   - arguments: all of them, with the program's own name.
  ///   - environment: pointers to `NAME=value` and a NUL each, which stay the caller's, and nil at the end.
  /// - Returns: the number of the process.
  package mutating func start(
    _ program: Program, _ arguments: [String], environment: UnsafePointer<UnsafeMutablePointer<CChar>?>
  ) throws(ChildStartError) -> Int32 {
    // strdup: the copies are ours until the process has its own
    let arguments = arguments.map { strdup($0) }
    defer { for argument in arguments { free(argument) } }
    var process: Int32 = 0
    let code =
      switch program {
      case .path(let path): posix_spawn(&process, path, &actions, &attributes, arguments + [nil], environment)
      case .name(let name): posix_spawnp(&process, name, &actions, &attributes, arguments + [nil], environment)
      }
    guard code == 0 else { throw ChildStartError(code: code) }
    return process
  }
}

/// Why `posix_spawn` started nothing.
package struct ChildStartError: Error {
  /// An errno.
  package let code: Int32
  package var words: String { String(cString: strerror(code)) }
}
