import Executors
package import SecureMemory

/// Authentication contexts, and the calls that run in them.
extension Vault {
  /// Opens an authentication context. One listener receives its events, in order.
  package func openContext(_ options: ContextOptions, of client: Client) -> (
    handle: ContextHandle, events: ContextEvents
  ) {
    contexts.open(options, of: client)
  }

  /// Passes a response of the person to a context.
  package func respond(_ handle: ContextHandle, _ response: consuming ContextResponse, of client: Client) async {
    guard let context = contexts.context(handle, of: client) else { return }
    switch consume response {
    case .secret(let question, let secret): context.answer(question, with: SecretBox(secret))
    case .decline(let question): context.answer(question, with: nil)
    case .ready(let question): context.promptStands(for: question)
    case .reject(let notice): await reject(notice, for: context)
    case .fallback: context.chooseFallback()
    case .cancel: context.cancel()
    }
  }

  /// Sets the application password, which is then not asked for; nil removes it.
  package func setApplicationPassword(
    _ password: consuming SecretBytes?, of handle: ContextHandle, _ client: Client
  ) {
    let context = contexts.context(handle, of: client)
    if let password {
      context?.applicationPassword = SecretBox(password)
    } else {
      context?.applicationPassword = nil
    }
  }

  /// Ends the context. A running call throws `reason`, and every later one `contextInvalidated`. Its evidence is
  /// forgotten, and the event stream finishes.
  package func closeContext(_ handle: ContextHandle, _ reason: VaultError, of client: Client) {
    contexts.close(handle, reason, of: client)
  }

  /// Ends every context of a client whose session has ended.
  func closeContexts(of client: Client) { contexts.close(of: client) }

  /// Runs a call in its context. Cancelling the caller's task cancels the call. New options of the request take effect
  /// when its turn has come.
  func asking<T>(
    _ request: Request, _ body: (Context) async throws(VaultError) -> T
  ) async throws(VaultError) -> T {
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
    context.begin()
    let call = context.calls
    defer {
      context.running = false
      context.giveTurn()
    }
    do {
      return try await withTaskCancellationHandler {
        try await body(context)
      } onCancel: {
        Task(executorPreference: BackgroundThread.shared) { await self.cancel(handle, call: call) }
      }
    } catch VaultError.cancelled {
      if case .cancelled(let reason) = context.course { throw reason }
      throw VaultError.cancelled
    } catch let error as VaultError {
      throw error
    } catch {
      throw .internalError("\(type(of: error))")
    }
  }

  private func withdraw(_ waiting: UInt64, from handle: ContextHandle) { contexts.withdraw(waiting, from: handle) }
  private func cancel(_ handle: ContextHandle, call: UInt64) { contexts.cancel(handle, call: call) }
}
