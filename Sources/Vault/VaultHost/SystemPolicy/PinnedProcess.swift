internal import Processes
package import SecretModel

/// The process of a caller, held by a pidfd: while it runs, its process ID cannot mean another process.
package struct PinnedProcess: Sendable {
  package let id: Int32
  let started: UInt64
  private let handle: ProcessHandle

  /// Nil if the process has ended, its ID belongs to another process, or the caller has no process.
  package init?(of caller: Caller) {
    guard let process = caller.process else { return nil }
    self.init(process)
  }

  /// Nil if the process has ended, or its ID belongs to another process.
  package init?(_ process: Caller.ProcessInstance) {
    guard let handle = ProcessHandle(process.id), ProcessHandle.start(of: process.id) == process.started else {
      return nil
    }
    id = process.id
    started = process.started
    self.handle = handle
  }

  /// If true, the ID has belonged to this process since it was pinned.
  package var isRunning: Bool { !handle.hasEnded }
}
