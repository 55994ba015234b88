import Glibc
import Passkeys
import Testing

/// Serves the authenticator for programs in other languages on a socket at the path in `WHORL_CTAP_SOCKET`: reports of
/// 64 bytes, one client after the other, until that file is removed.
@Suite("An authenticator for other programs", .enabled(if: getenv("WHORL_CTAP_SOCKET") != nil))
struct ServedAuthenticatorTests {
  @Test("the passkey authenticator is served on a socket for programs in other languages")
  func serve() async throws {
    let path = String(cString: try #require(getenv("WHORL_CTAP_SOCKET")))
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = UInt16(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    unlink(path)
    let bound = withUnsafeBytes(of: &address) {
      bind(listener, $0.bindMemory(to: sockaddr.self).baseAddress, socklen_t($0.count))
    }
    try #require(bound == 0 && listen(listener, 4) == 0)
    let vault = TestVault()
    while access(path, F_OK) == 0 {
      let client = accept(listener, nil, nil)
      guard client >= 0 else { continue }
      // A client may leave while it is answered.
      let authenticator = Authenticator(vault: vault) { report in
        _ = send(client, report, report.count, Int32(MSG_NOSIGNAL))
      }
      for await report in reports(of: client) { await authenticator.receive(report) }
      await authenticator.stop()
      close(client)
    }
    close(listener)
  }

  /// The reports that a client sends, read by a thread of its own.
  private func reports(of client: Int32) -> AsyncStream<[UInt8]> {
    let (reports, sink) = AsyncStream.makeStream(of: [UInt8].self)
    Task.detached {
      var report = [UInt8](repeating: 0, count: HIDReport.count)
      while recv(client, &report, report.count, Int32(MSG_WAITALL)) == report.count { sink.yield(report) }
      sink.finish()
    }
    return reports
  }
}
