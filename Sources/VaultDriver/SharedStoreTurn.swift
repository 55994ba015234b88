/// Who uses the shared store, of which a process has one: the suites of several test targets run in the same process, and
/// one of them has it at a time.
package actor SharedStoreTurn {
  /// The turn of this process.
  package static let shared = SharedStoreTurn()

  private var isTaken = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// Waits until nobody has the store, and has it.
  package func take() async {
    guard isTaken else {
      isTaken = true
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }

  /// Gives the store to whoever waits the longest.
  package func give() {
    if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
  }
}
