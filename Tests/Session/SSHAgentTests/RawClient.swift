import Glibc
import Primitives
import ProgramDriver
import SSHAgent

/// A client that sends what it is told.
final class RawClient: Sendable {
  private let descriptor: Int32

  init(_ path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let descriptor = descriptor
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard connected == 0 else { throw SystemFailure(path) }
  }

  deinit { close(descriptor) }

  /// Sends bytes as they are, and returns the answer without its length; nil where the agent ends the connection.
  func send(_ bytes: [UInt8]) -> [UInt8]? {
    _ = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    guard let header = read(4) else { return nil }
    return read(header.reduce(0) { $0 << 8 | Int($1) })
  }

  /// Sends bytes as they are, and reads no answer.
  func begin(_ bytes: [UInt8]) {
    _ = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
  }

  /// Sends a message, and returns the type of the answer.
  func answer(to fill: (inout SSHWriter) -> Void) -> UInt8? {
    var message = SSHWriter()
    fill(&message)
    var framed = SSHWriter()
    framed.append(string: message.bytes)
    return send(framed.bytes)?.first
  }

  private func read(_ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return recv(descriptor, &bytes, count, Int32(MSG_WAITALL)) == count ? bytes : nil
  }

  func bind(_ bind: SessionBind) -> UInt8? {
    answer {
      $0.append(byte: 27)
      $0.append(text: "session-bind@openssh.com")
      for field in [bind.hostKey, bind.session, bind.signature] { $0.append(string: field) }
      $0.append(byte: bind.isForwarding ? 1 : 0)
    }
  }

  func sign(_ key: [UInt8], _ data: [UInt8], flags: UInt32 = 0) -> UInt8? {
    answer {
      $0.append(byte: 13)
      $0.append(string: key)
      $0.append(string: data)
      $0.append(number: flags)
    }
  }

  /// Locks the agent, or unlocks it.
  func change(lock isLocking: Bool, _ password: String) -> UInt8? {
    answer {
      $0.append(byte: isLocking ? 22 : 23)
      $0.append(text: password)
    }
  }
}
