import ArgumentParser
import CommandBase
import Moving
internal import Primitives
internal import Prompts
import SecretModel
import Settings

struct SyncWatch: Command {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Run 'whorl sync now' after each change, until it is ended.",
    discussion: """
      The user unit whorl-sync.service runs it. It is for the store in the service: of changes of a private store no \
      program is told. It asks nobody, and says on standard error what it could not do, and when \
      that has changed.

      Examples:
        whorl sync watch
      """)

  static let spoken = "sync watch"

  @OptionGroup var options: GlobalOptions
  @OptionGroup var quiet: QuietOption

  /// How long to wait for further changes before the next run.
  private static let pause = Duration.seconds(2)

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    guard try session.isStoreOfService else {
      throw Failure(
        .unavailable, "a private store does not report its changes",
        advice: "run 'whorl sync now', or have 'systemctl --user enable --now whorl-sync.timer' run it")
    }
    let sync = try await SyncSession(session, isQuiet: true)
    var known = -1
    var said: String?
    while true {
      // Read before the run, so that an unlock during the run is noticed.
      let surroundings = try await session.request { try await $0.surroundings(otherThan: nil) }
      let failure = await run(sync)
      if failure != said, let failure { StandardError.line(failure) }
      if failure == nil, said != nil, !quiet.quiet { StandardError.line("whorl: sync watch: syncing works again") }
      said = failure
      let last = known
      known = try await session.request { try await $0.change(from: last, orOf: surroundings) }
      // The first call returns the current state at once.
      if last == -1 { continue }
      do { try await Pause.wait(for: Self.pause) } catch { throw .cancelled }
    }
  }

  /// Syncs once. Returns the failure or the warnings; nil if there are none.
  private func run(_ sync: SyncSession) async -> String? {
    do throws(Failure) {
      let report = try await sync.run()
      let outcome = SyncOutcome(report: report, remote: await sync.remoteName() ?? "the remote")
      if let failure = outcome.failure { throw failure }
      return outcome.warnings.isEmpty ? nil : Visible.text(outcome.warnings.joined(separator: " "))
    } catch {
      return error.line(command: Self.spoken)
    }
  }
}

extension VaultService {
  /// Waits for a change of the state of sync. If items wait for the store to be unlocked, also for a change of the
  /// surroundings.
  fileprivate func change(from known: Int, orOf surroundings: Surroundings) async throws(VaultError) -> Int {
    let waits = try await sync.status().waiting.contains { $0.reason == .locked }
    guard waits else { return try await sync.change(from: known) }
    await withTaskGroup { group in
      group.addTask { _ = try? await self.sync.change(from: known) }
      group.addTask { _ = try? await self.surroundings(otherThan: surroundings) }
      await group.next()
      group.cancelAll()
    }
    // Returns at once, or throws the error of a call above.
    return try await sync.change(from: -1)
  }
}
