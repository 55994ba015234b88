internal import CFprint
internal import Fingerprint
internal import GLibKit

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
