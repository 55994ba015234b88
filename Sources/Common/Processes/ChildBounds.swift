internal import CLinux
internal import Glibc

/// What a child process, and each program that it starts, may use.
package struct ChildBounds: Sendable {
  /// The memory that a process has for itself alone, in bytes (RLIMIT_DATA). Beyond it, the process gets no more memory.
  private let memory: UInt64
  /// The time that a process computes, in seconds (RLIMIT_CPU). Beyond it, SIGXCPU ends the process.
  private let processorTime: UInt64
  /// The longest file that a process may write, in bytes (RLIMIT_FSIZE). Beyond it, SIGXFSZ ends the process.
  private let fileSize: UInt64

  package init(memory: UInt64, processorTime: UInt64, fileSize: UInt64) {
    (self.memory, self.processorTime, self.fileSize) = (memory, processorTime, fileSize)
  }

  /// Sets the bounds of a child that has just been started.
  func set(for child: Int32) throws(ChildStartError) {
    guard whorl_limit_process(child, memory, processorTime, fileSize) == 0 else { throw ChildStartError(code: errno) }
  }
}

/// A pair of sockets, one end in this process and one in a child, which the kernel kills when this process's end is
/// closed: at the latest when this process ends, even if it is killed.
final class Lifeline: Sendable {
  private let ownEnd: Int32
  /// The child gets a copy of it.
  let childEnd: Int32

  init() throws(ChildStartError) {
    var ends: [Int32] = [-1, -1]
    // Both descriptors are ours.
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw ChildStartError(code: errno)
    }
    (ownEnd, childEnd) = (ends[0], ends[1])
  }

  deinit {
    close(ownEnd)
    close(childEnd)
  }

  /// Ties the child to this process.
  func tie(_ child: Int32) throws(ChildStartError) {
    guard whorl_kill_on_hangup(childEnd, child) == 0 else { throw ChildStartError(code: errno) }
  }
}
