import Glibc
import ProgramDriver
import Testing

@testable import Processes

@Suite("A child process")
struct ChildProcessTests {
  @Test("a child process is reaped when it ends by itself, and says how it ended")
  func endsByItself() async throws {
    let child = try Child("/bin/sh", "-c", "exit 3")
    #expect(await child.process.end(grace: .seconds(10)).value == "exit status 3")
    #expect(!isThere(child.process))
  }

  @Test("a child process ends when the other end of its standard input is closed")
  func endOfInput() async throws {
    let child = try Child("/bin/cat")
    let end = child.process.end(grace: .seconds(10))
    child.hangUp()
    #expect(await end.value == "exit status 0")
  }

  @Test("a child process is terminated after the grace period, and killed if it does not end")
  func isEnded() async throws {
    let willing = try Child("/bin/sleep", "1000")
    #expect(await willing.process.end(grace: .zero).value == "killed by signal 15 (Terminated)")
    // The shell writes to its standard input, a socket, once it ignores the signal.
    let stubborn = try Child("/bin/sh", "-c", "trap '' TERM; echo >&0; while :; do sleep 1000; done")
    var ready: UInt8 = 0
    #expect(read(stubborn.ours, &ready, 1) == 1)
    #expect(await stubborn.process.end(grace: .zero).value == "killed by signal 9 (Killed)")
  }

  @Test("a child process gets the environment and the descriptors it is given, and no others")
  func inheritsNothing() async throws {
    let open = dup(0)
    defer { close(open) }
    let child = try Child("/bin/sh", "-c", "exec >&0; env; ls -1 /proc/$$/fd", environment: ["ONE=1"])
    let lines = Set(child.output().split(separator: "\n").map(String.init))
    #expect(lines.subtracting(["PWD=\(currentFolder())", "_=/usr/bin/env", "SHLVL=1"]) == ["ONE=1", "0", "1", "2"])
    _ = await child.process.end(grace: .seconds(10)).value
  }

  @Test("a child process keeps descriptors under the same numbers, below and above its program's own")
  func keepsDescriptors() async throws {
    let low = open("/dev/null", O_RDONLY | O_CLOEXEC)
    let high = fcntl(low, F_DUPFD_CLOEXEC, 200)
    let other = fcntl(low, F_DUPFD_CLOEXEC, 150)
    defer { for each in [low, high, other] { close(each) } }
    let child = try Child("/bin/sh", "-c", "exec >&0; ls -1 /proc/$$/fd", keeping: [low, high])
    let lines = Set(child.output().split(separator: "\n").map(String.init))
    #expect(lines == ["0", "1", "2", "\(low)", "\(high)"])
    #expect(fcntl(low, F_GETFD) == FD_CLOEXEC)
    _ = await child.process.end(grace: .seconds(10)).value
  }

