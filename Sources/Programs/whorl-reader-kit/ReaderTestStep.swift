// The steps of `whorl-reader-kit test`, and one scan of a step.

import ArgumentParser
import Primitives
import Synchronization

/// One step of `test`.
enum ReaderTestStep: String, CaseIterable, ExpressibleByArgument {
  case capture, clear, enroll, list, verify, identify, wrong, retry, cancel, suspend, touches, unplug, delete

  /// The feature that the step needs; nil if every driver supports it.
  var feature: ReaderDescription.Feature? {
    switch self {
    case .capture: .capture
    case .clear: .storageClear
    case .list: .storageList
    case .verify: .verify
    case .identify: .identify
    case .delete: .storageDelete
    case .enroll, .wrong, .retry, .cancel, .suspend, .touches, .unplug: nil
    }
  }

  /// The steps that run by default.
  ///
  /// A recording can only answer the recorded steps. `clear` would delete other people's prints. `unplug` is left out
  /// for a reader that is built in or may be.
  static func usual(for reader: ReaderDescription, touches: Int) -> [ReaderTestStep] {
    // Only the picture: libfprint's own recordings of readers with pictures contain nothing else.
    let picture: [ReaderTestStep] = reader.features.contains(.capture) ? [.capture] : []
    guard reader.nature != .replayed else {
      return picture.isEmpty ? [.enroll, .list, .verify, .identify, .delete] : picture
    }
    let isPluggable = reader.nature == .physical && reader.identity.vendor != nil && reader.identity.fixedPort == nil
    return picture + [.enroll, .list, .verify, .identify, .wrong, .retry, .cancel, .suspend]
      + (touches > 0 ? [.touches] : [])
      + (isPluggable ? [.unplug] : []) + [.delete]
  }
}

/// The value of `--steps`.
struct StepList: ExpressibleByArgument {
  var steps: [ReaderTestStep]

  init?(argument: String) {
    let names = argument.split(separator: ",", omittingEmptySubsequences: false)
    steps = names.compactMap { ReaderTestStep(rawValue: String($0)) }
    guard steps.count == names.count else { return nil }
  }
}

/// One armed scan of `test`, and whether the reader waits for a finger yet.
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
