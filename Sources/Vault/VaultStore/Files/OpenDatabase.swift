package import GRDB
import Synchronization

/// A database that is closed when it is released. GRDB's object for it, about 2 KiB, stays in memory.
///
/// GRDB stores values on the dispatch queue of a database. When that queue is freed, libdispatch frees them on a global
/// queue, and from the first job of such a queue on it wakes the process every second, for as long as it runs
/// (docs/decisions/0149).
package final class OpenDatabase: Sendable {
  private static let closed = Mutex<[DatabaseQueue]>([])

  package let queue: DatabaseQueue

  package init(at path: String, _ configuration: Configuration = Configuration()) throws {
    queue = try DatabaseQueue(path: path, configuration: configuration)
  }

  deinit {
    try? queue.close()
    Self.closed.withLock { $0.append(queue) }
  }
}
