internal import Glibc

extension ProcessHandle {
  /// When the process with this number was started, in clock ticks since boot (`starttime` of proc_pid_stat(5)). Nil if
  /// there is none, or if `/proc` hides it.
  package static func start(of pid: Int32) -> UInt64? {
    let descriptor = open("/proc/\(pid)/stat", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 4_096)
    // read: writes at most as many bytes as it is told
    let count = read(descriptor, &buffer, buffer.count)
    guard count > 0 else { return nil }
    // "PID (NAME) STATE …": the name may hold any bytes, so count from the last parenthesis. Search bytes: a String takes
    // U+0600 and a parenthesis behind it for one character.
    guard let end = buffer[..<count].lastIndex(of: UInt8(ascii: ")")) else { return nil }
    let fields = buffer[(end + 1)..<count].split(separator: UInt8(ascii: " "))
    // The state is field 3, and the start field 22.
    return fields.count > 19 ? UInt64(String(decoding: fields[19], as: UTF8.self)) : nil
  }
}
