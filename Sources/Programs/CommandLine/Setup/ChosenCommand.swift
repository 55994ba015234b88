import CLinux
import Glibc
import SessionPrompts
import Whorl

/// A command that the person has chosen, run at their terminal, as a shell would run it.
struct ChosenCommand {
  private let words: [String]

  init(_ words: [String]) { self.words = words }

  /// Runs it to its end, with this program's terminal and environment. The status is that of a shell: 127 where there is
  /// no such program.
  func run() -> Int32 { start(isQuiet: false) }

  /// Whether it ends with status 0, without showing anything; nil where there is no such program.
  func isTrue() -> Bool? {
    let status = start(isQuiet: true)
    return status == Self.notFound ? nil : status == 0
  }

  private static let notFound: Int32 = 127

  /// This very program, and not another of its name in `PATH`. By its path where that is known: the kernel calls a program
  /// "exe" that was started through `/proc/self/exe`, and prompts and the log would show that name.
  private static var executable: String {
    guard let path = ClientProgram(getpid()).path, access(path, X_OK) == 0 else { return "/proc/self/exe" }
    return path
  }

  private func start(isQuiet: Bool) -> Int32 {
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
    let program = words[0] == "whorl" ? Self.executable : words[0]
    // strdup: the copies are ours until the command has its own
    let arguments = words.map { strdup($0) }
    defer { for argument in arguments { free(argument) } }
    var process: pid_t = 0
    guard posix_spawnp(&process, program, &actions, &attributes, arguments + [nil], environ) == 0 else {
      return Self.notFound
    }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    // As shells do.
    return status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
  }
}
