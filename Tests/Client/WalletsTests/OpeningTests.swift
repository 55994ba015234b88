import Glibc
import Presence
import Primitives
import ProgramDriver
import SecretModel
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore

@testable import Settings

@Suite("Opening the login keyring", .withKeyring, .serialized)
struct OpeningTests {
  private static let secret = "of its own"

  /// Runs the body with a daemon whose keyring has ``secret``, locked, as at the beginning of a session.
  private func withLocked(bus: String? = nil, _ body: (KeyringDaemon) async throws -> Void) async throws {
    try await KeyringDaemon.with(bus: bus) { daemon in
      let changed = try daemon.control.change(
        from: SecretBytes(text: KeyringDaemon.password), to: SecretBytes(text: Self.secret))
      #expect(changed == .done)
      try await daemon.restart()
      try await body(daemon)
    }
  }

  private func open(_ daemon: KeyringDaemon, _ secret: String = secret) throws {
    try KeyringOpening(daemon.places, limit: .seconds(2)).open(with: SecretBytes(text: secret))
  }

  @Test("the stored secret opens GNOME Keyring also after a typed password was sent to it, and stays its password")
  func afterTypedPush() async throws {
    try await PrivateBus.with { bus in
      try await withLocked(bus: bus.address) { daemon in
        #expect(try daemon.unlock("typed at a password login") == .denied)
        try open(daemon)
        #expect(try daemon.unlock("typed at a password login") == .denied)
        try open(daemon)
        let stored = try await daemon.secretTool(
          "store", "--label=x", "--collection=login", "site", "a", input: "in the keyring")
        #expect(stored.status == 0, "\(stored.diagnostics)")
        #expect(try await daemon.fileOpens(with: Self.secret))
        #expect(try await !daemon.fileOpens(with: "typed at a password login"))
      }
    }
  }

  @Test("a missing or damaged keyring file is reported before GNOME Keyring gets a secret and creates a new keyring")
  func unreadable() async throws {
    try await withLocked { daemon in
      let whole = try readFile(daemon.places.file)
      for bytes in [Array(whole.prefix(60)), whole + [0], Array("x".utf8), []] {
        daemon.end()
        try writeFile(daemon.places.file, bytes)
        try await daemon.start()
        #expect(throws: WalletError.self) { try open(daemon) }
        #expect(!daemon.files.contains("login_1.keyring"))
      }
      daemon.end()
      removeFolder(daemon.places.file)
      try await daemon.start()
      #expect(throws: WalletError.missing(daemon.places.file)) { try open(daemon) }
      #expect(!daemon.files.contains("login.keyring"))
      // Without that check, the daemon accepts any secret.
      #expect(try daemon.unlock("any") == .done)
      #expect(daemon.files.contains("login.keyring"))
    }
  }

  @Test("a login keyring without a password is reported as one without")
  func withoutPassword() async throws {
    try await withLocked { daemon in
      try writeFile(daemon.places.file, Array("[keyring]\ndisplay-name=Login\n".utf8))
      #expect(throws: WalletError.withoutPassword(daemon.places.file)) { try open(daemon) }
    }
  }

  @Test("a GNOME Keyring daemon that was started for the login alone is initialized, and opens the keyring")
  func loginDaemon() async throws {
    try await PrivateBus.with { bus in
      try await withLocked(bus: bus.address) { daemon in
        daemon.end()
        try await daemon.start("--login")
        #expect(try daemon.unlock(Self.secret) == .denied, "nothing is there to be opened yet")
        try open(daemon)
      }
    }
  }

  @Test("a wrong secret for GNOME Keyring is refused, and does not change the keyring's file")
  func wrongSecret() async throws {
    try await withLocked { daemon in
      #expect(throws: WalletError.self) { try open(daemon, "another") }
      let keepsItsOwn = try await daemon.fileOpens(with: Self.secret)
      #expect(keepsItsOwn)
    }
  }

