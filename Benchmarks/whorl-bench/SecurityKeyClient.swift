import Glibc
import Passkeys
import Primitives
import SecretModel
import SessionPrompts
import Synchronization
import Whorl

/// The agent's security key, and its client at the other end of the socket, where `whorl-fido` and a browser are.
final class SecurityKeyClient {
  /// Touches the reader whenever a prompt asks for it.
  private final class Prompt: AuthenticationPrompt {
    private let touch: @Sendable () throws -> Void
    private let matched = Mutex<UInt64>(0)

    init(_ touch: @escaping @Sendable () throws -> Void) { self.touch = touch }

    /// When this process learned of the last match.
    var matchedAt: UInt64 { matched.withLock { $0 } }

    func handle(_ event: AuthenticationEvent, in session: PromptSession) async {
      switch event {
      case .touchWanted:
        await session.shown(event)
        try? touch()
      case .matched: matched.withLock { $0 = ScanClock.now() }
      default: break
      }
    }
  }

  private let prompt: Prompt
  private let socket: Int32
  private var channel: UInt32 = HIDReport.broadcast

  /// - Parameter path: of the socket, which this makes.
  init(at path: String, of store: SecretStore, touch: @escaping @Sendable () throws -> Void) throws {
    let listener = Glibc.socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard bound == 0, listen(listener, 1) == 0 else { throw BenchFailure("no socket at \(path)") }
    let prompt = Prompt(touch)
    self.prompt = prompt
    let passkeys = StorePasskeys(
      in: store, access: AccessControl(.anyFinger), turns: PromptTurns(onBus: "unix:path=/nowhere")
    ) { prompt }
    PasskeyDevice(at: path, vault: passkeys) { _ in }.begin()
    socket = accept(listener, nil, nil)
    let answer = try exchange(.initialize, [UInt8](repeating: 7, count: 8))
    channel = answer[8..<12].reduce(0) { $0 << 8 | UInt32($1) }
  }

  deinit { close(socket) }

  /// `authenticatorGetInfo`.
  func information() throws { try succeed([0x04]) }

  /// `authenticatorGetAssertion` for a site with one passkey. Returns the time from the match to the answer.
  func signIn(to site: String) throws -> UInt64 {
    let hash: [UInt8] = [0x02, 0x58, 32] + [UInt8](repeating: 7, count: 32)
    try succeed([0x02, 0xA2, 0x01, 0x60 | UInt8(site.utf8.count)] + Array(site.utf8) + hash)
    return ScanClock.now() - prompt.matchedAt
  }

  private func succeed(_ message: [UInt8]) throws {
    let status = try exchange(.cbor, message).first
    guard status == 0 else { throw BenchFailure("the security key answered \(status ?? 255)") }
  }

  private func exchange(_ command: HIDCommand, _ message: [UInt8]) throws -> [UInt8] {
    for report in HIDReport.packets(command, message, on: channel) { _ = send(socket, report, report.count, 0) }
    var answer: [UInt8] = []
    var count = 0
    var report = [UInt8](repeating: 0, count: HIDReport.count)
    repeat {
      guard recv(socket, &report, report.count, 0) == report.count else {
        throw BenchFailure("the security key has gone")
      }
      if report[4] == HIDCommand.keepAlive.rawValue | 0x80 { continue }
      if count == 0 { count = Int(report[5]) << 8 | Int(report[6]) }
      answer += report[(report[4] & 0x80 == 0 ? 5 : 7)...]
    } while answer.isEmpty || answer.count < count
    return Array(answer.prefix(count))
  }
}
