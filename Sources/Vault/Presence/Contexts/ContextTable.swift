import Primitives
import VaultStore

/// The open authentication contexts of a vault's clients. Confined to the vault's actor.
package final class ContextTable {
  private var contexts: [ContextHandle: Context] = [:]

  /// Opens an authentication context. One listener receives its events, in order.
  package func open(_ options: ContextOptions, of client: Client) -> (handle: ContextHandle, events: ContextEvents) {
    let handle = ContextHandle(bytes: randomID())
    let (stream, continuation) = AsyncStream.makeStream(of: NumberedEvent.self)
    let source = EventSource(continuation)
    contexts[handle] = Context(of: client, handle, options: options, events: source)
    return (handle, ContextEvents(stream, source))
  }

  /// The open context of this handle; nil if it is not the client's.
  package func context(_ handle: ContextHandle, of client: Client) -> Context? {
    contexts[handle].flatMap { $0.client === client ? $0 : nil }
  }

  /// The context of a request; nil for a request without prompts.
  ///
  /// - Throws: `contextInvalidated` if the client has no such open context.
  package func context(of request: Request) throws(VaultError) -> Context? {
    guard let handle = request.asking.context else { return nil }
    guard let context = context(handle, of: request.client) else { throw .contextInvalidated }
    // If another call runs in the context, the options take effect after it.
    if !context.running, let options = request.asking.options { context.options = options }
    return context
  }

  func isOpen(_ handle: ContextHandle) -> Bool { contexts[handle] != nil }

  /// Ends one context with `reason`.
  package func close(_ handle: ContextHandle, _ reason: VaultError, of client: Client) {
    guard let context = context(handle, of: client) else { return }
    contexts[handle] = nil
    context.end(reason)
  }

  /// Ends every context of a client whose session has ended.
  package func close(of client: Client) {
    for (handle, context) in contexts where context.client === client {
      contexts[handle] = nil
      context.end(.systemCancelled)
    }
  }

  /// Ends every context with `systemCancelled`.
  package func closeAll() {
    for context in contexts.values { context.end(.systemCancelled) }
    contexts = [:]
  }

  /// The context in which this call is running; nil if the call has ended.
  package func context(running call: ContextCall) -> Context? {
    contexts[call.context].flatMap { $0.running && $0.call == call ? $0 : nil }
  }

  /// Removes the passcode from the proofs of every context.
  package func forgetPasscodes() {
    for context in contexts.values { context.proofs.passcode = nil }
  }
}

/// The turn of one call in a context. The next call of the context runs when this value is destroyed.
package struct ContextTurn: ~Copyable {
  package let context: Context
  private let turn: QueueTurn

  fileprivate init(in context: Context, _ turn: consuming QueueTurn) {
    self.context = context
    self.turn = turn
    context.begin()
  }

  deinit { context.finish() }
}

extension ContextTable {
  /// Waits until no other call runs in the request's context. New options of the request take effect then.
  package func turn(of request: Request) async throws(VaultError) -> ContextTurn {
    guard let handle = request.asking.context, let context = try context(of: request) else {
      throw .interactionNotAllowed
    }
    // Apple's contexts queue simultaneous calls; the command line's allow one at a time.
    guard !context.running || context.options.keepsEvidence else {
      throw .busy("this context is already asking for something")
    }
    let turn: QueueTurn
    do {
      turn = try await context.turns.turn()
    } catch {
      throw .cancelled
    }
    guard isOpen(handle) else { throw .contextInvalidated }
    if let options = request.asking.options { context.options = options }
    return ContextTurn(in: context, turn)
  }
}
