// The start of a child process, and the signals by which a program is ended.

package import CLinux
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

/// The signals by which a person or the system ends a program.
package enum EndingSignals {
  /// Those that this process was not started to ignore. nohup(1), for example, starts a program with SIGHUP ignored.
  /// sigwait(3) returns a blocked signal even if it is ignored, so a program that waits for signals waits for these.
  package static let heard: sigset_t = {
    var set = sigset_t()
    sigemptyset(&set)
    for number in all where !isIgnored(number) { sigaddset(&set, number) }
    return set
  }()

  static let all = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

  /// Whether this process ignores the signal now.
  package static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    sigaction(number, nil, &action)
    // SIG_IGN (bits/signum-generic.h)
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }

  /// Ends this process by the signal that it has received, once it has cleaned up. With an exit status instead, a shell
  /// would take the signal for handled, and a script would go on after Ctrl-C.
  package static func die(of number: Int32) -> Never {
    signal(number, SIG_DFL)
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, number)
    // It is pending in this thread until it is unblocked, so that no thread that waits for signals takes it.
    raise(number)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    _exit(128 + number)
  }
}

/// A signal that this process has received.
package struct ReceivedSignal: Sendable {
  package let number: Int32
  /// Whether the kernel sent it for the terminal, such as at Ctrl-C. Every process in the terminal's foreground then
  /// receives one.
  package let isFromTerminal: Bool

  /// Waits for one of the signals, which are blocked in every thread.
  package static func next(of set: sigset_t) -> ReceivedSignal {
    var set = set
    var information = siginfo_t()
    while true {
      let number = sigwaitinfo(&set, &information)
      // SI_KERNEL (bits/siginfo-consts.h)
      if number > 0 { return ReceivedSignal(number: number, isFromTerminal: information.si_code == 0x80) }
    }
  }
}

/// Holds back the signals that end this process: every thread blocks them, and the main thread waits for them.
package struct HeldEndingSignals: Sendable {
  private let signals = EndingSignals.heard

  /// Call this before any other thread exists, because threads inherit the mask.
  package init() {
    var signals = signals
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    // A write to a closed socket returns an error and does not end the process.
    signal(SIGPIPE, SIG_IGN)
  }

  /// Waits for one of them.
  @discardableResult
  package func wait() -> ReceivedSignal { ReceivedSignal.next(of: signals) }
}
