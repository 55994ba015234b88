internal import Synchronization

/// Limits the service's memory for all connections of one user.
final class MemoryBudget: Sendable {
  private let limit: Int
  private let used = Mutex(0)

  /// - Parameter limit: in bytes.
  init(limit: Int) { self.limit = limit }

  /// A part of the budget, given back when this object is deallocated.
  final class Share: Sendable {
    private let budget: MemoryBudget
    private let bytes: Int

    fileprivate init(_ budget: MemoryBudget, _ bytes: Int) {
      self.budget = budget
      self.bytes = bytes
    }

    deinit { budget.used.withLock { $0 -= bytes } }
  }

  /// Nil if the other shares leave less.
  func share(_ bytes: Int) -> Share? {
    let fits = used.withLock { used in
      guard bytes <= limit - used else { return false }
      used += bytes
      return true
    }
    return fits ? Share(self, bytes) : nil
  }

  var mebibytes: Int { limit >> 20 }
}
