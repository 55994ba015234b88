internal import CFprint
internal import Fingerprint
internal import GLibKit

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
