internal import Fingerprint
internal import SDBus

/// Tells the observer of a scan when a finger is needed, present and lifted.
///
/// fprintd signals changes of properties. If a property changes twice in a moment, only the second change is signalled,
/// so a quick touch may show only as `finger-needed` becoming false. This runs on the bus loop, and goes on after the
/// scan's answer until the next scan.
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

  /// Notes that fprintd has armed the reader. If it does not report fingers, one may be present from now on, so a
  /// cancelled scan counts as one that saw a finger.
  func scanStarted() {
    guard !isTold, !isOver else { return }
    observer(.fingerNeeded)
    set(present: true)
  }

  func changed(needed: Bool?, present: Bool?) {
    if let present {
      wasTold = wasTold || present
      set(present: present)
    }
    guard let needed, needed != isNeeded, !isOver else { return }
    isNeeded = needed
    if needed {
      // A finger that was only assumed is gone when fprintd needs one.
      if !wasTold { set(present: false) }
      observer(.fingerNeeded)
    } else {
      set(present: true)
    }
  }

  func scanEnded() {
    guard !isOver else { return }
    isOver = true
    guard isPresent, !wasTold else { return }
    Task {
      try? await Task.sleep(for: Self.assumedAfter)
      BusLoop.shared.post { self.set(present: false) }
    }
  }

  private func set(present: Bool) {
    guard present != isPresent else { return }
    isPresent = present
    observer(present ? .fingerPresent : .fingerLifted)
  }
}
