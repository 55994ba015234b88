package import Testing

/// Gives a whole suite exclusive use of the process's shared store.
///
/// Not for single tests: a waiting test would take one of the limited places of running tests, perhaps from the suite
/// that has the store.
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

/// Lets one suite at a time use the process's shared store: the suites of several test targets run in the same process.
private actor SharedStoreTurn {
  /// The turn of this process.
  static let shared = SharedStoreTurn()

  private var isTaken = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// Waits until the store is free, and takes it.
  func take() async {
    guard isTaken else {
      isTaken = true
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }

  /// Gives the store to the suite that has waited longest.
  func give() {
    if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
  }
}
