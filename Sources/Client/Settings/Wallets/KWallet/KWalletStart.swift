internal import CLinux
internal import Glibc
internal import Primitives
internal import Processes

/// Starts the daemon as KWallet's PAM module does: with the wallet's key in a pipe, and a socket on which it waits for
/// the desktop's environment. It opens the wallet before it joins the bus. The key is in no argument and no
/// environment.
struct KWalletStart {
  let places: KWalletPlaces
  /// The folder for the socket, removed afterwards.
  let folder: String
  /// The daemon's environment, as `NAME=value`.
  let environment: [String]
  /// The command that runs the daemon, as a full path and arguments; empty to run it directly.
  var launcher: [String] = []

  func run(giving key: borrowing SecretBytes) throws(WalletError) -> ChildProcess {
    try PrivateFile.makeFolder(folder)
    defer { try? Folder.remove(folder) }
    let listener = try listener()
    let input = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer {
      close(listener.socket)
      close(listener.connection)
      close(input)
    }
    var pipe: [Int32] = [-1, -1]
    // This function owns both ends and closes them.
    guard Glibc.pipe(&pipe) == 0 else { throw .system("no pipe: \(String(cString: strerror(errno)))") }
    defer { for end in pipe { close(end) } }
    // The key fits into the pipe's buffer, so this does not block.
    do throws(WriteError) { try key.write(to: pipe[1]) } catch { throw .system("the pipe of the key: \(error)") }
    let daemon = [places.daemon.program, "--pam-login", "\(pipe[0])", "\(listener.socket)"]
    let words = launcher + daemon
    do {
      // Check the daemon as well, not only its launcher.
      let checked = try HelperProgram(at: places.daemon.program)
      return try withExtendedLifetime(checked) {
        try ChildProcess(
          launcher.isEmpty ? checked : HelperProgram(at: words[0]), arguments: words,
          environment: environment + ["PAM_KWALLET5_LOGIN=\(folder)/socket"],
          descriptors: [pipe[0], listener.socket], standardInput: input)
      }
    } catch {
      throw .notStarted(words[0], error)
    }
  }

  /// A listening socket with a closed connection in its queue, from which the daemon reads an empty environment. It was
  /// started with the right one.
  private func listener() throws(WalletError) -> (socket: Int32, connection: Int32) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let path = Array("\(folder)/socket".utf8)
    guard path.count < MemoryLayout.size(ofValue: address.sun_path) else {
      throw .system("\(folder)/socket: the path is too long for a socket")
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    let (listener, connection) = (socket(AF_UNIX, kind, 0), socket(AF_UNIX, kind, 0))
    // Borrows the address for the calls.
    let isReady = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        return bind(listener, $0, size) == 0 && listen(listener, 1) == 0 && connect(connection, $0, size) == 0
      }
    }
    guard isReady, shutdown(connection, Int32(SHUT_RDWR)) == 0 else {
      let code = errno
      close(listener)
      close(connection)
      throw .system("\(folder)/socket: \(String(cString: strerror(code)))")
    }
    return (listener, connection)
  }
}
