package import Glibc

/// The processes whose command line contains these words. Each word in `words` ends with a NUL.
package func processes(with words: String) -> [pid_t] {
  let all = (try? folderEntries("/proc")) ?? []
  return all.compactMap { pid_t($0) }.filter { pid in
    guard let line = try? readFile("/proc/\(pid)/cmdline") else { return false }
    return String(decoding: line, as: UTF8.self).contains(words)
  }
}

/// The parent of this process. Nil if the process has ended.
package func parent(of pid: pid_t) -> pid_t? {
  guard let bytes = try? readFile("/proc/\(pid)/stat") else { return nil }
  // The format is "PID (NAME) STATE PARENT …". The name may contain any character, so parse from the last parenthesis.
  let line = String(decoding: bytes, as: UTF8.self)
  guard let end = line.lastIndex(of: ")") else { return nil }
  let fields = line[end...].split(separator: " ")
  return fields.count > 2 ? pid_t(fields[2]) : nil
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
