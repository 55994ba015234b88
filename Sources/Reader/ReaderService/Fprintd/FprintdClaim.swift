internal import Fingerprint
internal import SDBus

/// A reader that is claimed from fprintd for one action.
struct FprintdClaim: Sendable {
  /// How long an action waits for another program to release the reader, and how often it tries: fprintd does not
  /// signal the release.
  private static let patience = Duration.seconds(10)
  private static let pause = Duration.milliseconds(200)

  let path: String
  let user: ReaderUser
  let link: FprintdConnection

  /// Claims the reader, and waits while another program has it.
  ///
  /// - Parameter isOver: returns whether nobody waits for the claim any more.
  nonisolated(nonsending) func take(unless isOver: () -> Bool) async throws(ReaderError) {
    var waited = Duration.zero
    while true {
      // Runs to its end even if the task is cancelled: otherwise it would be unknown whether the reader is claimed.
      switch await Task(operation: { await self.refusal() }).value {
      case nil:
        guard Task.isCancelled || isOver() else { return }
        await release()
        throw .cancelled
      case .busy? where waited < Self.patience && !isOver():
        do { try await Task.sleep(for: Self.pause) } catch { throw .cancelled }
        waited += Self.pause
      case .some(let error): throw error
      }
    }
  }

  private func refusal() async -> ReaderError? {
    do throws(ReaderError) {
      try await link.call(path, FprintdNames.device, "Claim", [.string(user.name)])
      return nil
    } catch {
      return error
    }
  }

  /// Runs to its end even if the task is cancelled. If fprintd refuses, closing the connection releases the reader.
  func release() async {
    await Task {
      do throws(ReaderError) {
        try await link.call(path, FprintdNames.device, "Release")
      } catch {
        await link.close()
      }
    }.value
  }
}
