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
    await presence.respond(handle, response, of: client)
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
}
