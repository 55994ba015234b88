package import Presence
package import SecureMemory
import VaultItems
import VaultStore

/// Authentication contexts.
extension Vault {
  /// Opens an authentication context. One listener receives its events, in order.
  package func openContext(_ options: ContextOptions, of client: Client) -> (
    handle: ContextHandle, events: ContextEvents
  ) {
    presence.contexts.open(options, of: client)
  }

  /// Passes a response of the person to a context.
  package func respond(_ handle: ContextHandle, _ response: consuming ContextResponse, of client: Client) async {
    guard let context = presence.contexts.context(handle, of: client) else { return }
    switch consume response {
    case .secret(let question, let secret): context.answer(question, with: SharedSecret(secret))
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
    let context = presence.contexts.context(handle, of: client)
    if let password {
      context?.applicationPassword = SharedSecret(password)
    } else {
      context?.applicationPassword = nil
    }
  }

  /// Ends the context. A running call throws `reason`, and every later one `contextInvalidated`. Its evidence is
  /// forgotten, and the event stream finishes.
  package func closeContext(_ handle: ContextHandle, _ reason: VaultError, of client: Client) {
    presence.contexts.close(handle, reason, of: client)
  }

  /// Ends every context of a client whose session has ended.
  func closeContexts(of client: Client) { presence.contexts.close(of: client) }

  /// Ends the call that has the reader, if the notice with this number reported it to this context.
  private func reject(_ notice: Int, for context: Context) async {
    guard let call = context.ahead.call(toldBy: notice), let own = context.call else { return }
    // Do this before the reader is free, or the next waiting request would get it.
    await desk.advance(own)
    guard let other = presence.contexts.context(running: call) else { return }
    other.events.yield(.notice(.rejected(by: context.client.caller.label)))
    other.cancel()
  }
}
