import Executors
import Fingerprint
import Presence
import SecretModel
import Synchronization
import Vault
import VaultStore

/// Asks one user for a finger for one login program. The context is used for nothing else, and a match in it opens no
/// secret.
final class LoginTouch: LoginVerification {
  /// How long one touch may take, and how long the reader may take to become ready.
  private static let limit = Duration.seconds(10)

  private enum Step: Sendable {
    case prompt(LoginPrompt, question: Int)
    case settled(LoginOutcome)
  }

  private let store: UserStore
  private let session: VaultSession
  private let context: ContextHandle
  private let log: @Sendable (LoginOutcome, VaultError?) -> Void
  private let steps: AsyncStream<Step>
  private let told: AsyncStream<Step>.Continuation
  /// The touch event whose prompt the login program has to show, until it reports that it is shown.
  private let question = Mutex<Int?>(nil)

  /// - Parameter log: called with the result, and with the error if no finger matched.
  init(
    for caller: Caller, on store: UserStore, log: @escaping @Sendable (LoginOutcome, VaultError?) -> Void
  ) async throws(VaultError) {
    self.store = store
    self.log = log
    session = try await store.open(for: caller)
    let events: ContextEvents
    do throws(VaultError) {
      (context, events) = try await session.openContext(ContextOptions(timeout: Self.limit))
    } catch {
      await store.end(session)
      throw error
    }
    (steps, told) = AsyncStream.makeStream(of: Step.self)
    Task(executorPreference: BackgroundThread.shared) { await self.listen(to: events) }
    Task(executorPreference: BackgroundThread.shared) { await self.run() }
  }

  func next() async -> LoginStep {
    let standing = question.withLock { question in
      defer { question = nil }
      return question
    }
    if let standing { await session.respond(context, .ready(question: standing)) }
    for await step in steps {
      switch step {
      case .prompt(let prompt, let number):
        question.withLock { $0 = number }
        return .prompt(prompt)
      case .settled(let outcome): return .settled(outcome)
      }
    }
    return .settled(.noFinger)
  }

  func end() async { await session.closeContext(context, reason: .program) }

  private func listen(to events: ContextEvents) async {
    var prompt = LoginPrompt.touch
    for await event in events {
      switch event.event {
      case .retry: prompt = .retry
      case .noMatch: prompt = .otherFinger
      case .touchWanted(let request):
        told.yield(.prompt(prompt.on(request.reader.scanType), question: event.number))
      // Do not wait for another program's touch: the person can type the password.
      case .notice(.readerInUse): await end()
      default: break
      }
    }
  }

  private func run() async {
    let outcome: LoginOutcome
    do throws(VaultError) {
      try await session.verifyForLogin(Asking(in: context))
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
    await store.end(session)
  }
}
