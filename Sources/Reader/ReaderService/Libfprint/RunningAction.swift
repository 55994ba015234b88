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
}
