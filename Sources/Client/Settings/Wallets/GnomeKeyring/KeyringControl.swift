internal import CLinux
internal import Glibc
package import Primitives

/// The control socket of gnome-keyring-daemon, over which GNOME's PAM module opens the login keyring. Each connection
/// carries one request and one answer. The daemon answers its own user alone.
///
/// The calls block their thread until the answer comes, and no longer than ``limit``.
package struct KeyringControl: Sendable {
  /// The daemon's answer to a request.
  package enum Answer: UInt32, Sendable {
    /// The request was carried out.
    case done = 0
    /// The secret is wrong, or the daemon has not loaded its keyrings yet.
    case denied = 1
    /// The request failed.
    case failed = 2
    /// The daemon does not manage keyrings.
    case noDaemon = 3
  }

  private enum Request: UInt32 {
    case initialize = 0
    case unlock = 1
    case change = 2
    case quit = 3
  }

  /// The full path of the socket.
  package let path: String
  /// How long one request may take, from the connection to its answer.
  package let limit: Duration

  package init(at path: String, limit: Duration = .seconds(5)) {
    self.path = path
    self.limit = limit
  }

  /// Opens the login keyring. A wrong secret is ``Answer/denied`` even if the keyring is open.
  ///
  /// Only send a secret that is known to be right: the daemon remembers a denied one, and makes it the keyring's
  /// password when a person next opens the keyring by typing the old one.
  package func unlock(with secret: borrowing SecretBytes) throws(WalletError) -> Answer {
    var words = RequestWords(Request.unlock.rawValue)
    try words.append(secret)
    return try answer(to: words)
  }

  /// Gives the login keyring another password. The keyring may be locked.
  package func change(from old: borrowing SecretBytes, to new: borrowing SecretBytes) throws(WalletError) -> Answer {
    var words = RequestWords(Request.change.rawValue)
    try words.append(old)
    try words.append(new)
    return try answer(to: words)
  }

  /// Makes a daemon that was started with `--login` load its keyrings.
  package func initialize() throws(WalletError) -> Answer {
    var words = RequestWords(Request.initialize.rawValue)
    try words.append(SecretBytes(copying: Array("secrets".utf8).span))
    words.appendEmptyList()
    return try answer(to: words)
  }

  /// Ends the daemon.
  package func quit() throws(WalletError) -> Answer { try answer(to: RequestWords(Request.quit.rawValue)) }

  /// Checks that the user's daemon listens, or the socket unit that starts it.
  ///
  /// - Throws: why nothing listens.
  package func requireListening() throws(WalletError) { _ = try Exchange(with: self) }

  private func answer(to words: borrowing RequestWords) throws(WalletError) -> Answer {
    let exchange = try Exchange(with: self)
    try exchange.send(words.bytes)
    let head = try exchange.receive(8)
    guard head[0..<4].number >= 8, let answer = Answer(rawValue: head[4..<8].number) else {
      throw .noAnswer("gnome-keyring-daemon sent an invalid answer")
    }
    return answer
  }
}

/// A request: its length, its number and its texts, each number with its highest byte first.
private struct RequestWords: ~Copyable {
  /// The first byte is not part of the request: with it the daemon receives the client's credentials.
  private(set) var bytes: SecretBytes

  init(_ request: UInt32) {
    bytes = SecretBytes(count: 1)
    append(8)
    append(request)
  }

  mutating func append(_ text: borrowing SecretBytes) throws(WalletError) {
    guard text.withUnsafeBytes({ !$0.contains(0) }) else { throw .unsendable }
    append(UInt32(text.count))
    let start = bytes.count
    bytes.resize(to: start + text.count)
    text.withUnsafeBytes { source in
      bytes.withUnsafeMutableBytes {
        UnsafeMutableRawBufferPointer(rebasing: $0[start...]).copyMemory(from: source)
      }
    }
    put(UInt32(bytes.count - 1), at: 1)
  }

