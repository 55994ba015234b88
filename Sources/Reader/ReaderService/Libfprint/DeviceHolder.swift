internal import Fingerprint
internal import Glibc

/// `fprintd` if it runs, because it usually is the program that has a reader open. This process is confined and cannot
/// see which files other programs have open.
func likelyHolder() -> String? {
  let processes = namesInFolder("/proc").filter { Int($0) != nil && $0 != String(getpid()) }
  return processes.contains { smallFile("/proc/\($0)/comm") == "fprintd" } ? "fprintd" : nil
}

extension ReaderError {
  /// Adds to an error of opening the program that holds the device, or the node that may not be opened.
  func explained(opening device: Device) -> ReaderError {
    switch self {
    case .permissionDenied: .permissionDenied(SysfsUSBDevice(of: device)?.node)
    case .busy: .busy(holder: likelyHolder())
    default: self
    }
  }
}
