internal import Fingerprint
internal import GLibKit

/// The action that a device runs.
final class RunningAction {
  let cancellable = Cancellable()
  /// Whether the system is asleep.
  var isSuspended = false {
    didSet { hasSlept = hasSlept || isSuspended }
  }
  /// Whether the system has been asleep while the action ran.
  private(set) var hasSlept = false

  /// The error of a reader for the error with which libfprint ended the action.
  func readerError(_ error: GLibError) -> ReaderError {
    guard !Task.isCancelled else { return error.readerError }
    if isSuspended { return .suspended }
    // libfprint ends a scan with this error for a sleep that its driver cannot keep it through. The machine can be awake
    // again by then.
    if hasSlept, case .busy = error.readerError { return .suspended }
    return error.readerError
  }
}
