import Dispatch
import Fingerprint
import SecureMemory
import Vault

/// Shows what a call to the vault waits for and answers what it asks: the person's side of one context.
///
/// It lives in the one task that reads the context's events.
struct Dialogue {
  private let vault: Vault
  private let context: ContextHandle
  private let answers: Answers
  private let awaiting: Awaiting
  private var enterKey: EnterKey?
  /// Why no finger can be asked for, in case nobody can be asked for the passcode either.
  private var unavailable: VaultError?
  /// What the last touch came to, for the prompt of the next one.
  private var lastTouch: String?
  /// Why no answer was given; it is what the command failed of.
  private var failure: Failure?

  /// What the secret asked for is about: new ones are asked for twice.
  enum Awaiting: Sendable {
    case stored, new
  }

  init(vault: Vault, context: ContextHandle, answers: Answers, awaiting: Awaiting) {
    self.vault = vault
    self.context = context
    self.answers = answers
    self.awaiting = awaiting
  }

  /// Serves the events until the context is closed; gives back what went wrong on this side, if anything did.
  consuming func run(_ events: ContextEvents) async -> Failure? {
    var line = ProgressLine()
    for await event in events {
      await handle(event, &line)
    }
    enterKey?.stop()
    line.finish()
    return failure
  }

  private mutating func handle(_ event: AuthenticationEvent, _ line: inout ProgressLine) async {
    switch event {
    case .touchWanted(let request):
      ask(request, &line)
    case .fingerPresent:
      break
    case .retry(let reason):
      tell(Prompt.retry(reason), &line)
    case .noMatch(let remaining):
      tell(Prompt.noMatch(remaining: remaining), &line)
    case .matched:
      stopWatching()
      line.finish()
      lastTouch = nil
    case .enrolmentStage(let completed, let count):
      tell(Prompt.stage(completed: completed, of: count), &line)
      // The confirming touch is another matter.
      if completed == count { lastTouch = nil }
    case .fingerUnavailable(let error):
      stopWatching()
      unavailable = error
    case .secretWanted(let request):
      stopWatching()
      line.finish()
      if let unavailable, answers.canAnswer { line.keep(Failure(unavailable).words) }
      await answer(request)
    case .notice(let notice):
      line.keep(Prompt.notice(notice))
    }
  }

  private mutating func ask(_ request: TouchRequest, _ line: inout ProgressLine) {
    let orEnter = request.passcodeInstead && watchEnter()
    switch (request.purpose, lastTouch) {
    // Between the stages of an enrolment the line of the last stage says what to do.
    case (.enroll, .some): break
    case (_, let last?): line.show("\(last). \(Prompt.touch(request, orEnter: orEnter))")
    case (_, nil): line.show(Prompt.touch(request, orEnter: orEnter))
    }
  }

  private mutating func tell(_ words: String, _ line: inout ProgressLine) {
    line.tell(words)
    lastTouch = words
  }

  private mutating func answer(_ request: SecretRequest) async {
    switch await Self.read(request, awaiting, from: answers) {
    case .success(let secret):
      await vault.answer(context, with: secret.take())
    case .failure(let problem):
      // With nobody to ask, that no finger could be asked for is the news.
      if let unavailable, !answers.canAnswer {
        failure = Failure(unavailable)
      } else {
        failure = problem
      }
      await vault.decline(context)
    }
  }

  /// Reading waits for a person: off the threads that tasks run on.
  private static func read(
    _ request: SecretRequest, _ awaiting: Awaiting, from answers: Answers
  ) async -> Result<Handover, Failure> {
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "question").async {
        let result: Result<Handover, Failure>
        do throws(Failure) {
          if case .applicationPassword(let name) = request, awaiting == .new {
            result = .success(Handover(try answers.newApplicationPassword(of: name)))
          } else {
            result = .success(Handover(try answers.answer(request)))
          }
        } catch {
          result = .failure(error)
        }
        continuation.resume(returning: result)
      }
    }
  }

  private mutating func watchEnter() -> Bool {
    guard enterKey == nil else { return true }
    guard !answers.noPrompt, let terminal = Terminal.current, terminal.isForeground else { return false }
    enterKey = EnterKey(on: terminal) { [vault, context] in
      Task { await vault.chooseFallback(context) }
    }
    return true
  }

  private mutating func stopWatching() {
    enterKey?.stop()
    enterKey = nil
  }
}

/// Carries one secret out of a continuation, whose value must be copyable.
///
/// `@unchecked Sendable`: made by one thread and emptied once by the one that waits for it.
private final class Handover: @unchecked Sendable {
  private var secret: SecretBytes?

  init(_ secret: consuming SecretBytes) { self.secret = consume secret }

  func take() -> SecretBytes {
    var taken: SecretBytes? = nil
    swap(&taken, &secret)
    return taken ?? SecretBytes(count: 0)
  }
}
