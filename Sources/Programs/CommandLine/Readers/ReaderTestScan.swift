import Executors
import Fingerprint
import Synchronization

/// One armed scan of `reader test`, and whether the reader waits for a finger yet.
final class ReaderTestScan: Sendable {
  typealias Operation = @Sendable (@escaping ScanObserver) async throws(ReaderError) -> ScanAnswer?

  private let isWaiting: Waiting
  private let task: Task<Result<ScanAnswer?, ReaderError>, Never>

  private final class Waiting: Sendable {
    let isTrue = Mutex(false)
  }

  /// Arms it at once. `operation` returns nil for an enrolment.
  init(show: @escaping ScanObserver, _ operation: @escaping Operation) {
    let waiting = Waiting()
    isWaiting = waiting
    task = Task.immediate {
      do throws(ReaderError) {
        return .success(
          try await operation { event in
            if case .fingerNeeded = event { waiting.isTrue.withLock { $0 = true } }
            show(event)
          })
      } catch {
        return .failure(error)
      }
    }
  }

  func cancel() { task.cancel() }

  /// Waits until the reader asks for a finger, at most five seconds, since some drivers never report it.
  func armed() async {
    for _ in 0..<500 where !isWaiting.isTrue.withLock({ $0 }) && !Task.isCancelled {
      try? await Pause.wait(for: .milliseconds(10))
    }
  }

  /// The answer of the scan. Cancelling the caller's task cancels the scan.
  func answer() async throws(ReaderError) -> ScanAnswer? {
    try await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }.get()
  }

  /// The result of the scan; nil if it has not ended within the limit. Cancels it at the limit.
  func ended(within limit: Duration) async -> Result<ScanAnswer?, ReaderError>? {
    let timer = Task { [task] in
      try await Pause.wait(for: limit)
      task.cancel()
    }
    defer { timer.cancel() }
    let start = ContinuousClock.now
    let result = await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
    return ContinuousClock.now - start < limit ? result : nil
  }
}
