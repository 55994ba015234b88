internal import CLinux
internal import Glibc

/// Why a secret could not be written.
package enum WriteError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The reading end was closed (`EPIPE`).
  case closed
  /// A system call failed with this `errno`.
  case system(Int32)

  package var description: String {
    switch self {
    case .closed: String(cString: strerror(EPIPE))
    case .system(let code): String(cString: strerror(code))
    }
  }
}

extension SecretBytes {
  /// Writes all bytes to `fd`. If `fd` is non-blocking, this waits for room. A closed reading end is an error and never
  /// raises SIGPIPE.
  package borrowing func write(to fd: Int32) throws(WriteError) {
    try withUnsafeBytes { (bytes) throws(WriteError) in
      var rest = bytes[...]
      while !rest.isEmpty {
        let sent = withoutBrokenPipeSignal {
          // Borrows the unwritten rest for the call.
          Glibc.write(fd, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        }
        guard sent.result < 0 else {
          rest = rest.dropFirst(sent.result)
          continue
        }
        switch sent.code {
        case EINTR: continue
        case EAGAIN: waitUntilReady(fd, for: POLLOUT)
        case EPIPE: throw .closed
        case let code: throw .system(code)
        }
      }
    }
  }
}

/// Runs one `write` with SIGPIPE blocked in this thread, and discards a SIGPIPE that the write caused. The signal's
/// disposition is process-wide, so it is not changed.
private func withoutBrokenPipeSignal(_ write: () -> Int) -> (result: Int, code: Int32) {
  var pipe = sigset_t()
  var before = sigset_t()
  var pending = sigset_t()
  // All these calls borrow the signal sets.
  sigemptyset(&pipe)
  sigaddset(&pipe, SIGPIPE)
  sigpending(&pending)
  let wasPending = sigismember(&pending, SIGPIPE) == 1
  pthread_sigmask(SIG_BLOCK, &pipe, &before)
  let result = write()
  let code = errno
  if result < 0, code == EPIPE, !wasPending {
    while whorl_wait_for_signal(&pipe, 0) < 0, errno == EINTR {}
  }
  pthread_sigmask(SIG_SETMASK, &before, nil)
  return (result, code)
}