  /// An empty list of strings: INITIALIZE may carry an environment.
  mutating func appendEmptyList() {
    append(UInt32(0))
    put(UInt32(bytes.count - 1), at: 1)
  }

  private mutating func append(_ number: UInt32) {
    bytes.resize(to: bytes.count + 4)
    put(number, at: bytes.count - 4)
  }

  private mutating func put(_ number: UInt32, at offset: Int) {
    bytes.withUnsafeMutableBytes { $0.storeBytes(of: number.bigEndian, toByteOffset: offset, as: UInt32.self) }
  }
}

/// One connection to the socket, with a deadline.
private final class Exchange {
  private let socket: Int32
  private let deadline: UInt64

  deinit { close(socket) }

  init(with control: KeyringControl) throws(WalletError) {
    deadline = SystemClock.awake.nanoseconds + UInt64(control.limit / .nanoseconds(1))
    socket = Glibc.socket(
      AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard socket >= 0 else { throw .system("no socket: \(String(cString: strerror(errno)))") }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let path = Array(control.path.utf8)
    guard path.count < MemoryLayout.size(ofValue: address.sun_path) else {
      throw .notRunning("\(control.path): the path is too long for a socket")
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
    try connect(address, control.path)
    let user = whorl_socket_peer_user(socket)
    guard user == geteuid() else { throw .foreign(control.path, user: user) }
  }

  private func connect(_ address: sockaddr_un, _ path: String) throws(WalletError) {
    while true {
      // Borrows the address for the call.
      let result = withUnsafePointer(to: address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      if result == 0 { return }
      switch errno {
      case EINTR: continue
      // The socket's queue is full, and nothing signals when it has room: try again after a pause.
      case EAGAIN:
        guard remaining > 0 else { throw .noAnswer("gnome-keyring-daemon takes no connection at \(path)") }
        usleep(20_000)
      case let code: throw .notRunning("\(path): \(String(cString: strerror(code)))")
      }
    }
  }

  func send(_ bytes: borrowing SecretBytes) throws(WalletError) {
    var sent = 0
    while sent < bytes.count {
      try wait(for: POLLOUT)
      let count = bytes.withUnsafeBytes {
        // Borrows the rest for the call.
        Glibc.send(socket, $0.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count > 0 { sent += count } else { try requireAgain("gnome-keyring-daemon ended the connection") }
    }
  }

  func receive(_ count: Int) throws(WalletError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var received = 0
    while received < count {
      try wait(for: POLLIN)
      let more = bytes.withUnsafeMutableBytes {
        // Borrows the rest for the call.
        recv(socket, $0.baseAddress.map { $0 + received }, count - received, 0)
      }
      guard more != 0 else { throw .noAnswer("gnome-keyring-daemon ended the connection without an answer") }
      if more > 0 { received += more } else { try requireAgain("gnome-keyring-daemon ended the connection") }
    }
    return bytes
  }

  private func requireAgain(_ words: String) throws(WalletError) {
    guard errno == EINTR || errno == EAGAIN else { throw .noAnswer("\(words): \(String(cString: strerror(errno)))") }
  }

  /// The time until the deadline, in milliseconds.
  private var remaining: Int32 {
    let now = SystemClock.awake.nanoseconds
    return now >= deadline ? 0 : Int32(clamping: (deadline - now) / 1_000_000 + 1)
  }

  private func wait(for events: Int32) throws(WalletError) {
    while true {
      var entry = pollfd(fd: socket, events: Int16(events), revents: 0)
      // Borrows the entry for the call.
      switch poll(&entry, 1, remaining) {
      case 1...: return
      case 0: throw .noAnswer("gnome-keyring-daemon does not answer")
      default:
        guard errno == EINTR else { throw .system("waiting: \(String(cString: strerror(errno)))") }
      }
    }
  }
}

extension ArraySlice<UInt8> {
  /// The bytes as a big-endian number.
  fileprivate var number: UInt32 { reduce(0) { $0 << 8 | UInt32($1) } }
}
