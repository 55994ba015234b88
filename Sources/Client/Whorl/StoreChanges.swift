internal import Executors
internal import SecretModel
internal import Synchronization

/// Tells the program's listeners that a person may be able to authenticate in another way than before. One call of the vault
/// waits for all of them, and none while nobody listens.
package final class StoreChanges: Sendable {
  /// Its listener is called until this is released.
  package final class Listening: Sendable {
    private let changes: StoreChanges
    private let number: Int

    fileprivate init(_ changes: StoreChanges, _ number: Int) {
      self.changes = changes
      self.number = number
    }

    deinit { changes.end(number) }
  }

  private struct State {
    var listeners: [Int: @Sendable () async -> Void] = [:]
    var lastNumber = 0
    var waiting: Task<Void, Never>?
  }

  private let link: StoreLink
  private let state = Mutex(State())

  init(of link: StoreLink) { self.link = link }

  /// Whether a call of the vault waits.
  package var isWaiting: Bool { state.withLock { $0.waiting != nil } }

  /// Calls `heard` after each change, and once when the vault can no longer be asked.
  package func listen(_ heard: @escaping @Sendable () async -> Void) -> Listening {
    let number = state.withLock { state in
      state.lastNumber += 1
      state.listeners[state.lastNumber] = heard
      return state.lastNumber
    }
    resume()
    return Listening(self, number)
  }

  private func end(_ number: Int) {
    state.withLock { state in
      state.listeners[number] = nil
      guard state.listeners.isEmpty else { return }
      state.waiting?.cancel()
      state.waiting = nil
    }
  }

  private func resume() {
    state.withLock { state in
      guard state.waiting == nil, !state.listeners.isEmpty else { return }
      state.waiting = Task(executorPreference: BackgroundThread.shared) { await self.wait() }
    }
  }

  private func wait() async {
    var known: Surroundings?
    while !Task.isCancelled {
      do throws(VaultError) {
        known = try await link.call { service throws(VaultError) in try await service.surroundings(otherThan: known) }
      } catch {
        break
      }
      await tell()
    }
    // Whoever cancelled it may have started another one.
    guard !Task.isCancelled else { return }
    state.withLock { $0.waiting = nil }
    await tell()
  }

  private func tell() async {
    for heard in state.withLock({ Array($0.listeners.values) }) { await heard() }
  }
}
