import Glibc
import Testing

/// `whorl-fido` on a machine of `pretend-machine.c`: without a kernel's `/dev/uhid`, and without logind.
final class PretendMachine {
  /// A device, or an agent's connection.
  struct Socket {
    let descriptor: Int32

    init(_ descriptor: Int32) throws {
      try #require(descriptor >= 0, "\(String(cString: strerror(errno)))")
      self.descriptor = descriptor
    }

    func leave() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// The next message; empty at the end; nil if none comes.
    func message(within milliseconds: Int32 = 5_000) -> [UInt8]? {
      var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&ready, 1, milliseconds) == 1 else { return nil }
      var bytes = [UInt8](repeating: 0, count: 8_192)
      let count = recv(descriptor, &bytes, bytes.count, 0)
      return Array(bytes.prefix(max(0, count)))
    }

    /// Whether the other side ends the connection.
    func ends(within milliseconds: Int32 = 5_000) -> Bool {
      while let message = message(within: milliseconds) { if message.isEmpty { return true } }
      return false
    }

    func send(_ message: [UInt8]) { _ = Glibc.send(descriptor, message, message.count, Int32(MSG_NOSIGNAL)) }
  }

  private let folder: String
  private let uhid: Socket
  private let signals: Int32
  private let program: pid_t
  private var sockets: [Socket] = []

  /// Runs `body` with the program. Sessions are lines of the file `sessions`.
  static func with(_ sessions: String?, hasSocket: Bool = true, _ body: (PretendMachine) throws -> Void) throws {
    let machine = try PretendMachine(sessions, hasSocket)
    defer { machine.end() }
    try body(machine)
  }

  private init(_ sessions: String?, _ hasSocket: Bool) throws {
    var template = Array("/tmp/whorl-fido-XXXXXX".utf8CString)
    try #require(mkdtemp(&template) != nil)
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let tests = String(#filePath.prefix { $0 != "\0" }).split(separator: "/").dropLast(2)
    let root = "/" + tests.dropLast(2).joined(separator: "/")
    try Self.build(root, "/" + tests.joined(separator: "/") + "/whorl-fido/pretend-machine.c", into: "\(folder)/fido")
    uhid = try Self.listening("\(folder)/uhid")
    try #require(mkfifo("\(folder)/signals", 0o600) == 0)
    signals = open("\(folder)/signals", O_RDWR | O_CLOEXEC)
    let listener = try Self.listening("\(folder)/socket")
    Self.write(sessions, to: "\(folder)/sessions")
    program = try Self.start(folder, hasSocket ? listener.descriptor : nil)
    close(listener.descriptor)
  }

  private func end() {
    kill(program, SIGKILL)
    waitpid(program, nil, 0)
    for socket in sockets + [uhid] { close(socket.descriptor) }
    close(signals)
    for name in ["fido", "uhid", "signals", "socket", "sessions", "refuses", "user"] { unlink("\(folder)/\(name)") }
    rmdir(folder)
  }

  /// Changes the sessions, and tells the program that something has changed.
  func change(_ sessions: String?) {
    Self.write(sessions, to: "\(folder)/sessions")
    signal("c")
  }

  func signal(_ letter: Character) { _ = Glibc.write(signals, [letter.asciiValue ?? 0], 1) }

  /// Takes `/dev/uhid` away.
  func breakDevices() { unlink("\(folder)/uhid") }

  /// Lets the kernel make no device of what it is told.
  func refuseDevices() { Self.write("", to: "\(folder)/refuses") }

  /// Lets the next agents be those of a user.
  func become(_ user: Int) { Self.write("\(user)", to: "\(folder)/user") }

  /// Connects as an agent does.
  func agent() throws -> Socket {
    let socket = try Socket(Glibc.socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0))
    let connected = Self.withAddress("\(folder)/socket") { connect(socket.descriptor, $0, $1) }
    try #require(connected == 0)
    sockets.append(socket)
    return socket
  }

  /// The next device that the program makes.
  func device() throws -> Socket {
    try #require(makesDevice(within: 5_000), "no device was made")
    let device = try Socket(accept(uhid.descriptor, nil, nil))
    sockets.append(device)
    return device
  }

  /// Whether the program makes a device.
  func makesDevice(within milliseconds: Int32 = 300) -> Bool {
    var ready = pollfd(fd: uhid.descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&ready, 1, milliseconds) == 1
  }

  /// The status with which the program ends.
  func status() -> Int32 {
    var status: Int32 = 0
    waitpid(program, &status, 0)
    return status >> 8
  }

  // MARK: The parts

  private static func build(_ root: String, _ pretended: String, into program: String) throws {
    let command = """
      cc -std=gnu11 -Wall -Wextra -Werror -o '\(program)' '\(root)/Sources/Programs/whorl-fido/main.c' '\(pretended)' \
      $(sed -n 's/.*__wrap_\\([a-z_0-9]*\\)(.*/-Wl,--wrap=\\1/p' '\(pretended)') -lsystemd
      """
    try #require(run(["/bin/sh", "-c", command]) == 0, "whorl-fido cannot be built for its test")
  }

  private static func start(_ folder: String, _ listener: Int32?) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let listener { posix_spawn_file_actions_adddup2(&actions, listener, 3) }
    // Nobody reads its errors, as where the log is started again.
    var errors: [Int32] = [0, 0]
    try #require(pipe(&errors) == 0)
    close(errors[0])
    defer { close(errors[1]) }
    posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO)
    let activation = listener == nil ? "" : "LISTEN_PID=$$ LISTEN_FDS=1 "
    let command = "\(activation)PRETEND_MACHINE='\(folder)' exec '\(folder)/fido'"
    return try spawn(["/bin/sh", "-c", command], &actions)
  }

  private static func run(_ arguments: [String]) throws -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    var status: Int32 = 0
    waitpid(try spawn(arguments, &actions), &status, 0)
    return status
  }

  private static func spawn(_ arguments: [String], _ actions: inout posix_spawn_file_actions_t) throws -> pid_t {
    var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var child: pid_t = 0
    try #require(posix_spawn(&child, arguments[0], &actions, nil, &words, environ) == 0)
    return child
  }

  private static func write(_ text: String?, to path: String) {
    guard let text else {
      unlink(path)
      return
    }
    // Never half a file.
    let file = open("\(path).new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    _ = Glibc.write(file, text, text.utf8.count)
    close(file)
    rename("\(path).new", path)
  }

  private static func listening(_ path: String) throws -> Socket {
    let socket = try Socket(Glibc.socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0))
    try #require(withAddress(path) { bind(socket.descriptor, $0, $1) } == 0)
    try #require(listen(socket.descriptor, 32) == 0)
    return socket
  }

  private static func withAddress(_ path: String, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = UInt16(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, size) }
    }
  }
}
