internal import CLinux
internal import Glibc

/// A command that runs at this program's terminal, as a shell would run it: with the same environment and descriptors, and
/// with all signals at their default.
package struct ForegroundCommand: Sendable {
  package let process: Int32

  /// Starts it.
  ///
  /// - Parameters:
  ///   - program: a path, or a name that `PATH` finds.
  ///   - arguments: all of them, with the program's own name.
  ///   - isQuiet: whether it reads and writes `/dev/null`.
  package init(_ program: String, _ arguments: [String], isQuiet: Bool = false) throws(ChildStartError) {
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    if isQuiet {
      for descriptor: Int32 in 0...2 {
        posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
      }
    }
    // This program blocks and ignores signals that the command needs.
    var (none, all) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    // strdup: the copies are ours until the command has its own
    let arguments = arguments.map { strdup($0) }
    defer { for argument in arguments { free(argument) } }
    var process: Int32 = 0
    let code = posix_spawnp(&process, program, &actions, &attributes, arguments + [nil], environ)
    guard code == 0 else { throw ChildStartError(code: code) }
    self.process = process
  }

  /// Waits for its end, and returns its exit status as a shell reports it.
  package func status() -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7F
    return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
  }
}
