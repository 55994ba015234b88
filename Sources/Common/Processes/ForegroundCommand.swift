internal import Glibc

/// A command that runs at this program's terminal, as a shell would run it: with the same environment and descriptors.
/// It ignores those of ``EndingSignals`` that this program was started to ignore. All other signals are at their default.
package struct ForegroundCommand: Sendable {
  private let process: Int32
  /// Nil if it could not be opened; the command then receives no signals from this program.
  private let handle: ProcessHandle?

  /// Starts it.
  ///
  /// - Parameters:
  ///   - program: a path, or a name that `PATH` finds.
  ///   - arguments: all of them, with the program's own name.
  ///   - isQuiet: whether it reads and writes `/dev/null`.
  ///   - environment: pointers to `NAME=value` and a NUL each, which stay the caller's, and nil at the end; nil for
  ///     this program's own.
  ///   - given: descriptors of this program that the command gets as number 3 and the ones after it.
  ///   - outputs: descriptors of this program, and their numbers in the command.
  package init(
    _ program: String, _ arguments: [String], environment: UnsafePointer<UnsafeMutablePointer<CChar>?>? = nil,
    isQuiet: Bool = false, given: [Int32] = [], outputs: [(descriptor: Int32, number: Int32)] = []
  ) throws(ChildStartError) {
    var start = ChildStart(ignoring: EndingSignals.all)
    // If this program was started with SIGCHLD ignored, the kernel would keep no exit status for it.
    signal(SIGCHLD, SIG_DFL)
    if isQuiet { for descriptor: Int32 in 0...2 { start.open("/dev/null", O_RDWR, as: descriptor) } }
    for (number, descriptor) in zip(Int32(3)..., given) { start.give(descriptor, as: number) }
    for (descriptor, number) in outputs { start.give(descriptor, as: number) }
    // environ: this process's own
    process = try start.start(.name(program), arguments, environment: environment ?? UnsafePointer(environ))
    handle = ProcessHandle(process)
  }

  /// Passes a signal of this program on, unless the terminal has sent it to the command as well.
  package func pass(on signal: ReceivedSignal) {
    if !signal.isFromTerminal { handle?.signal(signal.number) }
  }

  package enum Ending: Sendable, Equatable {
    case exited(Int32)
    case signalled(Int32)

    /// As a shell reports it.
    package var status: Int32 {
      switch self {
      case .exited(let status): status
      case .signalled(let signal): 128 + signal
      }
    }

    /// The signal of a person or the system that has ended it.
    package var endingSignal: Int32? {
      if case .signalled(let signal) = self, EndingSignals.all.contains(signal) { signal } else { nil }
    }
  }

  /// Waits for its end; status 1 if the kernel has none.
  package func ending() -> Ending {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 {
      guard errno == EINTR else { return .exited(EXIT_FAILURE) }
    }
    let signal = status & 0x7F
    return signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal)
  }

  /// Waits for its end, and returns its exit status as a shell reports it.
  package func status() -> Int32 { ending().status }
}
