internal import Fingerprint
internal import SDBus

/// Tells the observer of a scan when a finger is wanted, comes and goes.
///
/// fprintd tells of properties, and of two changes at once only the second: a quick touch is seen in that no finger is
/// needed any more. It lives on the bus loop, and on after the scan's answer until the next scan.
///
/// `@unchecked Sendable`: touched on the bus loop alone.
final class FprintdFingerWatch: @unchecked Sendable {
  /// After this a finger counts as lifted where fprintd did not tell.
  private static let assumedAfter = Duration.seconds(1)

  private let observer: ScanObserver
  /// Whether this fprintd tells of fingers at all.
  private let isTold: Bool
  private var isNeeded = false
  private var isPresent = false
  /// fprintd itself said that the finger is there.
  private var wasTold = false
  private var isOver = false

  init(observer: @escaping ScanObserver, isTold: Bool) {
    self.observer = observer
    self.isTold = isTold
  }

  /// fprintd has armed the reader. Where it does not tell of fingers, one may be there from now on, so that a scan that is
  /// given up counts as one that saw a finger.
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
      // One that was only guessed at has gone if another is wanted.
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
