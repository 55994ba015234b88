internal import Primitives
internal import SDBus

/// Reports to the observer of a scan when a finger is needed, present and lifted.
///
/// fprintd signals changes of properties when it is idle. If a property changes twice before, only the second change is
/// signalled, so a quick touch may show only as `finger-needed` becoming false. If the touch was signalled,
/// `finger-needed` becomes false at the end of the scan, before or after the finger is lifted, and does not describe
/// the finger. This runs on the bus loop, and continues after the scan's answer until the next scan.
///
/// `@unchecked Sendable`: used only on the bus loop.
final class FprintdFingerWatch: @unchecked Sendable {
  /// How long until a finger counts as lifted if fprintd does not report it.
  private static let assumedAfter = Duration.seconds(1)

  private let observer: ScanObserver
  /// Whether this fprintd reports fingers at all.
  private let isTold: Bool
  private var isNeeded = false
  private var isPresent = false
  /// Whether fprintd itself has reported the finger.
  private var wasTold = false
  private var isOver = false

  init(observer: @escaping ScanObserver, isTold: Bool) {
    self.observer = observer
    self.isTold = isTold
  }

  /// Notes that fprintd has armed the reader. If it does not report fingers, one may be present from now on.
  func scanStarted() {
    guard !isTold, !isOver else { return }
    observer(.fingerNeeded)
    observer(.fingerPossible)
  }

  /// If both change, a lifted finger is reported before, and a new finger after, the change of `finger-needed`.
  func changed(needed: Bool?, present: Bool?) {
    if present == false { set(present: false) }
    let isNew = needed != nil && needed != isNeeded && !isOver
    if let needed, isNew { isNeeded = needed }
    if isNew, isNeeded {
      // If the finger was only assumed, it is gone when fprintd needs one.
      if !wasTold { set(present: false) }
      observer(.fingerNeeded)
    }
    if present == true {
      wasTold = true
      set(present: true)
    }
    if isNew, !isNeeded, !wasTold { set(present: true) }
  }

  /// - Parameter touched: whether the scan's result shows that a finger was on the sensor.
  func scanEnded(touched: Bool) {
    guard !isOver else { return }
    isOver = true
    guard !wasTold else { return }
    if touched { set(present: true) }
    guard isPresent else { return }
    Task(executorPreference: LoopTasks.shared) {
      try? await Pause.wait(for: Self.assumedAfter)
      BusLoop.shared.post {
        // If fprintd has reported the finger meanwhile, it will also report when it is lifted.
        if !self.wasTold { self.set(present: false) }
      }
    }
  }

  private func set(present: Bool) {
    guard present != isPresent else { return }
    isPresent = present
    observer(present ? .fingerPresent : .fingerLifted)
  }
}
