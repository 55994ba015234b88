internal import Fingerprint
internal import Glibc
internal import Primitives

/// `fprintd` if it runs, since it usually has the reader open. This process is confined and cannot see which files
/// other programs have open.
func likelyHolder() -> String? {
  let processes = (Folder.names(in: "/proc") ?? []).filter { Int($0) != nil && $0 != String(getpid()) }
  return processes.contains { smallFile("/proc/\($0)/comm") == "fprintd" } ? "fprintd" : nil
}

extension ReaderError {
  /// Adds details to an error of opening: the program that has the device open, or the node without permission.
  func explained(opening device: Device) -> ReaderError {
    switch self {
    case .permissionDenied: .permissionDenied(SysfsUSBDevice(of: device)?.node)
    case .busy: .busy(holder: likelyHolder())
    default: self
    }
  }
}
