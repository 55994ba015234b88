internal import Glibc

/// The name of another program that has a device node open, where the kernel lets this process see it; else `fprintd`
/// when that runs, since it is the one that usually has.
func programHolding(node: String?) -> String? {
  let processes = namesInFolder("/proc").filter { Int($0) != nil && $0 != String(getpid()) }
  if let node {
    for process in processes {
      let descriptors = "/proc/\(process)/fd"
      if namesInFolder(descriptors).contains(where: { symbolicLink("\(descriptors)/\($0)") == node }) {
        return smallFile("/proc/\(process)/comm")
      }
    }
  }
  return processes.contains { smallFile("/proc/\($0)/comm") == "fprintd" } ? "fprintd" : nil
}
