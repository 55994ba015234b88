import Glibc
import Primitives
package import Processes
import SecretModel
import Synchronization

/// Finds the file that a calling program runs, for its name on prompts and for limits, and never for a permission. The
/// service itself may not inspect the processes of other users, so it asks a system unit that may (`whorl-program-path`).
package final class ProgramPaths: Sendable {
  /// How long the unit may take, its start included. After that the program is served without its path.
  private static let answerMilliseconds: Int32 = 500
  /// How long the unit is not asked again after it did not answer, in nanoseconds.
  private static let pause: UInt64 = 10_000_000_000

  private let unit: UnitPath
  // Blocks while the unit is asked.
  private let thread = BackgroundThread()
  private let failedAt = Mutex<UInt64?>(nil)

  package init(unit: UnitPath = UnitPath("/run/whorl-program-path/socket")) { self.unit = unit }

  /// The caller with its program's file, and the file's path in its label, if they are known.
  func named(_ caller: Caller) async -> Caller {
    guard let process = PinnedProcess(of: caller), let found = await file(of: process.id), process.isRunning else {
      return caller
    }
    var named = caller
    named.file = found.file
    named.label =
      switch found.path {
      case .at(let path): ProgramLabel.text(caller.label, path: path)
      case .was(let path): ProgramLabel.text(caller.label, earlierPath: path)
      case .elsewhere: ProgramLabel.inSandbox(caller.label)
      case .unknown: caller.label
      }
    return named
  }

  /// A program's file, and what is known of its path.
  private struct Found {
    enum Path {
      case at(String)
      /// The file is not there any more, as after an upgrade. The path is the program's own claim.
      case was(String)
      /// Another file is at the path: the process has mounts of its own, as in a sandbox.
      case elsewhere
      /// The folder is closed to the unit.
      case unknown
    }

    let file: ProgramFile
    let path: Path

    /// Nil if the unit did not answer.
    init?(_ answer: [UInt8]) {
      guard let text = String(validating: answer, as: UTF8.self) else { return nil }
      let fields = text.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false)
      guard fields.count == 5, let device = UInt64(fields[0]), let inode = UInt64(fields[1]),
        let owner = UInt32(fields[2])
      else { return nil }
      file = ProgramFile(device: device, inode: inode, owner: owner)
      switch (fields[3], String(fields[4])) {
      case ("at", let text): path = .at(text)
      case ("was", let text): path = .was(text)
      case ("elsewhere", _): path = .elsewhere
      default: path = .unknown
      }
    }
  }

  /// - Parameter process: its ID. The caller must check afterwards that the process still runs; otherwise the ID may
  ///   have been reused.
  private func file(of process: Int32) async -> Found? {
    await Task(executorPreference: thread) { () -> Found? in
      let now = ScanClock.now()
      guard self.failedAt.withLock({ failedAt in failedAt.map { now - $0 >= Self.pause } ?? true }) else { return nil }
      guard let answer = self.ask(about: process) else {
        self.failedAt.withLock { $0 = now }
        return nil
      }
      self.failedAt.withLock { $0 = nil }
      return Found(answer)
    }.value
  }

  /// Asks the unit for the file of a process. Nil if it did not answer; empty if it does not know.
  private func ask(about process: Int32) -> [UInt8]? {
    guard let socket = try? unit.connect() else { return nil }
    defer { close(socket) }
    var request = process
    // send: reads as many bytes as it is told
    guard
      send(socket, &request, MemoryLayout<Int32>.size, Int32(MSG_NOSIGNAL)) == MemoryLayout<Int32>.size
    else { return nil }
    var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    guard poll(&waiting, 1, Self.answerMilliseconds) > 0 else { return nil }
    return [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX) + 96) { buffer, count in
      // recv: writes at most as many bytes as it is told
      count = max(0, recv(socket, buffer.baseAddress, buffer.count, 0))
    }
  }
}
