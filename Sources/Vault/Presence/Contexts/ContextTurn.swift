import Executors
import VaultStore

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
