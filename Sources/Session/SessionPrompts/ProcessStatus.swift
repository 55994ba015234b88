internal import Glibc
internal import Primitives

/// A process's entry in `/proc/PID/stat` (proc_pid_stat(5)).
struct ProcessStatus {
  let parent: pid_t
  let group: pid_t
  /// The device number of the terminal in whose foreground the process is; nil if it is in none.
  let foregroundTerminal: dev_t?

  /// Nil for a process that has ended.
  init?(of process: pid_t) {
    guard let bytes = try? SmallFile.read("/proc/\(process)/stat", limit: 4_096) else { return nil }
    // The name in parentheses may hold anything. After it: state, parent, process group, session, terminal, foreground.
    let fields = String(decoding: bytes, as: UTF8.self).split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 5, let parent = pid_t(fields[1]), let group = pid_t(fields[2]),
      let terminal = UInt64(fields[4]), let foreground = pid_t(fields[5])
    else { return nil }
    (self.parent, self.group) = (parent, group)
    foregroundTerminal = terminal != 0 && foreground == group ? dev_t(terminal) : nil
  }

  /// The ancestors of a process.
  static func ancestors(of process: pid_t) -> Set<pid_t> {
    var ancestors: Set<pid_t> = []
    var next = ProcessStatus(of: process)?.parent
    while let parent = next, parent > 0, ancestors.insert(parent).inserted { next = ProcessStatus(of: parent)?.parent }
    return ancestors
  }

  /// All processes.
  static var processes: [pid_t] {
    (Folder.names(in: "/proc") ?? []).compactMap { pid_t($0) }
  }
}
