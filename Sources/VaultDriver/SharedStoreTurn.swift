/// Who uses the shared store, of which a process has one: the suites of several test targets run in the same process, and
/// one of them has it at a time.
package actor SharedStoreTurn {
  /// The turn of this process.
  package static let shared = SharedStoreTurn()

  private var isTaken = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// Waits until nobody has the store, and has it while a body runs.
  ///
  /// A test that waits here keeps others from running where only so many run at a time, the one that has the store
  /// among them: let a whole suite wait, in a trait of its own.
  package nonisolated func hold(_ body: @Sendable () async throws -> Void) async throws {
    await take()
    do {
      try await body()
    } catch {
      await give()
      throw error
    }
    await give()
  }

  private func take() async {
    guard isTaken else {
      isTaken = true
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }

  /// Gives the store to whoever waits the longest.
  private func give() {
    if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
  }
}
