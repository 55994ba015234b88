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

  /// Starts a program within the bounds, with default signal dispositions. posix_spawn cannot do this, and limits that
  /// are set afterwards do not reach what the program has started before.
  ///
  /// - Parameters:
  ///   - given: descriptors of this process, nil for `/dev/null`, and their numbers in the program. It gets no others.
  ///   - environment: pointers to `NAME=value` and a NUL each, which stay the caller's, and nil at the end.
  /// - Returns: the number of the process.
  func start(
    _ program: HelperProgram, _ arguments: [String], environment: [UnsafeMutablePointer<CChar>?],
    given: [(descriptor: Int32?, number: Int32)], inOwnSession: Bool
  ) throws(ChildStartError) -> Int32 {
    // strdup: the copies are ours until the process has its own
    let words = arguments.map { strdup($0) }
    let path = strdup(program.executionPath)
    defer { for string in words + [path] { free(string) } }
    let opened = open("/dev/null", O_WRONLY | O_CLOEXEC)
    // Above the standard streams, which are replaced one after another.
    let null = fcntl(opened, F_DUPFD_CLOEXEC, 3)
    close(opened)
    defer { close(null) }
    let (descriptors, numbers) = (given.map { $0.descriptor ?? null }, given.map(\.number))
    // Borrows all pointers for the call.
    let process = (words + [nil]).withUnsafeBufferPointer { words in
      environment.withUnsafeBufferPointer { environment in
        descriptors.withUnsafeBufferPointer { descriptors in
          numbers.withUnsafeBufferPointer { numbers in
            var start = whorl_bounded_start(
              path: path, arguments: words.baseAddress, environment: environment.baseAddress,
              descriptors: descriptors.baseAddress, numbers: numbers.baseAddress, count: Int32(given.count),
              program: program.descriptor, in_own_session: inOwnSession, memory: memory,
              processor_time: processorTime, file_size: fileSize)
            return whorl_start_bounded(&start)
          }
        }
      }
    }
    guard process > 0 else { throw ChildStartError(code: errno) }
    return process
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
