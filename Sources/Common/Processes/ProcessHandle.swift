internal import CLinux
internal import Glibc
internal import SDBus

/// A process, named by a pidfd (pidfd_open(2)). Unlike a process number, a pidfd never comes to name another process.
package final class ProcessHandle: Sendable {
  private let descriptor: Descriptor

  /// Opens the process with this number. Nil if there is none.
  ///
  /// The number must not have been given to another process in the meantime. The caller has to make sure of that.
  package init?(_ pid: Int32) {
    guard let descriptor = Descriptor(taking: whorl_open_process(pid)) else { return nil }
    self.descriptor = descriptor
  }

  /// Takes over a pidfd. Nil for the result of a call that failed.
  package init?(taking pidfd: Int32) {
    guard let descriptor = Descriptor(taking: pidfd) else { return nil }
    self.descriptor = descriptor
  }

  /// Whether the process has ended. It may not have been reaped yet.
  package var hasEnded: Bool {
    var polled = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
    return poll(&polled, 1, 0) > 0
  }

  /// Blocks until the process has ended, at most for this time.
  func waitForEnd(milliseconds: Int32) {
    var polled = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
    _ = poll(&polled, 1, milliseconds)
  }

  /// Sends a signal, which has no effect on a process that has ended.
  package func signal(_ number: Int32) {
    whorl_signal_process(descriptor.rawValue, number)
  }

  /// Waits for the end of the process, even if the task is cancelled.
  ///
  /// - Parameter limit: nil to wait without a time limit.
  /// - Returns: Whether the process has ended.
  @discardableResult
  package func ended(within limit: Duration? = nil) async -> Bool {
    if hasEnded { return true }
    let deadline = limit.map { LoopClock.now + $0.microseconds } ?? .max
    await withCheckedContinuation { continuation in
      EndWait(descriptor, deadline) { continuation.resume() }.begin()
    }
    return hasEnded
  }

  /// Calls the closure on the bus loop when the process ends, also if it has ended already. The closure is kept until
  /// then.
  package func onEnd(_ body: @escaping @Sendable () -> Void) {
    EndWait(descriptor, .max, body).begin()
  }

  /// Reaps the process if it is a child of this process and has ended.
  func reap() -> Reaping {
    var code: Int32 = 0
    var status: Int32 = 0
    let result = whorl_reap_process(descriptor.rawValue, &code, &status)
    if result < 0 { return .notOurs }
    switch code {
    case 0: return .running
    case whorl_child_exited: return .exited(status)
    default: return .killed(status)
    }
  }

  /// Whether the process is a child of this process that has not been reaped.
  var isOwnChild: Bool { whorl_is_child(descriptor.rawValue) }

  enum Reaping {
    case running
    /// The value is the exit status.
    case exited(Int32)
    /// The value is the signal.
    case killed(Int32)
    /// Another part of this program has reaped the child, or the program ignores SIGCHLD.
    case notOurs
  }
}

/// Waits on the bus loop for the end of a process or a deadline, whichever comes first.
private final class EndWait: BusLoopSource {
  private let descriptor: Descriptor
  private let deadline: UInt64
  private let body: @Sendable () -> Void

  init(_ descriptor: Descriptor, _ deadline: UInt64, _ body: @escaping @Sendable () -> Void) {
    self.descriptor = descriptor
    self.deadline = deadline
    self.body = body
  }

  func begin() { BusLoop.shared.post { BusLoop.shared.add(self) } }

  func pollRequest() -> BusPollRequest? {
    // Nobody waits urgently for the end of a process without a deadline.
    BusPollRequest(
      descriptor: descriptor.rawValue, events: Int16(POLLIN), deadline: deadline, isAwaited: deadline != .max)
  }

  func dispatch() {
    BusLoop.shared.remove(self)
    body()
  }
}
