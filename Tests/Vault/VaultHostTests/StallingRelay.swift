import Glibc
import SDBus
import Synchronization

/// Passes bytes between a client and the service, until it stalls: from then on the client reads nothing.
final class StallingRelay: Sendable {
  /// The client's end. The caller owns it.
  let client: Int32
  private let near: BusDescriptor
  private let service: BusDescriptor
  private let isStalled = Atomic(false)

  /// - Parameter path: the service's socket.
  init(to path: String) throws {
    service = try .connected(toBus: "unix:path=\(path)")
    var pair: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
      throw BusError.system(errno)
    }
    client = pair[0]
    near = BusDescriptor(taking: pair[1])
  }

  func stall() { isStalled.store(true, ordering: .relaxed) }

  /// Passes bytes until either side has closed its socket, or the task is cancelled.
  func run() async {
    while !Task.isCancelled, pass(from: near, to: service) {
      guard isStalled.load(ordering: .relaxed) || pass(from: service, to: near) else { break }
      try? await Task.sleep(for: .milliseconds(2))
    }
    shutdown(near.rawValue, Int32(SHUT_RDWR))
    shutdown(service.rawValue, Int32(SHUT_RDWR))
  }

  /// Passes what waits. Returns whether both sockets are still connected.
  private func pass(from: BusDescriptor, to: BusDescriptor) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(from.rawValue, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    guard count >= 0 else { return errno == EAGAIN }
    return count > 0 && send(to.rawValue, buffer, count, Int32(MSG_NOSIGNAL)) == count
  }
}