  @Test("a missing GNOME Keyring daemon is reported")
  func noDaemon() async throws {
    try await withLocked { daemon in
      daemon.end()
      #expect {
        try open(daemon)
      } throws: {
        if case .notRunning? = $0 as? WalletError { true } else { false }
      }
    }
  }

  @Test("a GNOME Keyring daemon that accepts the connection and does not answer times out", arguments: [0, 1, 4, 7])
  func silentDaemon(answer: Int) async throws {
    try await withLocked { daemon in
      daemon.end()
      let listener = try Listener(at: daemon.places.control)
      let start = ContinuousClock.now
      let answering = Task.detached { listener.answer(Array([0, 0, 0, 8, 0, 0, 0, 0].prefix(answer))) }
      #expect {
        try open(daemon)
      } throws: {
        if case .noAnswer? = $0 as? WalletError { true } else { false }
      }
      #expect(ContinuousClock.now - start < .seconds(5))
      await answering.value
    }
  }

  @Test("a malformed answer of GNOME Keyring's daemon is an error")
  func strangeAnswer() async throws {
    try await withLocked { daemon in
      daemon.end()
      for answer in [[0, 0, 0, 8, 0, 0, 0, 9], [0, 0, 0, 4, 0, 0, 0, 0]] as [[UInt8]] {
        unlink(daemon.places.control)
        let listener = try Listener(at: daemon.places.control)
        let answering = Task.detached { listener.answer(answer) }
        #expect {
          try open(daemon)
        } throws: {
          if case .noAnswer? = $0 as? WalletError { true } else { false }
        }
        await answering.value
      }
    }
  }

  @Test("a secret with a NUL in it is not sent to GNOME Keyring")
  func unsendable() async throws {
    try await withLocked { daemon in
      #expect(throws: WalletError.unsendable) { try open(daemon, "a\0b") }
    }
  }

  @Test("a GNOME Keyring socket of another user gets no secret", .enabled(if: geteuid() == 0, "needs root"))
  func foreign() async throws {
    try await withLocked { daemon in
      daemon.end()
      unlink(daemon.places.control)
      mkdir("\(daemon.runtime)/keyring", 0o700)
      for path in [daemon.folder, daemon.runtime] { #expect(chmod(path, 0o755) == 0) }
      #expect(chown("\(daemon.runtime)/keyring", 12_345, 12_345) == 0)
      let program = """
        import socket, sys, time
        s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(1)
        c = s.accept()[0]; c.settimeout(5)
        sys.stdout.write(str(len(c.recv(100))))
        """
      let running = try Invocation(
        program: "/usr/bin/setpriv",
        arguments: [
          "--reuid=12345", "--regid=12345", "--clear-groups", "/usr/bin/python3", "-c", program, daemon.places.control,
        ]
      ).start()
      while access(daemon.places.control, F_OK) != 0 { try await Task.sleep(for: .milliseconds(10)) }
      try await Task.sleep(for: .milliseconds(100))
      #expect(throws: WalletError.foreign(daemon.places.control, user: 12_345)) { try open(daemon) }
      #expect(running.finish { _, _ in }.text == "0", "not one byte was sent")
    }
  }
}

/// A listening socket without a gnome-keyring-daemon.
private final class Listener: Sendable {
  private let socket: Int32

  init(at path: String) throws {
    unlink(path)
    mkdir(String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]), 0o700)
    socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0, listen(socket, 4) == 0 else { throw SystemFailure(path) }
  }

  deinit { close(socket) }

  /// Accepts one connection, sends these bytes, and waits until the other side has closed it.
  func answer(_ bytes: [UInt8]) {
    let connection = accept(socket, nil, nil)
    defer { close(connection) }
    var chunk = [UInt8](repeating: 0, count: 4096)
    _ = read(connection, &chunk, chunk.count)
    _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    while read(connection, &chunk, chunk.count) > 0 {}
  }
}
