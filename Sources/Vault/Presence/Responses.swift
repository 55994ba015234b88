package import SecretModel
import SecureMemory

/// What a person answers to the prompts of a context.
extension OwnerPresence {
  /// Passes a response of the person to a context; does nothing for a context that has ended.
  package func respond(_ handle: ContextHandle, _ response: consuming ContextResponse, of client: Client) async {
    guard let context = contexts.context(handle, of: client) else { return }
    switch consume response {
    case .secret(let question, let secret): context.answer(question, with: SharedSecret(secret))
    case .decline(let question): context.answer(question, with: nil)
    case .ready(let question): context.promptStands(for: question)
    case .reject(let notice): await reject(notice, for: context)
    case .fallback: context.chooseFallback()
    case .cancel: context.cancel()
    }
  }

  /// Ends the call that has the reader, if the notice with this number reported it to this context.
  private func reject(_ notice: Int, for context: Context) async {
    guard let call = context.ahead.call(toldBy: notice), let own = context.call else { return }
    // Do this before the reader is free, or the next waiting request would get it.
    await readers.desk.advance(own)
    guard let other = contexts.context(running: call) else { return }
    other.events.yield(.notice(.rejected(by: context.client.caller.label)))
    other.cancel()
  }
}
