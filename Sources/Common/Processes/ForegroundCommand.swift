// A person's own command at the terminal, and what has to be undone before a signal ends this program.

internal import Glibc
internal import Synchronization

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
  ///   - given: descriptors of this program that the command gets as number 3 and the ones after it.
  package init(
    _ program: String, _ arguments: [String], isQuiet: Bool = false, given: [Int32] = []
  ) throws(ChildStartError) {
    var start = ChildStart(ignoring: EndingSignals.all)
    // If this program was started with SIGCHLD ignored, the kernel would keep no exit status for it.
    signal(SIGCHLD, SIG_DFL)
    if isQuiet { for descriptor: Int32 in 0...2 { start.open("/dev/null", O_RDWR, as: descriptor) } }
    for (number, descriptor) in zip(Int32(3)..., given) { start.give(descriptor, as: number) }
    // environ: this process's own
    process = try start.start(.name(program), arguments, environment: environ)
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

/// What has to be undone before a signal ends this program: files and folders in the making, and programs that would
/// not end by themselves.
///
/// Each is made and entered here in one step, so that a signal comes before both or after both. After the undoing has
/// begun nothing new is made: the thread that wants to waits for the end of the process.
package final class Unfinished: Sendable {
  package static let ofThisProgram = Unfinished()

  /// What was made, and how to forget it once it is finished.
  package struct Entry: Sendable { fileprivate let number: UInt64 }

  private struct State {
    var hasEnded = false
    var last: UInt64 = 0
    var undoing: [(number: UInt64, undo: @Sendable () -> Void)] = []
  }

  private let state = Mutex(State())

  package init() {}

  /// Makes something, and enters how to undo it.
  ///
  /// - Parameters:
  ///   - make: short, since a signal is not heard meanwhile. It must not call this object, and undoes by itself what it
  ///     has made when it throws.
  ///   - undo: does nothing where the thing is gone or finished.
  package func make<Value: Sendable, Problem: Error>(
    _ make: () throws(Problem) -> Value, undo: @escaping @Sendable (Value) -> Void
  ) throws(Problem) -> (value: Value, entry: Entry) {
    let made: Result<(value: Value, entry: Entry), Problem> = state.withLock { state in
      // Every thread blocks the signals that have handlers, so this returns never.
      while state.hasEnded { pause() }
      do throws(Problem) {
        let value = try make()
        state.last += 1
        state.undoing.append((state.last, { undo(value) }))
        return .success((value, Entry(number: state.last)))
      } catch {
        return .failure(error)
      }
    }
    return try made.get()
  }

  /// Starts a helper program that is killed if a signal ends this one.
  package func start<Problem: Error>(
    _ start: () throws(Problem) -> ChildProcess
  ) throws(Problem) -> (value: ChildProcess, entry: Entry) {
    try make(start) { $0.killAndWait() }
  }

  /// Forgets what is finished, or was undone otherwise.
  package func forget(_ entry: Entry) {
    state.withLock { state in state.undoing.removeAll { $0.number == entry.number } }
  }

  /// Undoes everything, the last first. Call it only when this program ends next.
  package func undoAll() {
    state.withLock { state in
      state.hasEnded = true
      for each in state.undoing.reversed() { each.undo() }
      state.undoing = []
    }
  }
}
