internal import CFprint
internal import Fingerprint
internal import GLibKit
internal import Synchronization

/// Reports to the observer of a scan when a finger is needed, present and lifted.
///
/// It continues after the scan's answer, until the next scan or until the device is closed: image readers answer while
/// the finger is still on the sensor, so it is lifted after the answer.
final class FingerWatch: Sendable {
  private let observation: PropertyObservation

  init(device: Device, observer: @escaping ScanObserver) {
    let changes = StatusChanges(from: fp_device_get_finger_status(device.pointer))
    observation = PropertyObservation(of: "finger-status", in: device.object) {
      changes.report(fp_device_get_finger_status(device.pointer), to: observer)
    }
  }
}

/// The last finger status seen.
private final class StatusChanges: Sendable {
  private let last: Mutex<FpFingerStatusFlags>

  init(from status: FpFingerStatusFlags) {
    last = Mutex(status)
  }

  func report(_ now: FpFingerStatusFlags, to observer: ScanObserver) {
    let before = last.withLock { last in
      defer { last = now }
      return last
    }
    func has(_ status: FpFingerStatusFlags, _ flag: FpFingerStatusFlags) -> Bool {
      status.rawValue & flag.rawValue != 0
    }
    if has(before, FP_FINGER_STATUS_PRESENT), !has(now, FP_FINGER_STATUS_PRESENT) { observer(.fingerLifted) }
    if !has(before, FP_FINGER_STATUS_NEEDED), has(now, FP_FINGER_STATUS_NEEDED) { observer(.fingerNeeded) }
    if !has(before, FP_FINGER_STATUS_PRESENT), has(now, FP_FINGER_STATUS_PRESENT) { observer(.fingerPresent) }
  }
}
