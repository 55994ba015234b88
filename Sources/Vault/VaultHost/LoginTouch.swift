import Presence
import Primitives
import SecretModel
import Synchronization
import Vault
import VaultStore

/// Asks one user for a finger for one login program. The context is used for nothing else, and a match in it opens no
/// secret.
final class LoginTouch: LoginVerification {
  /// How long one touch may take, and how long the reader may take to become ready.
  private static let limit = Duration.seconds(10)
  /// How long another request may keep the reader before the login goes on without a finger. A request that was just
  /// cancelled, as by a typed password, gives the reader back within a second.
  private static let patience = Duration.seconds(2)

  private enum Step: Sendable {
    case prompt(LoginPrompt, question: Int)
    case settled(LoginOutcome)
  }

  /// The session of the request, once it is open.
  private struct Opened: Sendable {
    let session: VaultSession
    let context: ContextHandle
  }

  private struct State {
    var opened: Opened?
    var hasEnded = false
    /// The touch event whose prompt the login program has to show, until it reports that it is shown.
    var question: Int?
  }

  private let store: UserStore
  private let log: @Sendable (LoginOutcome, VaultError?) -> Void
  private let steps: AsyncStream<Step>
  private let told: AsyncStream<Step>.Continuation
  private let state = Mutex(State())

  /// Begins at once and opens the session meanwhile: after a boot this waits for other services to start, and a login
  /// program has to know soon that a finger will be asked for.
  ///
  /// - Parameter log: called with the result, and with the error if no finger matched.
  init(for caller: Caller, on store: UserStore, log: @escaping @Sendable (LoginOutcome, VaultError?) -> Void) {
    self.store = store
    self.log = log
    (steps, told) = AsyncStream.makeStream(of: Step.self)
    Task(executorPreference: BackgroundThread.shared) { await self.run(for: caller) }
  }

  func next() async -> LoginStep {
    let (opened, standing) = state.withLock { state in
      defer { state.question = nil }
      return (state.opened, state.question)
    }
    if let opened, let standing { await opened.session.respond(opened.context, .ready(question: standing)) }
    for await step in steps {
      switch step {
      case .prompt(let prompt, let number):
        state.withLock { $0.question = number }
        return .prompt(prompt)
      case .settled(let outcome): return .settled(outcome)
      }
    }
    return .settled(.noFinger)
  }

  func end() async {
    let opened = state.withLock { state in
      state.hasEnded = true
      return state.opened
    }
    if let opened { await opened.session.closeContext(opened.context, reason: .program) }
  }

  private func listen(to events: ContextEvents) async {
    var prompt = LoginPrompt.touch
    var givingUp: Task<Void, Never>?
    defer { givingUp?.cancel() }
    for await event in events {
      switch event.event {
      case .retry: prompt = .retry
      case .noMatch: prompt = .otherFinger
      case .touchWanted(let request):
        givingUp?.cancel()
        givingUp = nil
        told.yield(.prompt(prompt.on(request.reader.scanType), question: event.number))
      // Do not wait for another program's touch: the person can type the password.
      case .notice(.readerInUse) where givingUp == nil:
        givingUp = Task(executorPreference: BackgroundThread.shared) {
          do { try await Pause.wait(for: Self.patience) } catch { return }
          await self.end()
        }
      default: break
      }
    }
  }

  private func run(for caller: Caller) async {
    let outcome: LoginOutcome
    do throws(VaultError) {
      try await verify(caller)
      outcome = .verified
      log(outcome, nil)
    } catch {
      outcome =
        switch error {
        case .authenticationFailed: .noMatch
        case .biometryLockout: .lockedOut
        default: .noFinger
        }
      log(outcome, error)
    }
    told.yield(.settled(outcome))
    told.finish()
    await end()
    if let opened = state.withLock({ $0.opened }) { await store.end(opened.session) }
  }

  private func verify(_ caller: Caller) async throws(VaultError) {
    let isLocker = caller.login?.isLocker == true
    let session = try await store.open(for: caller)
    let context: ContextHandle
    let events: ContextEvents
    do throws(VaultError) {
      (context, events) = try await session.openContext(ContextOptions(timeout: Self.limit))
    } catch {
      await store.end(session)
      throw error
    }
    let hasEnded = state.withLock { state in
      state.opened = Opened(session: session, context: context)
      return state.hasEnded
    }
    // The login program has gone meanwhile.
    guard !hasEnded else { throw .appCancelled }
    Task(executorPreference: BackgroundThread.shared) { await self.listen(to: events) }
    try await session.verifyForLogin(Asking(in: context), unlocking: isLocker)
  }
}
