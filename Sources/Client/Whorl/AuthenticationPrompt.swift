public import Primitives
internal import SDBus
public import SecretModel
internal import Synchronization

/// Shows prompts for touches and secrets, and answers them. One instance may serve several contexts at once.
public protocol AuthenticationPrompt: Sendable {
  /// Called for each event, in order, on no particular thread. It may wait for the person where a secret is wanted. A
  /// call that succeeded, or in which no finger matched, returns when its events have been handled, or after a second.
  func handle(_ event: AuthenticationEvent, in session: PromptSession) async

  /// Called when the call that asked has ended, with success or not. Take the prompt down.
  func finished(in session: PromptSession) async
}

extension AuthenticationPrompt {
  /// Does nothing.
  public func finished(in session: PromptSession) async {}
}

/// What a prompt may do: cancel, choose the fallback, answer. It cannot grant access by itself.
public struct PromptSession: Sendable {
  let service: any VaultService
  let handle: ContextHandle
  let words: PromptWords
  /// The number of the event that came with this session. Answers contain it.
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
  /// The program's title for the fallback; nil for the default one, empty for no fallback.
  public var fallbackTitle: String? { words.current.fallback }
  /// The program's title for the cancel action; nil for the default one.
  public var cancelTitle: String? { words.current.cancel }
  /// Whether a call is running that may ask for something.
  var isAsking: Bool { words.current.calls > 0 }

  /// Cancels the call, for the person.
  public func cancel() async { await service.respond(handle, .cancel) }

  /// Ends the context because the person has not answered in time: the call throws `timedOut`.
  package func expire() async { await service.closeContext(handle, reason: .time) }

  /// Chooses the fallback, for the person: the passcode, or under the biometric policy the program's own. Does nothing
  /// where the last wanted touch has no fallback.
  public func chooseFallback() async { await service.respond(handle, .fallback) }

  /// Answers the `secretWanted` that came with this session. Does nothing if its call no longer waits for it.
  public func answer(_ secret: consuming SecretBytes) async {
    await service.respond(handle, .secret(question: event, secret))
  }

  /// Tells the vault that the prompt is shown, if the vault waits for that before it arms the reader.
  package func shown(_ event: AuthenticationEvent) async {
    guard case .touchWanted(let request) = event, request.awaitsPrompt else { return }
    await service.respond(handle, .ready(question: self.event))
  }

  /// Ends the request that is using the reader, so that this one comes next. Only for a `readerInUse` that names a
  /// program of the same user (``ReaderUse/program(_:items:)``). Does nothing where that request has ended.
  public func rejectRequestAhead() async { await service.respond(handle, .reject(notice: event)) }

  /// Declines the `secretWanted` that came with this session.
  public func decline() async { await service.respond(handle, .decline(question: event)) }
}

extension AuthenticationEvent {
  /// Whether the event waits for the person.
  var isQuestion: Bool {
    switch self {
    case .touchWanted, .secretWanted: true
    default: false
    }
  }
}

/// The reason and titles of the running call, for the prompt.
package final class PromptWords: Sendable {
  struct Words {
    var reason: String?
    var fallback: String?
    var cancel: String?
    /// The number of calls that run or wait for the running one.
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

/// Hands a context's events to a prompt, one after the other, and keeps track of which have been shown.
package final class PromptListener: Sendable {
  /// The longest wait for a prompt, which may be waiting for the person itself.
  private static let promptLimit = Duration.seconds(1)

  private let events: ContextEvents
  /// The number of the last event that has been shown.
  private let shown = GrowingCount()

  package init(_ events: ContextEvents) { self.events = events }

  /// Runs until the context ends.
  package func run(_ show: (NumberedEvent) async -> Void) async {
    for await event in events {
      await show(event)
      shown.grow(to: event.number)
    }
  }

  /// Waits until every earlier event has been shown, so that the program's next output comes after it; a second at most.
  package func caughtUp() async {
    let (shown, last) = (shown, events.lastNumber)
    guard shown.value < last else { return }
    let waiting = Task(executorPreference: BackgroundThread.shared) { await shown.reaches(last) }
    let timer = LoopTimer(after: Self.promptLimit) { waiting.cancel() }
    await withTaskCancellationHandler {
      await waiting.value
    } onCancel: {
      waiting.cancel()
    }
    timer.cancel()
  }
}
