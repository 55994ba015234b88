internal import CLinux
internal import CSystemd
internal import Glibc
internal import Processes

/// The socket that clients connect to.
struct ListeningSocket {
  let descriptor: Int32
  /// The path to remove at the end; nil for a socket of systemd's.
  let path: String?

  /// Makes a socket that only this user can connect to. A socket that nobody listens on any more is replaced.
  init(at path: String) throws(Failure) {
    func failure(_ what: String) -> Failure { Failure("\(path): \(what): \(String(cString: strerror(errno)))") }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard !bytes.isEmpty, bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
      throw Failure("\(path): the path of a socket has at most 107 bytes")
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw failure("no socket") }
    func call(_ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Bool {
      withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          body(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
        }
      }
    }
    if !call(bind) {
      guard errno == EADDRINUSE else { throw failure("cannot be made") }
      guard !call(connect) else { throw Failure("\(path): another agent listens there") }
      guard errno == ECONNREFUSED else { throw failure("is in use") }
      var status = stat()
      // Connecting to a file that is not a socket gives the same error.
      guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else {
        throw Failure("\(path): is a file and no socket: name another path")
      }
      guard unlink(path) == 0, call(bind) else { throw failure("is in use") }
    }
    // A program that connects without waiting is refused where the queue is full, so it is as long as the kernel allows.
    guard Glibc.listen(descriptor, 4_096) == 0 else { throw failure("cannot be listened on") }
    (self.descriptor, self.path) = (descriptor, path)
  }

  private init(passed descriptor: Int32) { (self.descriptor, path) = (descriptor, nil) }

  /// The socket that systemd passes (sd_listen_fds(3)). Nil unless it is exactly one, and listens.
  static func passed() -> ListeningSocket? {
    // sd_listen_fds compares LISTEN_PID, so variables for another process are ignored.
    guard sd_listen_fds(1) == 1, sd_is_socket_unix(3, Int32(SOCK_STREAM.rawValue), 1, nil, 0) > 0 else { return nil }
    return ListeningSocket(passed: 3)
  }

  func remove() {
    if let path { unlink(path) }
  }
}
