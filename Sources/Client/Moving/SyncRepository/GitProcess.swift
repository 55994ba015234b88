internal import CLinux
internal import Glibc
internal import Primitives
internal import Processes

/// A git process. One of its outputs is read while it runs; the other is collected in a memory file.
///
/// Calls block while git works.
final class GitProcess {
  /// The output that is read while git runs.
  enum Watched {
    case output
    /// Standard error, which has the progress of a transfer.
    case diagnostics
  }

  /// The maximum size of one transfer, in bytes.
  static let transferLimit = 2 << 30
  /// The bounds of each git, and of each program that it starts. A repository of some KiB can be made so that git needs
  /// any memory and time for it.
  private static let bounds = ChildBounds(
    memory: 1 << 30, processorTime: 300, fileSize: UInt64(clamping: transferLimit))
  /// The size of the memory file ``besides``.
  private static let besidesSize = 64 << 10

  /// How long git may be silent.
  private let patience: Duration
  /// When git has to be finished.
  private let deadline: ContinuousClock.Instant
  /// How many bytes git may still write to ``watched``.
  private var room: Int
  private var lastLook = ContinuousClock.now
  private let child: ChildProcess
  private let entry: Unfinished.Entry
  /// -1 if closed.
  private var input: Int32
  private let watched: Int32
  /// A memory file with the beginning of the other output.
  private let besides: Int32
  private var buffer: [UInt8] = []
  private var position = 0
  private var isAtEnd = false
  /// Called every second while reading from git. An error ends the wait.
  var everySecond: () throws(SyncRunError) -> Void = {}

  /// - Parameters:
  ///   - folder: the repository.
  ///   - takesInput: whether ``write(_:)`` writes to git's input; else the input is `/dev/null`.
  ///   - patience: how long git may be silent.
  ///   - time: how long git may take.
  ///   - outputLimit: how many bytes git may write.
  init(
    _ git: GitProgram, _ command: GitCommand, in folder: String, watching: Watched = .output, takesInput: Bool = false,
    keepsTerminal: Bool = false, patience: Duration = .seconds(300), time: Duration = .seconds(1_200),
    outputLimit: Int = 128 << 20
  ) throws(SyncRunError) {
    func failed() -> SyncRunError { .system("git cannot be started: \(String(cString: strerror(errno)))") }
    var pipeEnds: [Int32] = [-1, -1]
    var inputEnds: [Int32] = [-1, -1]
    // All descriptors are ours, and the child has copies.
    guard pipe(&pipeEnds) == 0 else { throw failed() }
    for end in pipeEnds { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    watched = pipeEnds[0]
    besides = whorl_bounded_memory_file("git", Self.besidesSize)
    defer { close(pipeEnds[1]) }
    if takesInput {
      // If it fails, both ends stay -1.
      _ = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &inputEnds)
    } else {
      inputEnds[0] = open("/dev/null", O_RDONLY | O_CLOEXEC)
    }
    defer { close(inputEnds[0]) }
    input = inputEnds[1]
    self.patience = patience
    deadline = .now + time
    room = outputLimit
    guard besides >= 0, inputEnds[0] >= 0 else {
      for open in [watched, besides, input] where open >= 0 { close(open) }
      throw failed()
    }
    let (standardInput, output, errors) =
      watching == .output ? (inputEnds[0], pipeEnds[1], besides) : (inputEnds[0], besides, pipeEnds[1])
    do throws(ChildStartError) {
      (child, entry) = try Unfinished.ofThisProgram.start { () throws(ChildStartError) in
        try ChildProcess(
          git.program, arguments: command.arguments(git.program, in: folder),
          environment: command.environment + ["GIT_DIR=\(folder)"], standardInput: standardInput,
          standardOutput: output, keepsTerminal: keepsTerminal, standardError: errors, bounds: Self.bounds)
      }
    } catch {
      for open in [watched, besides, input] where open >= 0 { close(open) }
      throw .system("git cannot be started: \(error.words)")
    }
  }

  deinit {
    child.kill()
    Unfinished.ofThisProgram.forget(entry)
    closeInput()
    close(watched)
    close(besides)
  }

  // MARK: Input

