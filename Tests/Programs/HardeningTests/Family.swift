import Glibc
import ProgramDriver
import Synchronization

/// The processes of one command: the client, the vault that it started, and the vault's reader process.
struct Family: Sendable {
  enum Member: Sendable {
    case client, vault, reader
  }

  private let members: [Member: pid_t]

  /// - Parameter client: the process number of the command, which has not been reaped.
  init(of client: pid_t) {
    var members = [Member.client: client]
    for pid in descendants(of: client) {
      switch name(of: pid) {
      case "whorld": members[.vault] = pid
      case "whorl-reader": members[.reader] = pid
      default: break
      }
    }
    self.members = members
  }

  var count: Int { members.count }

  func kill(_ member: Member) { signal(member, SIGKILL) }

  func signal(_ member: Member, _ number: Int32) {
    if let pid = members[member] { Glibc.kill(pid, number) }
  }

  /// Whether all of them end, and are reaped, within ten seconds.
  func isGone() async throws -> Bool {
    for _ in 0..<1_000 {
      // In a container, orphans may never be reaped. Such a process has ended, too.
      if members.values.allSatisfy({ hasEnded($0) }) { return true }
      try await Task.sleep(for: .milliseconds(10))
    }
    return false
  }
}

/// The processes of a command, noted while it runs.
final class Victims: Sendable {
  private let family = Mutex<Family?>(nil)

  @discardableResult
  func note(_ program: RunningProgram) -> Family {
    let noted = Family(of: program.pid)
    family.withLock { $0 = noted }
    return noted
  }

  /// Kills the members in this order, with a pause in microseconds before each.
  func kill(_ order: [Family.Member], of program: RunningProgram, after pause: UInt32) {
    // The reader process starts while the line is printed.
    usleep(100_000)
    let family = note(program)
    for member in order {
      usleep(pause)
      family.kill(member)
    }
    // If only the reader was killed, the command may start another one and continue to wait.
    if order == [.reader] { program.signal(SIGINT) }
  }

  func signal(_ member: Family.Member, _ number: Int32) {
    family.withLock { $0 }?.signal(member, number)
  }

  var count: Int { family.withLock { $0 }?.count ?? 0 }

  func areGone() async throws -> Bool { try await family.withLock { $0 }?.isGone() ?? false }
}

private func name(of pid: pid_t) -> String? {
  (try? readFile("/proc/\(pid)/comm")).map { String(decoding: $0.dropLast(), as: UTF8.self) }
}

private func hasEnded(_ pid: pid_t) -> Bool {
  guard let bytes = try? readFile("/proc/\(pid)/stat") else { return true }
  let line = String(decoding: bytes, as: UTF8.self)
  guard let end = line.lastIndex(of: ")") else { return true }
  // Z: ended and not reaped.
  return line[end...].dropFirst(2).first == "Z" && parent(of: pid) == 1
}
