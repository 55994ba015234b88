package import Testing

/// Holds the shared store, of which a process has one, for a whole suite.
///
/// Never for a test by itself: one that waits for it keeps others from running where only so many run at a time, the one
/// that has the store among them.
package struct SharedStoreTrait: SuiteTrait, TestScoping {
  package init() {}

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
  ) async throws {
    await SharedStoreTurn.shared.take()
    do {
      try await body()
    } catch {
      await SharedStoreTurn.shared.give()
      throw error
    }
    await SharedStoreTurn.shared.give()
  }
}

/// Who uses the shared store, of which a process has one: the suites of several test targets run in the same process, and
/// one of them has it at a time.
private actor SharedStoreTurn {
  /// The turn of this process.
  static let shared = SharedStoreTurn()

  private var isTaken = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// Waits until nobody has the store, and has it.
  func take() async {
    guard isTaken else {
      isTaken = true
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }

  /// Gives the store to whoever waits the longest.
  func give() {
    if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
  }
}
