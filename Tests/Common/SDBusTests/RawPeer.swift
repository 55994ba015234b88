import Glibc
import Primitives
import Testing

/// A peer that writes the D-Bus wire protocol itself, in little endian: a library would refuse to send malformed
/// messages.
struct RawPeer {
  let socket: Int32

  /// An ordinary client's authentication.
  static var greeting: [UInt8] {
    let identity = Hexadecimal.text(of: String(getuid()).utf8)
    return [0] + Array("AUTH EXTERNAL \(identity)\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n".utf8)
  }

  /// A method call.
  ///
  /// - Parameters:
  ///   - signature: The body's signature in the header, right or wrong.
  ///   - descriptors: How many descriptors the header announces.
  static func call(
    _ number: UInt32, _ member: String = "Take", interface: String = "org.whorl.Test1", signature: String = "",
    body: [UInt8] = [], descriptors: UInt32? = nil
  ) -> [UInt8] {
    var fields = Bytes()
    fields.field(1, "o") { $0.string("/org/whorl/Test") }
    fields.field(2, "s") { $0.string(interface) }
    fields.field(3, "s") { $0.string(member) }
    if !signature.isEmpty { fields.field(8, "g") { $0.signature(signature) } }
    if let descriptors { fields.field(9, "u") { $0.number(descriptors) } }
    var message = Bytes(bytes: [0x6C, 1, 0, 1])
    message.number(UInt32(body.count))
    message.number(number)
    message.number(UInt32(fields.bytes.count))
    message.bytes += fields.bytes
    message.align(8)
    return message.bytes + body
  }

  /// Sends as many of the bytes as the other side reads within ten seconds. Returns whether all were sent.
  @discardableResult
  func send(_ bytes: [UInt8], descriptors: [Int32] = []) -> Bool {
    var sent = 0
    while sent < bytes.count {
      var poller = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
      guard poll(&poller, 1, 10_000) == 1 else { return false }
      let count = sendOnce(Array(bytes[sent...]), descriptors: sent == 0 ? descriptors : [])
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// One `sendmsg` that does not wait.
  func sendOnce(_ bytes: [UInt8], descriptors: [Int32] = []) -> Int {
    var control: [UInt8] = []
    if !descriptors.isEmpty {
      // `struct cmsghdr` and the descriptors behind it
      let size = 16 + 4 * descriptors.count
      withUnsafeBytes(of: UInt64(size)) { control += $0 }
      withUnsafeBytes(of: (Int32(SOL_SOCKET), Int32(SCM_RIGHTS))) { control += $0 }
      descriptors.withUnsafeBytes { control += $0 }
      control += [UInt8](repeating: 0, count: (8 - control.count % 8) % 8)
    }
    var bytes = bytes
    return bytes.withUnsafeMutableBytes { body in
      control.withUnsafeMutableBytes { control in
        var part = iovec(iov_base: body.baseAddress, iov_len: body.count)
        return withUnsafeMutablePointer(to: &part) { part in
          var message = msghdr()
          message.msg_iov = part
          message.msg_iovlen = 1
          if !control.isEmpty {
            message.msg_control = control.baseAddress
            message.msg_controllen = control.count
          }
          return sendmsg(socket, &message, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
      }
    }
  }

  /// Whether the other side closes the connection within ten seconds, whatever it sends before.
  func isClosed() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var poller = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    while poll(&poller, 1, 10_000) == 1 {
      let count = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      if count == 0 || count < 0 && errno != EAGAIN { return true }
    }
    return false
  }
}

/// Values in the form of the wire.
struct Bytes {
  var bytes: [UInt8] = []

  mutating func align(_ size: Int) { while bytes.count % size != 0 { bytes.append(0) } }

  mutating func number(_ value: UInt32) {
    align(4)
    withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
  }

  mutating func string(_ text: String) {
    number(UInt32(text.utf8.count))
    bytes += Array(text.utf8) + [0]
  }

  mutating func signature(_ text: String) { bytes += [UInt8(text.utf8.count)] + Array(text.utf8) + [0] }

  mutating func field(_ code: UInt8, _ type: String, _ write: (inout Bytes) -> Void) {
    align(8)
    bytes.append(code)
    signature(type)
    write(&self)
  }
}
