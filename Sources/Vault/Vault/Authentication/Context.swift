import Executors
import Fingerprint
import SecureMemory
import Synchronization

/// An authentication context inside the vault: what it was opened with, and what it waits for now.
final class Context {
  let client: Client
  var options: ContextOptions
  let events: EventSource
  /// The question for a secret that a call waits for.
  var question: Question?
  /// How the call that runs here stands.
  private(set) var course = Course.running
  /// Whether the passcode, or the caller's own way, may be chosen in place of the touch that is wanted.
  var fallback = Fallback.none
  var running = false
  /// How many calls there have been.
  var calls: UInt64 = 0
  /// Calls that wait for the one that runs.
  var queue: [CheckedContinuation<Void, Never>] = []
  /// What has been shown in this context, for its later calls.
  var evidence = Evidence()
  /// Given by the program, in place of asking the person.
  var applicationPassword: SecretBox?
  /// The prompt that is being shown, and who waits until it stands.
  private var prompt: (event: Int, stands: AsyncStream<Void>.Continuation)?
  /// Cancels the action of the reader that is waited for.
  private var cancelAction: (() -> Void)?

  enum Course {
    case running
    case fallbackChosen
    /// Ended, with this error.
    case cancelled(VaultError)
  }

  enum Fallback {
    case none
    /// After a touch that matched nobody.
    case later
    case offered
  }

  init(of client: Client, options: ContextOptions, events: EventSource) {
    self.client = client
    self.options = options
    self.events = events
  }

  /// A context that asks nobody, for what the vault looks at by itself.
  convenience init(askingNobodyFor owner: UInt32) {
    let (_, continuation) = AsyncStream.makeStream(of: NumberedEvent.self)
    self.init(
      of: Client(Caller(user: owner)), options: ContextOptions(interactionNotAllowed: true, timeout: .seconds(10)),
      events: EventSource(continuation))
  }

  var isCancelled: Bool { if case .cancelled = course { true } else { false } }
  var fallbackIsChosen: Bool { if case .fallbackChosen = course { true } else { false } }

  /// Refuses where the call was cancelled, or its context closed, after the last question was answered.
  func requireRunning() throws(VaultError) {
    guard !isCancelled, !Task.isCancelled else { throw .cancelled }
  }

  /// Another call runs from now on.
  func begin() {
    running = true
    calls += 1
    course = .running
  }

  /// Ends the running call with `reason`, where it is not too late.
  func cancel(because reason: VaultError = .cancelled) {
    course = .cancelled(reason)
    cancelAction?()
    answerQuestion(with: nil)
  }

  /// The person wants to go on without a touch. Does nothing where that is not offered.
  func chooseFallback() {
    guard fallback == .offered, case .running = course else { return }
    course = .fallbackChosen
    cancelAction?()
  }

  /// Remembers what was shown, where the context serves later calls with it.
  func keep(_ shown: Evidence) {
    guard options.keepsEvidence, !isCancelled else { return }
    if let grant = shown.grant { evidence.grant = grant.forContexts }
    if let passcode = shown.passcode { evidence.passcode = passcode }
  }

  /// Lets the next of the waiting calls look whether it can run.
  func giveTurn() { if !queue.isEmpty { queue.removeFirst().resume() } }

  /// A question for a secret: its number, and the call that waits for the answer.
  struct Question {
    let number: Int
    let call: CheckedContinuation<SecretBox?, Never>
  }

  /// Answers the question of this number; nil declines it. Does nothing where that one is not asked any more.
  func answer(_ number: Int, with secret: SecretBox?) {
    if let question, question.number == number { answerQuestion(with: secret) }
  }

  /// Answers whatever is asked.
  func answerQuestion(with secret: SecretBox?) {
    question?.call.resume(returning: secret)
    question = nil
  }

  /// Has the prompt for a touch shown, and waits until the listener says that it stands.
  func prompt(
    for request: TouchRequest, within limit: Duration, underGate gate: any SessionGate
  ) async throws(VaultError) {
    let (standing, stands) = AsyncStream.makeStream(of: Void.self)
    prompt = (events.yield(.touchWanted(request)), stands)
    defer { prompt = nil }
    try await outcome(within: limit, underGate: gate) {
      for await _ in standing { return }
      throw ReaderError.cancelled
    }
  }

  /// The prompt that this event wanted stands.
  func promptStands(for event: Int) {
    if let prompt, prompt.event == event { prompt.stands.yield() }
  }

  /// What the reader answers to a question, in the vault's words where it fails. A cancel and a chosen fallback end the
  /// waiting with `cancelled`, the context's timeout ends it when nothing has happened for so long.
  ///
  /// - Parameters:
  ///   - activity: when something last happened.
  ///   - limit: ends the waiting sooner than the context's timeout would.
  ///   - gate: for a question that arms the reader: ends the waiting when the caller's session does not allow it any more.
  func outcome<T: Sendable>(
    activity: Activity = Activity(), within limit: Duration? = nil, underGate gate: (any SessionGate)? = nil,
    of question: @escaping @Sendable () async throws -> T
  ) async throws(VaultError) -> T {
    let action = Task(executorPreference: BackgroundThread.shared, operation: question)
    let ending = EarlyEnding { action.cancel() }
    cancelAction = { action.cancel() }
    // Cancelled between the last look and now: nobody else will tell the action.
    if isCancelled || Task.isCancelled { action.cancel() }
    let timeout = [options.timeout, limit].compactMap { $0 }.min()
    let timer = timeout.map { IdleTimer($0, activity) { ending.end(.timedOut) } }
    let watch = gate.map { gate in
      Task(executorPreference: BackgroundThread.shared) { [caller = client.caller] in
        ending.end(.sessionRefused(await gate.untilRefused(for: caller)))
      }
    }
    let result = await withTaskCancellationHandler {
      await action.result
    } onCancel: {
      action.cancel()
    }
    let reason = ending.reason
    timer?.cancel()
    watch?.cancel()
    cancelAction = nil
    switch result {
    case .success(let value): return value
    case .failure(let error):
      let failure = VaultError(reader: error)
      guard case .cancelled = failure, case .running = course, !Task.isCancelled, let reason else { throw failure }
      throw reason
    }
  }
}

/// Why an action of the reader was ended before its answer, where neither the person nor the program did.
private final class EarlyEnding: Sendable {
  private let cancel: @Sendable () -> Void
  private let state = Mutex<VaultError?>(nil)

  init(cancel: @escaping @Sendable () -> Void) { self.cancel = cancel }

  var reason: VaultError? { state.withLock { $0 } }

  func end(_ reason: VaultError) {
    state.withLock { if $0 == nil { $0 = reason } }
    cancel()
  }
}

extension VaultError {
  /// What a failure of the reader means to the request.
  init(reader error: any Error) {
    switch error as? ReaderError {
    case .cancelled: self = .cancelled
    case .duplicate: self = .fingerDuplicate(nil)
    // What others have changed is taken over, and told, at the next request.
    case .printsChanged: self = .setChanged
    case .some(let error): self = .reader(error)
    case .none: self = error as? VaultError ?? .internalError("\(type(of: error))")
    }
  }
}

/// Carries a secret through a continuation, which cannot hold a value that is not copyable.
final class SecretBox: Sendable {
  let secret: SecretBytes

  init(_ secret: consuming SecretBytes) { self.secret = secret }
}
