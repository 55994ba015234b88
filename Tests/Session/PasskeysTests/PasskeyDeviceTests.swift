import Glibc
import Passkeys
import Synchronization
import Testing

/// The agent's end of the socket of `whorl-fido`.
@Suite("The device of a session")
struct PasskeyDeviceTests {
  private func listening(_ body: (String, Int32) async throws -> Void) async throws {
    var template = Array("/tmp/whorl-device-XXXXXX".utf8CString)
    try #require(mkdtemp(&template) != nil)
    let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let listener = socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer {
      close(listener)
      unlink("\(folder)/socket")
      rmdir(folder)
    }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: "\(folder)/socket".utf8) }
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(bound == 0 && listen(listener, 4) == 0)
    try await body("\(folder)/socket", listener)
  }

  /// The next message; empty at the end; nil if none comes.
  private func message(_ socket: Int32) -> [UInt8]? {
    var ready = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    guard poll(&ready, 1, 10_000) == 1 else { return nil }
    var bytes = [UInt8](repeating: 0, count: 128)
    return Array(bytes.prefix(max(0, recv(socket, &bytes, bytes.count, 0))))
  }

  private func accepted(_ listener: Int32) throws -> Int32 {
    var ready = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
    try #require(poll(&ready, 1, 10_000) == 1, "the agent does not connect")
    return accept(listener, nil, nil)
  }

  @Test("the agent's passkey device answers reports, and reconnects after a wrong length", arguments: [1, 63, 65])
  func lengths(_ count: Int) async throws {
    try await listening { path, listener in
      PasskeyDevice(at: path, vault: TestVault()) { _ in }.begin()
      for _ in 1...2 {
        let client = try accepted(listener)
        for report in HIDReport.packets(.initialize, [UInt8](repeating: 3, count: 8), on: HIDReport.broadcast) {
          _ = send(client, report, report.count, 0)
        }
        #expect(message(client)?.count == 64)
        let wrong = [UInt8](repeating: 0, count: count)
        _ = send(client, wrong, wrong.count, 0)
        #expect(message(client) == [])
        close(client)
      }
    }
  }

  @Test("the agent's passkey device cancels the running request when its connection to whorl-fido ends")
  func ended() async throws {
    try await listening { path, listener in
      let vault = TestVault()
      await vault.set(.waits)
      PasskeyDevice(at: path, vault: vault) { _ in }.begin()
      let client = try accepted(listener)
      for (command, text, channel) in [
        (HIDCommand.initialize, [UInt8](repeating: 3, count: 8), HIDReport.broadcast), (.cbor, [0x0B], 1),
      ] {
        for report in HIDReport.packets(command, text, on: channel) { _ = send(client, report, report.count, 0) }
        #expect(message(client)?.count == 64)
      }
      #expect(await vault.open == 1)
      close(client)
      for _ in 1...1_000 {
        guard await vault.open != 0 else { break }
        try await Task.sleep(for: .milliseconds(10))
      }
      #expect(await vault.open == 0)
      #expect(await vault.cancelled == 1)
    }
  }

  @Test("the agent's passkey device says once that whorl-fido's socket is missing, also if its path is too long")
  func missing() async throws {
    for path in ["/nowhere/socket", "/" + String(repeating: "x", count: 200)] {
      let (lines, sink) = AsyncStream.makeStream(of: String.self)
      PasskeyDevice(at: path, vault: TestVault()) { sink.yield($0) }.begin()
      let count = Mutex(0)
      let reader = Task { for await _ in lines { count.withLock { $0 += 1 } } }
      try await Task.sleep(for: .milliseconds(4_500))
      reader.cancel()
      #expect(count.withLock { $0 } == 1)
    }
  }
}
