internal import Glibc
internal import Primitives

/// The FIDO device of the session: a connection to `whorl-fido`, which makes the device and passes reports.
///
/// The device exists while the session is active and unlocked. Until then `whorl-fido` keeps a new connection waiting;
/// afterwards it closes the connection. This then cancels the current request and connects again.
package final class PasskeyDevice: Sendable {
  /// The socket of `whorl-fido`.
  package static let socketPath = "/run/whorl-fido/socket"

  /// The pause before the next attempt to connect. It doubles with each failure.
  private static let pauses = (shortest: Duration.seconds(2), longest: Duration.seconds(60))

  private let path: String
  private let vault: any PasskeyVault
  private let log: @Sendable (String) -> Void

  package init(at path: String = socketPath, vault: any PasskeyVault, log: @escaping @Sendable (String) -> Void) {
    (self.path, self.vault, self.log) = (path, vault, log)
  }

  /// Serves the device on a thread of its own for as long as the process runs.
  package func begin() {
    Task.detached(executorPreference: BackgroundThread()) { await self.serve() }
  }

  private func serve() async {
    var pause = Self.pauses.shortest
    while true {
      if let socket = connected() {
        pause = Self.pauses.shortest
        await serve(over: socket)
        close(socket)
      } else {
        if pause == Self.pauses.shortest { log("\(path): \(String(cString: strerror(errno))); waiting for whorl-fido") }
        pause = min(pause * 2, Self.pauses.longest)
      }
      try? await Pause.wait(for: pause)
    }
  }

  /// Serves one connection until it ends.
  private func serve(over socket: Int32) async {
    let authenticator = Authenticator(vault: vault) { report in
      // Borrows the report for the call. If it cannot be sent, the device is about to be closed.
      _ = report.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }
    var report = [UInt8](repeating: 0, count: HIDReport.count + 1)
    while true {
      let count = report.withUnsafeMutableBytes { recv(socket, $0.baseAddress, $0.count, 0) }
      if count < 0, errno == EINTR { continue }
      guard count == HIDReport.count else { break }
      await authenticator.receive(Array(report[..<HIDReport.count]))
    }
    await authenticator.stop()
  }

  private func connected() -> Int32? {
    let socket = Glibc.socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { return nil }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let capacity = MemoryLayout.size(ofValue: address.sun_path)
    let bytes = Array(path.utf8)
    guard bytes.count < capacity else {
      close(socket)
      return nil
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else {
      let problem = errno
      close(socket)
      errno = problem
      return nil
    }
    return socket
  }
}