  @Test("a child process with bounds runs within them, and is killed when the program that started it ends")
  func bounds() async throws {
    try await withFolder { folder in
      // In a program of its own, which ends without ending the child.
      await #expect(processExitsWith: .success) { [folder = folder as String] in
        let script =
          "(ulimit -d; ulimit -t; ulimit -f; echo $$) >'\(folder)/new'; mv '\(folder)/new' '\(folder)/said'; "
        let child = try Child(
          "/bin/sh", "-c", script + "exec sleep 1000",
          bounds: ChildBounds(memory: 512 << 20, processorTime: 40, fileSize: 1 << 20))
        for _ in 1...1_000 where access("\(folder)/said", F_OK) != 0 { usleep(10_000) }
        #expect(!child.process.hasEnded)
      }
      let lines = String(decoding: try readFile("\(folder)/said"), as: UTF8.self).split(separator: "\n")
      #expect(lines.prefix(3) == ["524288", "40", "2048"])
      let child = try #require(lines.last)
      // Nothing is left of the command line of a process that was killed.
      func isRunning() -> Bool { (try? readFile("/proc/\(child)/cmdline"))?.isEmpty == false }
      for _ in 1...500 where isRunning() { try await Task.sleep(for: .milliseconds(20)) }
      #expect(!isRunning())
    }
  }

  @Test("a child process that computes longer, or writes more, than its bounds allow is ended by a signal that says so")
  func exceeded() async throws {
    for (script, signal) in [("while :; do :; done", SIGXCPU), ("exec cat /dev/zero >\"$FILE\"", SIGXFSZ)] {
      try await withFolder { folder in
        let child = try Child(
          "/bin/sh", "-c", script, environment: ["FILE=\(folder)/file"],
          bounds: ChildBounds(memory: 512 << 20, processorTime: 1, fileSize: 1 << 20))
        _ = await child.process.end(grace: .seconds(60)).value
        #expect(child.process.endingSignal == signal)
      }
    }
  }

  @Test("a child process is in a session of its own")
  func session() async throws {
    let child = try Child("/bin/sh", "-c", "cut -d ' ' -f 1,6 /proc/$$/stat >&0")
    let fields = child.output().split(whereSeparator: \.isWhitespace)
    #expect(fields.count == 2 && fields[0] == fields[1], "\(fields)")
    _ = await child.process.end(grace: .seconds(10)).value
  }

  @Test("the end of a child process that the program itself has reaped is reported as unknown")
  func reapedElsewhere() async {
    // In a process of its own, which has no other children.
    await #expect(processExitsWith: .success) {
      let child = try Child("/bin/cat")
      child.hangUp()
      // The child is reaped as soon as it ends: here, or by its own process object.
      let isReapedHere = waitpid(-1, nil, 0) > 0
      let end = await child.process.end(grace: .seconds(10)).value
      #expect(end == (isReapedHere ? "end unknown" : "exit status 0"))
    }
  }

  @Test("a child process is ended also in a program that ignores SIGCHLD")
  func ignoredByTheProgram() async {
    await #expect(processExitsWith: .success) {
      signal(SIGCHLD, SIG_IGN)
      let child = try Child("/bin/sleep", "1000")
      #expect(await child.process.end(grace: .zero).value == "end unknown")
      #expect(waitpid(-1, nil, WNOHANG) == -1)
    }
  }

  @Test("a child process that cannot be executed reports why")
  func notExecutable() async throws {
    try await withFolder { folder in
      let path = "\(folder)/program"
      try writeFile(path, Array("no program".utf8))
      try #require(chmod(path, 0o700) == 0)
      let failure = #expect(throws: ChildStartError.self) { try Child(path) }
      #expect(failure?.code == ENOEXEC)
    }
  }

  @Test("a process of another parent is neither taken for an own child nor reaped")
  func stranger() throws {
    let parent = try #require(ProcessHandle(getppid()))
    #expect(!parent.hasEnded)
    #expect(!parent.isOwnChild)
    guard case .notOurs = parent.reap() else { return #expect(Bool(false), "only its parent reaps it") }
    #expect(ProcessHandle(pid_t.max) == nil)
  }

  @Test("the end of another process is awaited no longer than the limit")
  func limit() async throws {
    let parent = try #require(ProcessHandle(getppid()))
    #expect(await !parent.ended(within: .milliseconds(10)))
    #expect(await !parent.ended(within: .seconds(-1)))
  }
}

/// A child with a socket to it.
private struct Child {
  let process: ChildProcess
  let ours: Int32

  init(
    _ program: String, _ arguments: String..., environment: [String] = [], keeping kept: [Int32] = [],
    bounds: ChildBounds? = nil
  ) throws {
    var pair: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0)
    defer { close(pair[1]) }
    ours = pair[0]
    process = try ChildProcess(
      try HelperProgram(at: program), arguments: [program] + arguments, environment: environment,
      descriptors: kept, standardInput: pair[1], bounds: bounds)
  }

  func hangUp() { shutdown(ours, Int32(SHUT_RDWR)) }

  /// Everything the child writes to its standard input, until it ends.
  func output() -> String {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(ours, &chunk, chunk.count)
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += chunk[..<count]
    }
  }
}

private func isThere(_ child: ChildProcess) -> Bool { child.handle.isOwnChild }

private func currentFolder() -> String {
  guard let folder = getcwd(nil, 0) else { return "" }
  // getcwd with NULL: the string is ours
  defer { free(folder) }
  return String(cString: folder)
}
