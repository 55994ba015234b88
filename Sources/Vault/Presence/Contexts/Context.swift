package import Primitives
package import SecretModel
import Synchronization
import VaultStore

/// An authentication context inside the vault: its options, its evidence and the state of its calls.
package final class Context {
  package let client: Client
  private let handle: ContextHandle?
  var options: ContextOptions
  package let events: EventSource
  /// The request ahead at the reader, as last reported to the listener.
  package let ahead = ToldAhead()
  /// The open question for a secret, if a call waits for one.
  var question: Question?
  /// The state of the running call.
  private(set) var course = Course.running
  /// Whether the fallback (the passcode, or the caller's own) may be chosen in place of the touch.
  var fallback = Fallback.none
  var running = false
  /// Where the running call's reader is.
  var readerPlace = ReaderPlace.inReach
  /// Whether no other reader is attached, so that the prompt needs no name.
  var readerIsAlone = false
  /// The number of calls so far.
  var calls: UInt64 = 0
  /// Gives the calls turns, in order.
  let turns = FairQueue<OneGroup>()
  /// The proofs given in this context, for its later calls.
  var proofs = GivenProofs()
  /// Set by the program, so that the person is not asked.
  package var applicationPassword: SharedSecret?
  /// The event of the requested prompt, and the stream that reports that the prompt is shown.
  private var prompt: (event: Int, stands: AsyncStream<Void>.Continuation)?
  /// Cancels the running action of the reader.
  private var cancelAction: (() -> Void)?

  enum Course {
    case running
    case fallbackChosen
    /// Ended, with this error.
    case cancelled(VaultError)
  }

  enum Fallback {
    case none
    /// After a touch that does not match.
    case later
    case offered
  }

  /// - Parameter handle: nil for a context that no client has opened.
  init(of client: Client, _ handle: ContextHandle?, options: ContextOptions, events: EventSource) {
    self.client = client
    self.handle = handle
    self.options = options
    self.events = events
  }

  /// A context without prompts, for the vault's own checks of a reader.
  convenience init(askingNobodyFor owner: UInt32) {
    let (_, continuation) = AsyncStream.makeStream(of: NumberedEvent.self)
    self.init(
      of: Client(Caller(user: owner)), nil, options: ContextOptions(interactionNotAllowed: true, timeout: .seconds(10)),
      events: EventSource(continuation))
  }

  /// The reason why the running call ends early; nil if it continues.
  private var cancellation: VaultError? {
    if case .cancelled(let reason) = course { return reason }
    return Task.isCancelled ? .cancelled : nil
  }

  /// Whether the call was given up: by the program, by the person, or by another request.
  var isGivenUp: Bool { cancellation != nil }
  var fallbackIsChosen: Bool { if case .fallbackChosen = course { true } else { false } }

  /// Throws if the call was cancelled, or its context closed, since the last answer.
  func requireRunning() throws(VaultError) {
    if let cancellation { throw cancellation }
  }

  /// The running call, or the last one.
  package var call: ContextCall? { handle.map { ContextCall(context: $0, number: calls) } }

  /// Starts another call.
  func begin() {
    running = true
    calls += 1
    readerPlace = .inReach
    readerIsAlone = false
    course = .running
  }

  /// Ends the running call.
  func finish() { running = false }

  /// Ends the running call with `reason`, if it has not ended yet.
  package func cancel(because reason: VaultError = .cancelled) {
    course = .cancelled(reason)
    cancelAction?()
    answerQuestion(with: nil)
  }

  /// Chooses the fallback in place of a touch. Does nothing if none is offered.
  package func chooseFallback() {
    guard fallback == .offered, case .running = course else { return }
    course = .fallbackChosen
    cancelAction?()
  }

  /// Keeps a touch for later calls, if the context's options say so.
  func keep(grant: PresenceGrant) {
    if options.keepsEvidence, !isGivenUp { proofs.grant = grant.forContexts }
  }

  /// Keeps the passcode for later calls, if the context's options say so.
  func keep(passcode: ProvenPasscode) {
    if options.keepsEvidence, !isGivenUp { proofs.passcode = passcode }
  }

  /// Discards the proofs, so that the next call asks again.
  package func useUp() {
    proofs = GivenProofs()
    client.lastMatch = nil
  }

  /// Ends the context. A running call throws `reason`, the evidence is forgotten, and the event stream finishes.
  func end(_ reason: VaultError) {
    if case .timedOut = reason { events.yield(.notice(.unanswered)) }
    cancel(because: reason)
    proofs = GivenProofs()
    applicationPassword = nil
    events.finish()
  }

  /// Asks for a secret; nil when the listener declines.
  func ask(_ request: SecretRequest) async throws(VaultError) -> SharedSecret? {
    let supplied = if case .passcode = request { options.passcodeSupplied } else { false }
    guard supplied || !options.interactionNotAllowed else { throw .interactionNotAllowed }
    try requireRunning()
    let answer = PendingAnswer()
    question = Question(number: events.yield(.secretWanted(request)), answer: answer)
    defer { question = nil }
    let secret = await withTaskCancellationHandler {
      await answer.wait()
    } onCancel: {
      answer.give(nil)
    }
    try requireRunning()
    return secret
  }

  /// A question for a secret: its number, and its answer.
  struct Question {
    let number: Int
    let answer: PendingAnswer
  }

  /// Answers the question with this number; nil declines it. Does nothing if it is no longer open.
  package func answer(_ number: Int, with secret: SharedSecret?) {
    if let question, question.number == number { answerQuestion(with: secret) }
  }

  /// Answers the open question, if there is one.
  private func answerQuestion(with secret: SharedSecret?) {
    question?.answer.give(secret)
  }

  /// Asks for a prompt for a touch, and waits until the listener reports that it is shown.
  func prompt(
    for request: TouchRequest, within limit: Duration, underGate gate: any SessionGate
  ) async throws(VaultError) {
    let (standing, stands) = AsyncStream.makeStream(of: Void.self)
    prompt = (events.yield(.touchWanted(request)), stands)
    defer { prompt = nil }
    try await outcome(of: .prompt, within: limit, underGate: gate) {
      for await _ in standing { return }
      throw ReaderError.cancelled
    }
  }

  /// Records that the prompt of this event is shown.
  package func promptStands(for event: Int) {
    if let prompt, prompt.event == event { prompt.stands.yield() }
  }

  /// What an action of the reader waits for.
  enum Awaited {
    /// A finger.
    case finger
    /// The turn of this request at the reader.
    case turn
    /// The prompt of the program.
    case prompt
    /// An answer of the reader for which no finger is needed.
    case answer

    /// How long a reader may take for an answer. The reader process has shorter limits, with more specific errors.
    private static let answerLimit = Duration.seconds(120)

    /// How long the wait may last without an event; nil: no limit. The context's timeout limits only waits for a person
    /// or another program: a slow reader must not be reported as a missing finger.
    func limit(_ options: ContextOptions) -> Duration? {
      switch self {
      case .finger, .turn, .prompt: options.timeout
      case .answer: Self.answerLimit
      }
    }

    /// The error of a wait that exceeds its limit.
    var tooLong: VaultError {
      switch self {
      case .finger: .timedOut
      case .turn: .busy("another program is waiting for a finger")
      case .prompt: .busy("the prompt for a finger was not shown in time")
      case .answer: .reader(.processDied("it did not answer in time"))
      }
    }
  }

  /// Waits for an action of the reader, and converts its errors. A cancel ends the wait with its reason, a chosen
  /// fallback with `cancelled`, and a limit when nothing has happened for that long.
  ///
  /// - Parameters:
  ///   - activity: when something last happened.
  ///   - limit: a shorter limit.
  ///   - gate: for an action that arms the reader: ends the wait when the caller's session no longer allows it.
  func outcome<T: Sendable>(
    of awaited: Awaited, activity: Activity = Activity(), within limit: Duration? = nil,
    underGate gate: (any SessionGate)? = nil, _ question: @escaping @Sendable () async throws -> T
  ) async throws(VaultError) -> T {
    let action = Task(executorPreference: BackgroundThread.shared, operation: question)
    let ending = EarlyEnding { action.cancel() }
    cancelAction = { action.cancel() }
    // If the cancel came before `cancelAction` was set, cancel the action here.
    if isGivenUp { action.cancel() }
    let timeout = [awaited.limit(options), limit].compactMap { $0 }.min()
    let timer = timeout.map { IdleTimer($0, activity) { ending.end(awaited.tooLong) } }
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
      guard case .cancelled = failure else { throw failure }
      try requireRunning()
      guard case .running = course, let reason else { throw failure }
      if case .timedOut = reason { events.yield(.notice(.unanswered)) }
      throw reason
    }
  }
}

