import Glibc
import SDBus
import Synchronization
import Testing

let target = BusTarget(path: "/org/whorl/Test", interface: "org.whorl.Test1")

/// Two connected sockets. The caller owns them.
func socketPair() throws -> (Int32, Int32) {
  var pair: [Int32] = [-1, -1]
  try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0)
  return (pair[0], pair[1])
}

/// A client and a server in this process, over a socket pair.
struct Loopback {
  let client: BusConnection
  let server: BusConnection

  init(
    limits: BusLimits = .init(), client: BusHandlers = .init(), server: BusHandlers
  ) throws {
    let (one, other) = try socketPair()
    self.client = try BusConnection(socket: one, role: .client, limits: limits, handlers: client)
    self.server = try BusConnection(socket: other, role: .server, limits: limits, handlers: server)
  }

  func close() {
    client.close()
    server.close()
  }
}

/// Collects values that arrive on the loop.
final class Collected<Element: Sendable>: Sendable {
  private let storage = Mutex<[Element]>([])
  func append(_ element: Element) { storage.withLock { $0.append(element) } }
  var elements: [Element] { storage.withLock { $0 } }
}

/// Waits until the condition holds, for at most ten seconds.
func eventually(_ condition: @Sendable () throws -> Bool) async throws -> Bool {
  for _ in 0..<2_000 {
    if try condition() { return true }
    try await Task.sleep(for: .milliseconds(5))
  }
  return false
}

func openDescriptors() throws -> Int {
  let directory = try #require(opendir("/proc/self/fd"))
  defer { closedir(directory) }
  var count = 0
  while readdir(directory) != nil { count += 1 }
  return count
}
