import Executors
import Fingerprint
import Keys
import SecureMemory

extension Vault {
  /// Opens an authentication context. Its events are heard by one listener, in order.
  func openContext(_ options: ContextOptions, of client: Client) -> (handle: ContextHandle, events: ContextEvents) {
    let handle = ContextHandle(bytes: randomID())
    let (stream, continuation) = AsyncStream.makeStream(of: NumberedEvent.self)
    let source = EventSource(continuation)
    contexts[handle] = Context(of: client, options: options, events: source)
    return (handle, ContextEvents(stream, source))
  }

  /// The open context of this handle, where it is the client's.
  private func context(_ handle: ContextHandle, of client: Client) -> Context? {
    contexts[handle].flatMap { $0.client === client ? $0 : nil }
  }

  /// The context that a request names; nil where nobody is to be asked.
  ///
  /// - Throws: `contextInvalidated` where the client has no such context (any more).
  func context(of request: Request) throws(VaultError) -> Context? {
    guard let handle = request.asking.context else { return nil }
    guard let context = context(handle, of: request.client) else { throw .contextInvalidated }
    // Where another call runs in it, they take effect when that has ended.
    if !context.running, let options = request.asking.options { context.options = options }
    return context
  }

  /// What the person answers, or does in place of an answer.
  func respond(_ handle: ContextHandle, _ response: consuming ContextResponse, of client: Client) {
    guard let context = context(handle, of: client) else { return }
    switch consume response {
    case .secret(let question, let secret): context.answer(question, with: SecretBox(secret))
    case .decline(let question): context.answer(question, with: nil)
    case .ready(let question): context.promptStands(for: question)
    case .fallback: context.chooseFallback()
    case .cancel: context.cancel()
    }
  }

  /// Sets the application password that is used in place of asking; nil takes it away.
  func setApplicationPassword(_ password: consuming SecretBytes?, of handle: ContextHandle, _ client: Client) {
    let context = context(handle, of: client)
    if let password {
      context?.applicationPassword = SecretBox(password)
    } else {
      context?.applicationPassword = nil
    }
  }

  /// Ends the context: a running call ends with `reason`, every later one with `contextInvalidated`, what the context was
  /// satisfied with is forgotten, and the event stream finishes.
  func closeContext(_ handle: ContextHandle, _ reason: VaultError, of client: Client) {
    guard let context = context(handle, of: client) else { return }
    contexts[handle] = nil
    end(context, reason)
  }

  /// Ends every context of a client, whose session is over.
  func closeContexts(of client: Client) {
    for (handle, context) in contexts where context.client === client {
      contexts[handle] = nil
      end(context, .systemCancelled)
    }
  }

  func end(_ context: Context, _ reason: VaultError) {
    context.cancel(because: reason)
    context.evidence = Evidence()
    context.applicationPassword = nil
    context.events.finish()
    // None of them becomes the running call any more, which would have told the next.
    let waiting = context.queue
    context.queue = []
    for call in waiting { call.resume() }
  }

  /// Runs a call in its context; cancelling the caller's task cancels the call. The options that the request brings take
  /// effect when its turn has come.
  func asking<T>(
    _ request: Request, _ body: (Context) async throws(VaultError) -> T
  ) async throws(VaultError) -> T {
    guard let handle = request.asking.context, let context = try context(of: request) else {
      throw .interactionNotAllowed
    }
    while context.running {
      // Apple's contexts take calls from anywhere; the command line's know one at a time.
      guard context.options.keepsEvidence else { throw .busy("this context is already asking for something") }
      // Looked at again in the body: under a preference for a task executor other calls come between.
      await withCheckedContinuation { turn in
        if context.running { context.queue.append(turn) } else { turn.resume() }
      }
    }
    guard contexts[handle] != nil else {
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

  /// A cancelled task is heard of late; by then the context may be busy with another call.
  private func cancel(_ handle: ContextHandle, call: UInt64) {
    if let context = contexts[handle], context.running, context.calls == call { context.cancel() }
  }

  /// Asks for a secret; nil when the listener declines.
  func ask(_ request: SecretRequest, _ context: Context) async throws(VaultError) -> SecretBox? {
    let supplied = if case .passcode = request { context.options.passcodeSupplied } else { false }
    guard supplied || !context.options.interactionNotAllowed else { throw .interactionNotAllowed }
    try context.requireRunning()
    let answer: SecretBox? = await withCheckedContinuation { continuation in
      // A cancel that came since has found nobody waiting.
      guard !context.isCancelled else { return continuation.resume(returning: nil) }
      context.question = .init(number: context.events.yield(.secretWanted(request)), call: continuation)
    }
    guard !context.isCancelled else { throw .cancelled }
    return answer
  }
}

/// Sixteen random bytes of the kernel's: an id or a nonce. Not libcrypto's generator, which takes a program that only reads
/// a millisecond to start; no key is made of these.
func randomID() -> [UInt8] {
  var generator = SystemRandomNumberGenerator()
  let halves = (generator.next(), generator.next())
  return withUnsafeBytes(of: halves) { Array($0) }
}
