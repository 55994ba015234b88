package import Glibc

/// The processes whose command line contains these words. Each word in `words` ends with a NUL.
package func processes(with words: String) -> [pid_t] {
  let all = (try? folderEntries("/proc")) ?? []
  return all.compactMap { pid_t($0) }.filter { pid in
    guard let line = try? readFile("/proc/\(pid)/cmdline") else { return false }
    return String(decoding: line, as: UTF8.self).contains(words)
  }
}

/// The state and the parent of a process or thread, from its folder in /proc. Nil if it has ended.
private func status(in folder: String) -> (state: Substring, parent: pid_t)? {
  guard let bytes = try? readFile("\(folder)/stat") else { return nil }
  // The format is "PID (NAME) STATE PARENT …". The name may contain any character, so parse from the last parenthesis.
  let line = String(decoding: bytes, as: UTF8.self)
  guard let end = line.lastIndex(of: ")") else { return nil }
  let fields = line[end...].split(separator: " ")
  guard fields.count > 2, let parent = pid_t(fields[2]) else { return nil }
  return (fields[1], parent)
}

/// The parent of this process. Nil if the process has ended.
package func parent(of pid: pid_t) -> pid_t? { status(in: "/proc/\(pid)")?.parent }

/// Stops a process, and waits until all of its threads have stopped: after `kill` alone, one of them could still answer
/// before another has received the signal. Throws if that takes ten seconds.
package func stop(_ pid: pid_t) throws {
  kill(pid, SIGSTOP)
  for _ in 0..<10_000 {
    let threads = (try? folderEntries("/proc/\(pid)/task")) ?? []
    if threads.allSatisfy({ status(in: "/proc/\(pid)/task/\($0)").map { $0.state == "T" } ?? true }) { return }
    usleep(1_000)
  }
  throw SystemFailure("process \(pid) does not stop", ETIMEDOUT)
}

/// The children of this process that have not been reaped, those that have ended included.
package func children(of pid: pid_t) -> [pid_t] {
  ((try? folderEntries("/proc")) ?? []).compactMap { pid_t($0) }.filter { parent(of: $0) == pid }
}

/// The vaults that this process has started.
package func vaults(of pid: pid_t) -> [pid_t] {
  children(of: pid).filter { (try? readFile("/proc/\($0)/comm")) == Array("whorld\n".utf8) }
}

/// The children of this process, their children, and so on.
package func descendants(of pid: pid_t) -> [pid_t] {
  children(of: pid).flatMap { [$0] + descendants(of: $0) }
}