  func write(_ bytes: some Sequence<UInt8>) throws(SyncRunError) {
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
      // Borrows the rest for the call. Causes no SIGPIPE if git has ended.
      let count = rest.withUnsafeBytes { send(input, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count >= 0 || errno == EINTR else { throw .damaged(reason ?? "git has ended early") }
      if count > 0 { rest = rest.dropFirst(count) }
    }
  }

  func closeInput() {
    if input >= 0 { close(input) }
    input = -1
  }

  // MARK: Output

  /// The bytes up to a delimiter, without it, but at most `limit`; nil at the end.
  func next(upTo delimiters: [UInt8], limit: Int = 4_096) throws(SyncRunError) -> [UInt8]? {
    var bytes: [UInt8] = []
    while true {
      if let end = buffer[position...].firstIndex(where: delimiters.contains) {
        bytes += buffer[position..<end].prefix(limit - bytes.count)
        position = end + 1
        return bytes
      }
      bytes += buffer[position...].prefix(limit - bytes.count)
      position = buffer.count
      guard try fill() else { return bytes.isEmpty ? nil : bytes }
    }
  }

  /// Reads exactly `count` bytes.
  func next(_ count: Int) throws(SyncRunError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count {
      if position == buffer.count { guard try fill() else { throw .damaged(reason ?? "git has ended early") } }
      let part = buffer[position...].prefix(count - bytes.count)
      bytes += part
      position += part.count
    }
    return bytes
  }

  private func fill() throws(SyncRunError) -> Bool {
    guard !isAtEnd else { return false }
    let start = ContinuousClock.now
    while true {
      let now = ContinuousClock.now
      if now - lastLook >= .seconds(1) {
        lastLook = now
        try everySecond()
      }
      guard now < deadline else { throw stopped("git has not finished in time") }
      var entry = pollfd(fd: watched, events: Int16(POLLIN), revents: 0)
      let ready = poll(&entry, 1, 1_000)
      if ready == 0 || (ready < 0 && errno == EINTR) {
        guard now - start < patience else {
          child.kill()
          throw .unreachable(reason: "git has not answered for \(patience.components.seconds) seconds")
        }
        continue
      }
      buffer = [UInt8](unsafeUninitializedCapacity: 65_536) { target, count in
        // Writes at most as many bytes as it is told.
        var length = read(watched, target.baseAddress, target.count)
        while length < 0, errno == EINTR { length = read(watched, target.baseAddress, target.count) }
        count = max(0, length)
      }
      position = 0
      isAtEnd = buffer.isEmpty
      guard buffer.count <= room else { throw stopped("git has too much to say about it") }
      room -= buffer.count
      return !isAtEnd
    }
  }

  private func stopped(_ why: String) -> SyncRunError {
    child.kill()
    return .tooMuch(why)
  }

  /// Reads up to the end, and returns at most `limit` bytes.
  func rest(limit: Int) throws(SyncRunError) -> [UInt8] {
    var bytes: [UInt8] = []
    repeat {
      bytes += buffer[position...].prefix(limit - bytes.count)
      position = buffer.count
    } while try fill()
    return bytes
  }

  // MARK: End

  /// Waits for the end, and returns whether git has succeeded.
  func hasSucceeded() async -> Bool {
    closeInput()
    _ = await child.end(grace: .seconds(60)).value
    return child.hasSucceeded
  }

  /// The beginning of git's other output, up to 64 KiB.
  var said: String {
    let bytes = [UInt8](unsafeUninitializedCapacity: 64 << 10) { target, count in
      // Writes at most as many bytes as it is told.
      count = max(0, pread(besides, target.baseAddress, target.count, 0))
    }
    // The file has its full size from the beginning.
    return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// ``said``, line by line.
  var lines: [String] { said.split(separator: "\n").map(String.init) }

  /// Why git has failed, in its words; nil if it has said nothing.
  private var reason: String? { GitWords.reason(in: lines) }

  /// The error of a local command that has failed.
  var damage: SyncRunError { excess(lines) ?? .damaged(reason ?? "git has failed") }

  /// The error if git has ended at one of its bounds.
  ///
  /// - Parameter lines: git's diagnostics.
  func excess(_ lines: [String]) -> SyncRunError? {
    switch child.endingSignal {
    case SIGXCPU: .tooMuch("git has computed for more than five minutes")
    case SIGXFSZ: .tooMuch("it sends more than \(Self.transferLimit >> 30) GiB")
    default: GitWords.isOutOfMemory(lines) ? .tooMuch("git needs more than 1 GiB of memory for it") : nil
    }
  }
}
