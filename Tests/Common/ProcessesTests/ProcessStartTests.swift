import Glibc
import ProgramDriver
import Testing

@testable import Processes

@Suite("The start time of a process")
struct ProcessStartTests {
  @Test("a start time is read for any process name", arguments: ["name", "a) S 1 (b", "x)\u{600}", ")\u{301}) R 1 1"])
  func names(_ name: String) throws {
    let folder = try temporaryFolder("whorl-start")
    defer { removeFolder(folder) }
    let program = "\(folder)/\(name)"
    // The kernel names a process after the file it was started from, here a link.
    try #require(symlink("/bin/sleep", program) == 0)
    var start = ChildStart()
    let earlier = try #require(ProcessHandle.start(of: getpid()))
    let process = try start.start(.path(program), ["sleep", "100"], environment: environ)
    defer {
      kill(process, SIGKILL)
      waitpid(process, nil, 0)
    }
    let started = try #require(ProcessHandle.start(of: process))
    var now = timespec()
    clock_gettime(CLOCK_BOOTTIME, &now)
    #expect(started >= earlier && started <= UInt64(now.tv_sec + 1) * UInt64(sysconf(Int32(_SC_CLK_TCK))))
  }
}
