internal import Primitives
internal import SDBus
internal import Synchronization

/// A prompt that a client may show or dismiss. It ends with the signal `Completed`.
final class ServicePrompt: Sendable {
  private enum State {
    case new
    case shown(Task<Void, Never>)
    case over
  }

  let name: String
  /// The result to report if the prompt was dismissed.
  private let dismissed: BusValue
  /// Asks the person. Returns the result, or nil if the prompt was dismissed.
  private let body: @Sendable () async -> BusValue?
  /// Called once, with whether the prompt was dismissed, and its result.
  private let completed: @Sendable (ServicePrompt, Bool, BusValue) -> Void
  private let state = Mutex(State.new)

  init(
    named name: String, dismissed: BusValue, _ body: @escaping @Sendable () async -> BusValue?,
    completed: @escaping @Sendable (ServicePrompt, Bool, BusValue) -> Void
  ) {
    (self.name, self.dismissed, self.body, self.completed) = (name, dismissed, body, completed)
  }

  /// Whether it was neither shown nor dismissed.
  var isNew: Bool {
    state.withLock { state in
      if case .new = state { true } else { false }
    }
  }

  /// Shows the prompt. Does nothing after the first time.
  func show() {
    state.withLock { state in
      guard case .new = state else { return }
      state = .shown(
        Task.detached(executorPreference: BackgroundThread.shared) {
          let result = await self.body()
          self.complete(result)
        })
    }
  }

  /// Dismisses the prompt. The requested action is not done.
  func dismiss() {
    let running: Task<Void, Never>? = state.withLock { state in
      if case .shown(let task) = state { return task }
      return nil
    }
    if let running { running.cancel() } else { complete(nil) }
  }

  private func complete(_ result: BusValue?) {
    let isFirst = state.withLock { state in
      if case .over = state { return false }
      state = .over
      return true
    }
    guard isFirst else { return }
    completed(self, result == nil, result ?? dismissed)
  }
}
