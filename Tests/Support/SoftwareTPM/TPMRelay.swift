import Glibc
package import VaultStore

/// Passes commands and answers between programs and a TPM in software, one connection at a time, and shows each to a test
/// before it is passed on. It ends with the test's process.
package final class TPMRelay: Sendable {
  package struct Message: Sendable {
    /// The code of the command (TPM 2.0, part 2, 6.5.2), also for its answer.
    package let command: UInt32
    package let isAnswer: Bool
  }

  /// Where a program reaches the TPM through this relay.
  package let path: String
  private let target: String
  private let pass: @Sendable (Message) -> Bool
  private let listening: Int32

  /// - Parameters:
  ///   - folder: where the socket is made.
  ///   - pass: called for each message on a thread of the relay; the connection ends where it returns false.
  package init(to place: TPMPlace, in folder: String, pass: @escaping @Sendable (Message) -> Bool) throws {
    (path, target, self.pass) = (folder + "/tpm", place.path, pass)
    // The control channel needs no relay.
    guard symlink(target + ".ctrl", path + ".ctrl") == 0 else { throw SoftwareTPMFailure("no link") }
    listening = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard Self.with(path, { bind(listening, $0, $1) }) == 0, listen(listening, 16) == 0 else {
      throw SoftwareTPMFailure("no socket at \(path)")
    }
    var thread = pthread_t()
    // The thread owns this reference, and never ends.
    pthread_create(&thread, nil, serveRelay, Unmanaged.passRetained(self).toOpaque())
  }

  fileprivate func serve() {
    while true {
      let client = accept(listening, nil, nil)
      guard client >= 0 else { return }
      let tpm = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      if Self.with(target, { connect(tpm, $0, $1) }) == 0 {
        while exchange(client, tpm) {}
      }
      close(client)
      close(tpm)
    }
  }

  /// Passes one command and its answer on. False where the connection ends.
  private func exchange(_ client: Int32, _ tpm: Int32) -> Bool {
    guard let command = Self.message(from: client) else { return false }
    let code = command[6..<10].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    guard pass(Message(command: code, isAnswer: false)), Self.send(command, to: tpm),
      let answer = Self.message(from: tpm), pass(Message(command: code, isAnswer: true))
    else { return false }
    return Self.send(answer, to: client)
  }

  /// A command or an answer: two bytes, the length of the whole in four, and the rest.
  private static func message(from socket: Int32) -> [UInt8]? {
    guard let head = bytes(10, from: socket) else { return nil }
    let length = head[2..<6].reduce(0) { $0 << 8 | Int($1) }
    guard (10...8_192).contains(length), let rest = bytes(length - 10, from: socket) else { return nil }
    return head + rest
  }

  private static func bytes(_ count: Int, from socket: Int32) -> [UInt8]? {
    var all: [UInt8] = []
    while all.count < count {
      var part = [UInt8](repeating: 0, count: count - all.count)
      let read = recv(socket, &part, part.count, 0)
      guard read > 0 else { return nil }
      all += part.prefix(read)
    }
    return all
  }

  private static func send(_ bytes: [UInt8], to socket: Int32) -> Bool {
    Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
  }

  private static func with(_ path: String, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    return withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        call($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}

private nonisolated func serveRelay(_ relay: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  if let relay { Unmanaged<TPMRelay>.fromOpaque(relay).takeRetainedValue().serve() }
  return nil
}
