// Secrets over descriptors.

internal import CLinux
internal import Glibc

/// Why a secret could not be read.
package enum ReadError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The input is longer than `limit` bytes. What was read has been wiped.
  case tooLong(limit: Int)
  /// The input ended before another line began.
  case endOfInput
  /// A system call failed with this `errno`.
  case system(Int32)

  package var description: String {
    switch self {
    case .tooLong(let limit): "it is longer than \(limit) bytes"
    case .endOfInput: "it has ended"
    case .system(let code): unsafe String(cString: strerror(code))
    }
  }
}

extension SecretBytes {
  /// Reads `fd` to its end, at most `limit` bytes, directly into locked memory. If `fd` is non-blocking, this waits for
  /// input.
  package static func read(from fd: Int32, limit: Int) throws(ReadError) -> SecretBytes {
    var secret = SecretBytes(count: 0)
    while true {
      let filled = secret.count
      // Try to read one byte more than the limit, to tell an input that is too long from one of exactly `limit` bytes.
      let room = min(max(filled, 255), limit - filled) + 1
      secret.resize(to: filled + room)
      let received = try secret.fill(from: fd, at: filled, count: room)
      secret.resize(to: filled + received)
      if received == 0 { return secret }
      if secret.count > limit { throw .tooLong(limit: limit) }
    }
  }

  /// Reads `count` bytes of `fd` directly into locked memory; fewer only at the end of the input.
  package static func read(from fd: Int32, upTo count: Int) throws(ReadError) -> SecretBytes {
    var secret = SecretBytes(count: count)
    var filled = 0
    while filled < count {
      let received = try secret.fill(from: fd, at: filled, count: count - filled)
      if received == 0 { break }
      filled += received
    }
    secret.resize(to: filled)
    return secret
  }

  /// Reads the next line of `fd` without its newline, at most `limit` bytes. Nothing after the newline is consumed, so
  /// that the next reader of the descriptor gets it; this costs a system call for each byte. The last line may lack a
  /// newline. After ``ReadError/tooLong(limit:)`` the rest of the line has not been read.
  package static func readLine(from fd: Int32, limit: Int) throws(ReadError) -> SecretBytes {
    var line = SecretBytes(count: 0)
    while try line.readOneMore(from: fd) {
      if line.count > limit { throw .tooLong(limit: limit) }
    }
    return line
  }

  /// Reads the next byte of a line; false at the line's end. It is a separate method because of a defect in the
  /// optimiser of Swift 6.3: inside the loop it drops the change that removes the newline.
  private mutating func readOneMore(from fd: Int32) throws(ReadError) -> Bool {
    let filled = count
    resize(to: filled + 1)
    let received = try fill(from: fd, at: filled, count: 1)
    if received == 0, filled == 0 { throw .endOfInput }
    if received == 1, unsafe withUnsafeBytes({ unsafe $0[filled] != UInt8(ascii: "\n") }) { return true }
    resize(to: filled)
    return false
  }

  /// Makes one `read`. Repeats it if a signal interrupts it, and waits if no input is available yet. Returns 0 at the
  /// end.
  private mutating func fill(from fd: Int32, at offset: Int, count: Int) throws(ReadError) -> Int {
    while true {
      let received = unsafe withUnsafeMutableBytes {
        // Borrows the range for the call and writes at most `count` bytes into it.
        unsafe Glibc.read(fd, UnsafeMutableRawBufferPointer(rebasing: $0[offset..<offset + count]).baseAddress, count)
      }
      if received >= 0 { return received }
      switch errno {
      case EINTR: continue
      case EAGAIN: waitUntilReady(fd, for: POLLIN)
      case let code: throw .system(code)
      }
    }
  }
}

/// Waits until a non-blocking descriptor is ready. Also returns if a signal interrupts the wait.
func waitUntilReady(_ fd: Int32, for events: Int32) {
  var entry = pollfd(fd: fd, events: Int16(events), revents: 0)
  // Borrows one entry for the call.
  unsafe poll(&entry, 1, -1)
}

/// Why a secret could not be written.
package enum WriteError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The reading end was closed (`EPIPE`).
  case closed
  /// A system call failed with this `errno`.
  case system(Int32)

  package var description: String {
    switch self {
    case .closed: unsafe String(cString: strerror(EPIPE))
    case .system(let code): unsafe String(cString: strerror(code))
    }
  }
}

extension SecretBytes {
  /// Writes all bytes to `fd`. If `fd` is non-blocking, this waits for room. A closed reading end is an error and never
  /// raises SIGPIPE.
  package borrowing func write(to fd: Int32) throws(WriteError) {
    try unsafe withUnsafeBytes { (bytes) throws(WriteError) in
      var rest = unsafe bytes[...]
      while unsafe !rest.isEmpty {
        let sent = withoutBrokenPipeSignal {
          // Borrows the unwritten rest for the call.
          unsafe Glibc.write(fd, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        }
        guard sent.result < 0 else {
          unsafe rest = rest.dropFirst(sent.result)
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
  unsafe sigemptyset(&pipe)
  unsafe sigaddset(&pipe, SIGPIPE)
  unsafe sigpending(&pending)
  let wasPending = unsafe sigismember(&pending, SIGPIPE) == 1
  unsafe pthread_sigmask(SIG_BLOCK, &pipe, &before)
  let result = write()
  let code = errno
  if result < 0, code == EPIPE, !wasPending {
    while unsafe whorl_wait_for_signal(&pipe, 0) < 0, errno == EINTR {}
  }
  unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
  return (result, code)
}
