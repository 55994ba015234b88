public import SecretModel
public import SecureMemory
internal import Synchronization

/// Shows what an authentication waits for, and answers what it asks. One instance may serve several contexts at once.
public protocol AuthenticationPrompt: Sendable {
  /// Called for each event, in order, on no particular thread. It may take its time where a secret is wanted. A call that
  /// was satisfied, or that no finger matched, returns when its events have been handled, or after a second.
  func handle(_ event: AuthenticationEvent, in session: PromptSession) async

  /// The call that asked has ended, whichever way; nothing is waited for any more.
  func finished(in session: PromptSession) async
}

extension AuthenticationPrompt {
  /// Nothing to take down.
  public func finished(in session: PromptSession) async {}
}

/// What whoever shows a prompt may do: cancel, choose the fallback, answer. Nothing here turns into a key.
public struct PromptSession: Sendable {
  let service: any VaultService
  let handle: ContextHandle
  let words: PromptWords
  /// The number of the event this goes with: what it asks for is answered under that number.
  let event: Int

  package init(service: any VaultService, handle: ContextHandle, words: PromptWords, event: Int = 0) {
    (self.service, self.handle, self.words, self.event) = (service, handle, words, event)
  }

  /// The same for another event.
  package func with(event: Int) -> PromptSession {
    PromptSession(service: service, handle: handle, words: words, event: event)
  }

  /// Why the program asks, in its own words.
  public var reason: String? { words.current.reason }
  /// The program's words for the fallback; nil for the usual ones, empty for no fallback.
  public var fallbackTitle: String? { words.current.fallback }
  /// The program's words for cancelling; nil for the usual ones.
  public var cancelTitle: String? { words.current.cancel }
  /// Whether a call runs that may ask for something.
  var isAsking: Bool { words.current.calls > 0 }

  /// The person cancelled.
  public func cancel() async { await service.respond(handle, .cancel) }

  /// The person chose the fallback: the passcode, or under the biometric policy the program's own. Does nothing where the
  /// last touch wanted has none.
  public func chooseFallback() async { await service.respond(handle, .fallback) }

  /// Answers the `secretWanted` that this session was given with. Does nothing when its call does not wait for it any
  /// more.
  public func answer(_ secret: consuming SecretBytes) async {
    await service.respond(handle, .secret(question: event, secret))
  }

  /// Says that an event was shown, where the vault arms the reader no sooner.
  package func shown(_ event: AuthenticationEvent) async {
    guard case .touchWanted(let request) = event, request.awaitsPrompt else { return }
    await service.respond(handle, .ready(question: self.event))
  }

  /// Says that no answer can be given to the `secretWanted` that this session was given with.
  public func decline() async { await service.respond(handle, .decline(question: event)) }
}

extension AuthenticationEvent {
  /// Whether it waits for somebody.
  var isQuestion: Bool {
    switch self {
    case .touchWanted, .secretWanted: true
    default: false
    }
  }
}

/// The words of the call that runs, for the prompt that shows it.
package final class PromptWords: Sendable {
  struct Words {
    var reason: String?
    var fallback: String?
    var cancel: String?
    /// How many calls run, or wait for the one that does.
    var calls = 0
  }

  private let words = Mutex(Words())

  package init() {}

  var current: Words { words.withLock { $0 } }

  package func begin(_ reason: String?, _ fallback: String?, _ cancel: String?) {
    words.withLock { $0 = Words(reason: reason, fallback: fallback, cancel: cancel, calls: $0.calls + 1) }
  }

  package func end() { words.withLock { $0.calls -= 1 } }
}
