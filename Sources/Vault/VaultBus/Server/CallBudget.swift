internal import SDBus
internal import SecretModel
internal import Synchronization

/// The memory that the open calls of one user may take together, over all of the user's connections.
final class CallBudget: Sendable {
  private let limit: Int
  private let used = Mutex(0)

  /// - Parameter limit: in bytes, counted as `BusValue.cost`.
  init(limit: Int) { self.limit = limit }

  /// The memory of one call, given back when this value is destroyed.
  struct Share: ~Copyable {
    private let budget: CallBudget
    private let cost: Int

    fileprivate init(_ budget: CallBudget, _ cost: Int) {
      self.budget = budget
      self.cost = cost
    }

    deinit {
      let cost = cost
      budget.used.withLock { $0 -= cost }
    }
  }

  /// - Throws: `busy` where the budget is used up by other open calls.
  func share(of arguments: [BusValue]) throws(VaultError) -> Share {
    let cost = arguments.reduce(0) { $0 + $1.cost }
    let fits = used.withLock { used in
      guard used + cost <= limit else { return false }
      used += cost
      return true
    }
    guard fits else { throw .busy("the open calls of this user take more than \(limit >> 20) MiB") }
    return Share(self, cost)
  }
}
