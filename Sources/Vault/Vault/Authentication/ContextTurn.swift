import Executors

/// The turn of one call in a context. The next call of the context runs when this value is destroyed.
struct ContextTurn: ~Copyable {
  let context: Context

  init(in context: Context) {
    self.context = context
    context.begin()
  }

  deinit { context.finish() }
}

extension Vault {
  /// Waits until no other call runs in the request's context. New options of the request take effect then.
  func turn(of request: Request) async throws(VaultError) -> ContextTurn {
    guard let handle = request.asking.context, let context = try contexts.context(of: request) else {
      throw .interactionNotAllowed
    }
    while context.running {
      // Apple's contexts queue simultaneous calls; the command line's allow one at a time.
      guard context.options.keepsEvidence else { throw .busy("this context is already asking for something") }
      let number = context.numberToWait()
      // Checked again in the closure: with a task executor preference, other calls may run in between.
      await withTaskCancellationHandler {
        await withCheckedContinuation { turn in context.wait(number, turn) }
      } onCancel: {
        Task(executorPreference: BackgroundThread.shared) { await self.withdraw(number, from: handle) }
      }
      guard !Task.isCancelled else {
        // It may have been given the turn before it was cancelled.
        if !context.running { context.giveTurn() }
        throw .cancelled
      }
    }
    guard contexts.isOpen(handle) else {
      context.giveTurn()
      throw .contextInvalidated
    }
    if let options = request.asking.options { context.options = options }
    return ContextTurn(in: context)
  }

  private func withdraw(_ waiting: UInt64, from handle: ContextHandle) { contexts.withdraw(waiting, from: handle) }
}
