internal import CLinux
internal import Glibc
internal import Processes

/// The socket to the program that started this process.
struct StarterSocket {
  /// Not closed by this value.
  let descriptor: Int32

  /// Takes over descriptor 0 and replaces it by `/dev/null`. Nil if descriptor 0 is not a connected Unix socket.
  init?() {
    guard whorl_socket_peer(STDIN_FILENO) >= 0 else { return nil }
    let copy = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
    let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard copy >= 0, null >= 0, dup2(null, STDIN_FILENO) >= 0 else { return nil }
    close(null)
    descriptor = copy
  }

  /// The program that made the socket and started this process. Nil if these are two programs, or if it has ended.
  ///
  /// As long as this process's parent stays the same, the parent's number cannot be reused.
  func starter() -> ProcessHandle? {
    let parent = getppid()
    guard whorl_socket_peer(descriptor) == parent, let starter = ProcessHandle(parent), getppid() == parent else {
      return nil
    }
    return starter
  }
}
