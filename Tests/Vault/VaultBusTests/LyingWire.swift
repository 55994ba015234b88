import Dispatch
import Glibc
import Synchronization

/// The socket between a vault and a reader. It passes bytes on in both directions, and mangles messages of the reader
/// on the way.
///
/// It closes both sockets when either side has ended.
final class LyingWire: Sendable {
  /// What happens to one message of the reader.
  enum Mangling: Sendable {
    case none
    case dropped
    case twice
    /// It comes after the next message.
    case swapped
    case late(microseconds: UInt32)
    /// One bit of it is changed; the number is taken modulo the message's bits.
    case flipped(bit: Int)
    /// Only this many of its bytes are sent, and nothing after them.
    case cut(count: Int)
    /// Only this many of its bytes are sent, and the connection ends.
    case brokenOff(count: Int)
    /// These bytes come before it.
    case preceded(by: [UInt8])
  }

  private let vault: Int32
  private let reader: Int32
  private let mangling: @Sendable () -> Mangling
  /// The directions that have not ended.
  private let running = Atomic(2)

  /// Takes ownership of both sockets.
  ///
  /// - Parameter mangling: called for each message of the reader.
  init(vault: Int32, reader: Int32, mangling: @escaping @Sendable () -> Mangling) {
    (self.vault, self.reader, self.mangling) = (vault, reader, mangling)
    DispatchQueue(label: "to the reader").async { self.passOn() }
    DispatchQueue(label: "to the vault").async { self.mangle() }
  }

  private func passOn() {
    while let chunk = Chunk(from: vault), chunk.send(to: reader) {}
    end()
  }

  private func mangle() {
    var stream = ReaderStream()
    var held: [UInt8] = []
    reading: while let chunk = Chunk(from: reader) {
      // Bytes with descriptors stay together.
      guard chunk.descriptors.isEmpty else {
        guard chunk.send(to: vault) else { break }
        continue
      }
      for message in stream.messages(after: chunk.bytes) {
        var out = message.bytes
        switch message.isHandshake ? .none : mangling() {
        case .none: break
        case .dropped: out = []
        case .twice: out += out
        case .swapped:
          held = out
          continue
        case .late(let time): usleep(time)
        case .flipped(let bit): out[bit / 8 % out.count] ^= 1 << UInt8(bit % 8)
        case .cut(let count):
          _ = Chunk(Array(out.prefix(count))).send(to: vault)
          // Read on, so that the reader is not stopped, until either side ends.
          while Chunk(from: reader) != nil {}
          break reading
        case .brokenOff(let count):
          _ = Chunk(Array(out.prefix(count))).send(to: vault)
          break reading
        case .preceded(let bytes): out = bytes + out
        }
        guard Chunk(out + held).send(to: vault) else { break reading }
        held = []
      }
    }
    end()
  }

  private func end() {
    // Wakes the other direction.
    shutdown(vault, Int32(SHUT_RDWR))
    shutdown(reader, Int32(SHUT_RDWR))
    guard running.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
    close(vault)
    close(reader)
  }
}

/// Splits what a server sends into the lines of the handshake and the messages after them.
private struct ReaderStream {
  private var rest: [UInt8] = []
  private var isInHandshake = true

  mutating func messages(after bytes: [UInt8]) -> [(bytes: [UInt8], isHandshake: Bool)] {
    rest += bytes
    var messages: [(bytes: [UInt8], isHandshake: Bool)] = []
    while let count = isInHandshake ? lineCount : messageCount, count <= rest.count {
      let message = Array(rest.prefix(count))
      messages.append((message, isInHandshake))
      // The last line of a server that passes descriptors.
      if isInHandshake, message == Array("AGREE_UNIX_FD\r\n".utf8) { isInHandshake = false }
      rest.removeFirst(count)
    }
    return messages
  }

  private var lineCount: Int? { rest.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } }

  /// Its fixed part has the length of the body at 4 and that of the header's fields at 12, which are padded to 8 bytes.
  private var messageCount: Int? {
    guard rest.count >= 16 else { return nil }
    func length(at offset: Int) -> Int { (0..<4).reduce(0) { $0 | Int(rest[offset + $1]) << (8 * $1) } }
    return 16 + (length(at: 12) + 7) / 8 * 8 + length(at: 4)
  }
}

/// Bytes that were read at once, with the descriptors that came with them.
private struct Chunk {
  let bytes: [UInt8]
  let descriptors: [Int32]

  init(_ bytes: [UInt8]) { (self.bytes, descriptors) = (bytes, []) }

  /// Waits for bytes. Nil at the end of the stream.
  init?(from socket: Int32) {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    var control = [Int32](repeating: 0, count: 512)
    var (count, controlCount) = (0, 0)
    repeat {
      (count, controlCount) = Self.message(&bytes, bytes.count, &control, control.count * 4) { message in
        recvmsg(socket, message, Int32(MSG_CMSG_CLOEXEC))
      }
      if count < 0, errno == EAGAIN {
        var wait = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        poll(&wait, 1, -1)
      }
    } while count < 0 && (errno == EAGAIN || errno == EINTR)
    guard count > 0 else { return nil }
    self.bytes = Array(bytes.prefix(count))
    // One `cmsghdr` of 16 bytes, followed by the descriptors.
    descriptors = controlCount > 16 ? Array(control[4..<(Int(control[0]) / 4)]) : []
  }

  /// Sends everything and closes its descriptors. Returns false if the other side has ended.
  func send(to socket: Int32) -> Bool {
    defer { for descriptor in descriptors { close(descriptor) } }
    var rest = bytes
    var passed = descriptors
    while !rest.isEmpty {
      var control: [Int32] = [Int32(16 + 4 * passed.count), 0, SOL_SOCKET, Int32(SCM_RIGHTS)] + passed
      // Padded to the size of a `size_t`.
      if control.count % 2 == 1 { control.append(0) }
      let count = Self.message(&rest, rest.count, &control, passed.isEmpty ? 0 : control.count * 4) { message in
        sendmsg(socket, message, Int32(MSG_NOSIGNAL))
      }.bytes
      if count < 0, errno == EAGAIN {
        var wait = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
        poll(&wait, 1, -1)
        continue
      }
      guard count > 0 else { return false }
      rest.removeFirst(count)
      passed = []
    }
    return true
  }

  /// Calls `recvmsg` or `sendmsg`, which use the buffers during the call.
  private static func message(
    _ bytes: UnsafeMutableRawPointer, _ count: Int, _ control: UnsafeMutableRawPointer, _ controlCount: Int,
    _ call: (UnsafeMutablePointer<msghdr>) -> Int
  ) -> (bytes: Int, control: Int) {
    var part = iovec(iov_base: bytes, iov_len: count)
    return withUnsafeMutablePointer(to: &part) { part in
      var message = msghdr()
      (message.msg_iov, message.msg_iovlen) = (part, 1)
      (message.msg_control, message.msg_controllen) = (controlCount > 0 ? control : nil, controlCount)
      let result = call(&message)
      return (result, Int(message.msg_controllen))
    }
  }
}