/// The answer to a question for a secret. Only the first answer counts.
final class PendingAnswer: Sendable {
  private enum State {
    case open
    case awaited(CheckedContinuation<SharedSecret?, Never>)
    case given(SharedSecret?)
  }

  private let state = Mutex(State.open)

  /// Gives the answer; nil declines. Does nothing after the first answer.
  func give(_ secret: SharedSecret?) {
    let waiting: CheckedContinuation<SharedSecret?, Never>? = state.withLock { state in
      switch state {
      case .open:
        state = .given(secret)
        return nil
      case .awaited(let waiting):
        state = .given(secret)
        return waiting
      case .given: return nil
      }
    }
    waiting?.resume(returning: secret)
  }

  /// Waits for the answer. Call it once.
  nonisolated(nonsending) func wait() async -> SharedSecret? {
    await withCheckedContinuation { waiting in
      let given: SharedSecret?? = state.withLock { state in
        guard case .given(let secret) = state else {
          state = .awaited(waiting)
          return nil
        }
        return .some(secret)
      }
      if let given { waiting.resume(returning: given) }
    }
  }
}

/// Records why an action of the reader was ended early by a timeout or the session, not by the person or the program.
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
  /// The vault's error for an error of the reader.
  init(reader error: any Error) {
    switch error as? ReaderError {
    case .cancelled: self = .cancelled
    case .duplicate: self = .fingerDuplicate(nil)
    // The next request takes over the changed prints and reports the change.
    case .printsChanged: self = .setChanged
    case .some(let error): self = .reader(error)
    case .none: self = error as? VaultError ?? .internalError("\(type(of: error))")
    }
  }
}

/// One client of a vault, for the length of its session. Only its own calls reach its contexts.
package final class Client: Sendable {
  /// A match, and its time in nanoseconds since boot.
  struct Match: Sendable {
    let grant: PresenceGrant
    let at: UInt64
  }

  package let caller: Caller
  private let match = Mutex<Match?>(nil)

  package init(_ caller: Caller) { self.caller = caller }

  /// The last match in a context of this client, for contexts that accept a recent one.
  var lastMatch: Match? {
    get { match.withLock { $0 } }
    set { match.withLock { $0 = newValue } }
  }
}

/// One call: its client, and the context in which it may ask.
package struct Request: Sendable {
  let client: Client
  package let asking: Asking

  package init(of client: Client, _ asking: Asking) {
    self.client = client
    self.asking = asking
  }
}
