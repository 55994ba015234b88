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

  /// The ``ReaderError`` for the error with which libfprint ended the action.
  func readerError(_ error: GLibError) -> ReaderError {
    guard !Task.isCancelled else { return error.readerError }
    if isSuspended { return .suspended }
    // libfprint ends a scan with this error before a sleep, if its driver cannot continue the scan afterwards. The
    // machine may be awake again by now.
    if hasSlept, case .busy = error.readerError { return .suspended }
    return error.readerError
  }
}
