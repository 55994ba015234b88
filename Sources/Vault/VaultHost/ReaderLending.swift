import Glibc
import Primitives
import ReaderBus
import SDBus
import SecretModel

/// Serves a lent reader on a socket until either side closes it.
final class ReaderLending: Sendable {
  private let reader: LentReader
  private let connection: BusConnection

  /// - Parameter socket: the service's end. It is closed when the loan ends, and if this throws.
  init(of reader: LentReader, on socket: Int32) throws(VaultError) {
    self.reader = reader
    let object = ReaderObject(serving: reader)
    do throws(BusError) {
      connection = try BusConnection(
        socket: socket, role: .server,
        handlers: .init(
          call: { object.handle($0) },
          closed: {
            object.connectionEnded()
            Task(executorPreference: BackgroundThread.shared) { await reader.end() }
          }))
    } catch {
      throw .serviceUnavailable("the reader cannot be served")
    }
  }

  /// Two connected sockets, which the caller owns.
  static func sockets() throws(VaultError) -> (served: Int32, given: Int32) {
    var pair: [Int32] = [-1, -1]
    // The kernel writes two descriptors (transfer full).
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
      throw .serviceUnavailable("no descriptor is left for a reader's socket")
    }
    return (pair[0], pair[1])
  }

  /// Takes the reader back. Returns when the reader desk has it again.
  func end() async {
    connection.close()
    await reader.end()
  }
}
