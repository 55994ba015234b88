internal import Processes
internal import SecretModel

/// The process of a caller, held by a pidfd, so that what was learnt about its number can be told to be about it.
struct PinnedProcess: Sendable {
  let id: Int32
  let started: UInt64
  private let handle: ProcessHandle

  /// Nil where the process has ended, where its number means another one, and where the caller has none.
  init?(of caller: Caller) {
    guard let process = caller.process, let handle = ProcessHandle(process.id),
      ProcessHandle.start(of: process.id) == process.started
    else { return nil }
    id = process.id
    started = process.started
    self.handle = handle
  }

  /// While this is true, the number has meant this process all the time.
  var isRunning: Bool { !handle.hasEnded }
}
