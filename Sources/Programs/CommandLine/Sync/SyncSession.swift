import CommandBase
import Moving
internal import Primitives
internal import Prompts
import SecretModel
import Settings
import Whorl

/// The store of a command, and its local copy of the circle's repository.
struct SyncSession {
  let session: Session
  let repository: GitRepository
  private let isQuiet: Bool

  /// - Parameter isQuiet: whether to show no progress and no prompts of git.
  init(_ session: Session, isQuiet: Bool = false) async throws(Failure) {
    (self.session, self.isQuiet) = (session, isQuiet)
    let git: GitProgram
    do throws(SyncRunError) {
      git = try GitProgram(environment: UserEnvironment.entries, mayAsk: !isQuiet && Terminal.exists)
    } catch {
      throw Failure(error)
    }
    guard let folder = try session.place().syncFolder else { throw .noHome }
    repository = GitRepository(at: folder, git)
    _ = try await session.openStore()
  }

  /// The remote of a command line.
  static func remote(_ text: String) throws(Failure) -> SyncRemote {
    do throws(SyncRunError) {
      return try SyncRemote(text, in: FullPath.currentFolder)
    } catch {
      throw Failure(error)
    }
  }

  func status() async throws(Failure) -> SyncStatus {
    try await session.request { try await $0.sync.status() }
  }

  /// The remote's name for messages.
  func remoteName() async -> String? { try? await repository.url() }

  /// Runs a call that uses git, and throws its errors as failures.
  func explained<Answer>(_ call: () async throws(SyncRunError) -> Answer) async throws(Failure) -> Answer {
    do throws(SyncRunError) {
      return try await call()
    } catch {
      throw Failure(error, remote: await remoteName())
    }
  }

  /// Publishes a change that was just made.
  ///
  /// - Throws: also if the remote has lost something, so that nothing was published.
  @discardableResult
  func publish(from start: SyncRun.Start? = nil) async throws(Failure) -> SyncReport {
    let report = try await run(from: start)
    if let failure = SyncOutcome(report: report, remote: await remoteName() ?? "the remote").failure { throw failure }
    return report
  }

  /// Publishes a change that can wait until the remote is in reach.
  func publishIfReachable(_ command: String) async throws(Failure) {
    do throws(Failure) {
      try await publish()
    } catch {
      guard error.status == .unavailable else { throw error }
      StandardError.line(error.line(command: command))
    }
  }

  /// Syncs the store with the remote, with progress at a terminal.
  ///
  /// - Parameter start: the state of the remote that this command has just seen, if any.
  @discardableResult
  func run(
    puttingBack: Bool = false, isDry: Bool = false, from start: SyncRun.Start? = nil
  ) async throws(Failure) -> SyncReport {
    let line = SyncProgressLine(isQuiet: isQuiet, session.options)
    defer { line.end() }
    var run = SyncRun(repository, try await session.request { $0.sync }) { line.show($0) }
    (run.puttingBack, run.isDry, run.start) = (puttingBack, isDry, start)
    do throws(SyncRunError) {
      return try await run.run()
    } catch {
      var failure = Failure(error, remote: await remoteName())
      switch error {
      case .unreachable, .unanswered: break
      default: throw failure
      }
      // Nothing was published, and nothing is lost.
      if let pending = try? await status().pending, pending > 0 {
        failure.what += "; \(Spoken.plural(pending, "change")) \(pending == 1 ? "waits" : "wait") here"
      }
      throw failure
    }
  }

  /// How long another computer may take to answer.
  private static let patience = Duration.seconds(900)

  /// Syncs every other second until the state is as wanted.
  func run(until isReady: (SyncStatus) -> Bool) async throws(Failure) {
    let end = ContinuousClock.now + Self.patience
    while true {
      let status = try await run().status
      if isReady(status) { return }
      guard ContinuousClock.now < end else {
        throw Failure(.tryAgain, "the other computer did not answer in time", advice: "begin again on both")
      }
      do { try await Pause.wait(for: .seconds(2)) } catch { throw .cancelled }
    }
  }
}
