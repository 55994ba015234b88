// What a device does: the running action, its progress and the finger's, and how it fails.

internal import CFprint
internal import Primitives
internal import Synchronization

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

/// The observer of an enrolment. libfprint owns it during the call, and releases it through the destroy notify.
final class EnrolmentProgress: Sendable {
  fileprivate let observer: ScanObserver

  init(observer: @escaping ScanObserver) {
    self.observer = observer
  }
}

/// An `FpEnrollProgress`. The error is transfer none, and always a retry.
nonisolated func enrolmentProgressed(
  _ device: UnsafeMutablePointer<FpDevice>?, _ completed: gint, _: OpaquePointer?, _ data: gpointer?,
  _ error: UnsafeMutablePointer<GError>?
) {
  guard let device, let data else { return }
  let observer = Unmanaged<EnrolmentProgress>.fromOpaque(data).takeUnretainedValue().observer
  if let error {
    observer(.retry(GLibError(copying: error).retryReason ?? .general))
  } else {
    observer(.stage(completed: Int(completed), of: Int(fp_device_get_nr_enroll_stages(device))))
  }
}

nonisolated func releaseEnrolmentProgress(_ data: gpointer?) {
  guard let data else { return }
  Unmanaged<EnrolmentProgress>.fromOpaque(data).release()
}

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

extension GLibError {
  /// The reason why a touch could not be used (`FP_DEVICE_RETRY`). Nil for every other error.
  var retryReason: RetryReason? {
    guard domain == fp_device_retry_quark() else { return nil }
    return switch FpDeviceRetry(rawValue: UInt32(bitPattern: code)) {
    case FP_DEVICE_RETRY_TOO_SHORT: .tooShort
    case FP_DEVICE_RETRY_CENTER_FINGER: .centerFinger
    case FP_DEVICE_RETRY_REMOVE_FINGER: .removeFinger
    // FP_DEVICE_RETRY_TOO_FAST, which the header of 1.94.5 does not have.
    case FpDeviceRetry(rawValue: 4): .tooFast
    default: .general
    }
  }

  /// Whether libusb refused to open the device node for lack of permission.
  var isPermissionDenied: Bool { isUSBError && code == 9 }

  /// Whether another program has claimed an interface of the device. libgusb has no code for that, but appends libusb's
  /// code to its message: `LIBUSB_ERROR_BUSY` is -6.
  var isInterfaceBusy: Bool { isUSBError && message.hasSuffix("[-6]") }

  // The codes are those of `GUsbDeviceError` in libgusb, whose header may be missing.
  private var isUSBError: Bool { domain == g_quark_from_string("g-usb-device-error-quark") }
  private var isUSBDeviceGone: Bool { isUSBError && code == 4 }

  /// The error for the vault. Check for a retry first: that is an answer, not an error.
  var readerError: ReaderError {
    if domain == fp_device_error_quark() {
      return switch FpDeviceError(rawValue: UInt32(bitPattern: code)) {
      case FP_DEVICE_ERROR_NOT_SUPPORTED: .notSupported
      case FP_DEVICE_ERROR_BUSY: .busy(holder: nil)
      case FP_DEVICE_ERROR_DATA_NOT_FOUND: .notOnChip
      case FP_DEVICE_ERROR_DATA_FULL: .storageFull
      case FP_DEVICE_ERROR_DATA_DUPLICATE: .duplicate
      case FP_DEVICE_ERROR_DATA_INVALID: .badTemplate
      case FP_DEVICE_ERROR_REMOVED: .removed
      case FP_DEVICE_ERROR_TOO_HOT: .tooHot
      default: .device(message)
      }
    }
    if domain == g_io_error_quark(), code == Int32(bitPattern: G_IO_ERROR_CANCELLED.rawValue) { return .cancelled }
    if isPermissionDenied { return .permissionDenied(nil) }
    if isInterfaceBusy { return .busy(holder: nil) }
    if isUSBDeviceGone { return .removed }
    return .device(message)
  }
}
