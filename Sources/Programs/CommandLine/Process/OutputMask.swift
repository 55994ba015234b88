import CommandBase
import Glibc
internal import Moving
import Primitives
import Settings

/// Replaces secrets in the output of a command. Output that may be the beginning of a secret is held back until it is
/// known whether it is one, also where the command writes the secret in pieces.
final class OutputMask {
  private static let stars = Array("*****".utf8)
  private static let chunk = 64 << 10

  private let secrets: [SharedSecret]
  /// Output that was not written yet.
  private var held = SecretBytes(count: 0)
  /// How many of the held bytes belong to a secret that was found already.
  private var covered = 0

  /// - Parameter secrets: the blanks and line feeds at their ends do not count, since programs drop them.
  init(of secrets: [SharedSecret]) {
    self.secrets = secrets.map { SharedSecret($0.bytes.withoutBlanksAtEnd()) }.filter { !$0.bytes.isEmpty }
  }

  /// Passes on what can be read from a descriptor now.
  ///
  /// - Returns: whether there is more to come. There is not where the output can no longer be written.
  func passOn(from source: Int32, to target: Int32) -> Bool {
    pass(from: source) { shown in
      do throws(WriteError) {
        try shown.write(to: target)
        return true
      } catch {
        return false
      }
    }
  }

  /// Passes what can be read from a descriptor now to a closure, which returns whether it wants more.
  ///
  /// - Returns: whether there is more to come.
  func pass(from source: Int32, to take: (borrowing SecretBytes) -> Bool) -> Bool {
    let start = held.count
    held.resize(to: start + Self.chunk)
    let count = held.withUnsafeMutableBytes {
      // Borrows the room for the call, and writes no more than it holds.
      read(source, UnsafeMutableRawBufferPointer(rebasing: $0[start...]).baseAddress, Self.chunk)
    }
    let code = errno
    held.resize(to: start + max(count, 0))
    if count < 0, code == EINTR || code == EAGAIN { return true }
    return take(shown(isAll: count <= 0)) && count > 0
  }

  /// Takes what can be shown out of the held output.
  private func shown(isAll: Bool) -> SecretBytes {
    var shown = SecretBytes(count: held.count * Self.stars.count)
    var (place, end) = (0, 0)
    held.withUnsafeBytes { bytes in
      shown.withUnsafeMutableBytes { target in
        while place < bytes.count {
          let found = length(of: UnsafeRawBufferPointer(rebasing: bytes[place...]))
          // A longer secret may begin here, too.
          if found.mayBecomeLonger, !isAll { return }
          if found.length > 0, place >= covered {
            for star in Self.stars {
              target[end] = star
              end += 1
            }
          }
          covered = max(covered, place + found.length)
          if place >= covered {
            target[end] = bytes[place]
            end += 1
          }
          place += 1
        }
      }
    }
    shown.resize(to: end)
    held = held.withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[place...])) }
    covered = max(0, covered - place)
    return shown
  }

  /// The length of the longest secret that the bytes begin with, and whether they end within another one.
  private func length(of bytes: UnsafeRawBufferPointer) -> (length: Int, mayBecomeLonger: Bool) {
    var (length, mayBecomeLonger) = (0, false)
    for secret in secrets {
      secret.bytes.withUnsafeBytes { secret in
        guard let first = bytes.first, first == secret[0] else { return }
        let common = min(secret.count, bytes.count)
        guard bytes[..<common].elementsEqual(secret[..<common]) else { return }
        if common == secret.count { length = max(length, common) } else { mayBecomeLonger = true }
      }
    }
    return (length, mayBecomeLonger)
  }
}

extension SecretBytes {
  fileprivate borrowing func withoutBlanksAtEnd() -> SecretBytes {
    withUnsafeBytes { bytes in
      var end = bytes.count
      while end > 0, " \t\r\n".utf8.contains(bytes[end - 1]) { end -= 1 }
      return SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[..<end]))
    }
  }
}

/// The standard output and standard error of a command, on their way through masks. Where both go to the same place, the
/// command gets one pipe for both, so that their order stays.
struct MaskedStreams {
  private struct Stream {
    let source: Int32
    let commandEnd: Int32
    let target: Int32
    let mask: OutputMask
  }

  private let streams: [Stream]
  /// The descriptors for the command, and their numbers there.
  let ends: [(descriptor: Int32, number: Int32)]

  init(_ secrets: [SharedSecret]) throws(Failure) {
    var (output, diagnostics) = (stat(), stat())
    let isOne =
      fstat(STDOUT_FILENO, &output) == 0 && fstat(STDERR_FILENO, &diagnostics) == 0
      && FileIdentity(output) == FileIdentity(diagnostics)
    var streams: [Stream] = []
    for target in isOne ? [STDOUT_FILENO] : [STDOUT_FILENO, STDERR_FILENO] {
      var ends: [Int32] = [-1, -1]
      // Both descriptors are ours.
      guard pipe(&ends) == 0 else { throw .cannotWrite(errno) }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      streams.append(Stream(source: ends[0], commandEnd: ends[1], target: target, mask: OutputMask(of: secrets)))
    }
    self.streams = streams
    ends = streams.map { ($0.commandEnd, $0.target) } + (isOne ? [(streams[0].commandEnd, STDERR_FILENO)] : [])
  }

  /// Passes on what the command and all that it starts write, until each has closed its output.
  func passOn() {
    for stream in streams { close(stream.commandEnd) }
    var open = streams
    while !open.isEmpty {
      var entries = open.map { pollfd(fd: $0.source, events: Int16(POLLIN), revents: 0) }
      poll(&entries, nfds_t(entries.count), -1)
      for (stream, entry) in zip(open, entries) where entry.revents != 0 {
        guard !stream.mask.passOn(from: stream.source, to: stream.target) else { continue }
        // If nobody reads the output any more, the command finds that out by its next write.
        close(stream.source)
        open.removeAll { $0.source == stream.source }
      }
    }
  }
}
