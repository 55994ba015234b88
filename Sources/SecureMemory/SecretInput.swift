internal import Glibc

/// Why a secret could not be read.
package enum ReadError: Error, Sendable, Hashable, CustomStringConvertible {
  /// There is more than `limit` bytes; what was read is wiped.
  case tooLong(limit: Int)
  /// A line was asked for and the input had ended.
  case endOfInput
  /// `errno` of the system call that failed.
  case system(Int32)

  package var description: String {
    switch self {
    case .tooLong(let limit): "it is longer than \(limit) bytes"
    case .endOfInput: "it has ended"
    case .system(let code): String(cString: strerror(code))
    }
  }
}

extension SecretBytes {
  /// Everything up to the end of `fd`, at most `limit` bytes, straight into locked memory. Waits where `fd` does not
  /// block.
  package static func read(from fd: Int32, limit: Int) throws(ReadError) -> SecretBytes {
    var secret = SecretBytes(count: 0)
    while true {
      let filled = secret.count
      // One byte over the limit tells "too long" from "exactly at the limit".
      let room = min(max(filled, 255), limit - filled) + 1
      secret.resize(to: filled + room)
      let received = try secret.fill(from: fd, at: filled, count: room)
      secret.resize(to: filled + received)
      if received == 0 { return secret }
      if secret.count > limit { throw .tooLong(limit: limit) }
    }
  }

  /// The next line of `fd` without its newline, at most `limit` bytes. Nothing beyond the newline is consumed: whoever
  /// reads the descriptor next gets the rest, which costs a system call for each byte. A last line may lack its
  /// newline. After ``ReadError/tooLong(limit:)`` the rest of the line is still there.
  package static func readLine(from fd: Int32, limit: Int) throws(ReadError) -> SecretBytes {
    var line = SecretBytes(count: 0)
    while true {
      let filled = line.count
      line.resize(to: filled + 1)
      guard try line.fill(from: fd, at: filled, count: 1) == 1 else {
        if filled == 0 { throw .endOfInput }
        line.resize(to: filled)
        return line
      }
      if line.withUnsafeBytes({ $0[filled] == UInt8(ascii: "\n") }) {
        line.resize(to: filled)
        return line
      }
      if line.count > limit { throw .tooLong(limit: limit) }
    }
  }

  /// One `read`, repeated when a signal interrupts it and waited for when there is nothing yet. 0 at the end.
  private mutating func fill(from fd: Int32, at offset: Int, count: Int) throws(ReadError) -> Int {
    while true {
      let received = withUnsafeMutableBytes {
        // Borrows the range for the call and writes at most `count` bytes into it.
        Glibc.read(fd, UnsafeMutableRawBufferPointer(rebasing: $0[offset..<offset + count]).baseAddress, count)
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

/// Waits until a descriptor that does not block can be used again; an interruption counts as ready.
func waitUntilReady(_ fd: Int32, for events: Int32) {
  var entry = pollfd(fd: fd, events: Int16(events), revents: 0)
  // Borrows one entry for the call.
  poll(&entry, 1, -1)
}
