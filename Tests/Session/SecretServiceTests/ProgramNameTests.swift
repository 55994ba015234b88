import Glibc
import ProgramDriver
import SessionPrompts
import Testing

@Suite("The names of programs that use the Secret Service")
struct ProgramNameTests {
  private func program(_ path: String?, _ arguments: String...) -> ClientProgram {
    ClientProgram(7, path: path, arguments: arguments)
  }

  @Test("a program's path and a sandboxed program's id are shown without characters that could imitate a prompt")
  func hidden() {
    #expect(program("/opt/a\u{202E}b").words == "/opt/ab")
    #expect(program("/opt/\n/perl", "perl", "x").words == "/opt/ /perl, which says that it runs “x”")
    #expect(program("/usr/bin/portal").asking(for: "a\nb").words == "a b, says /usr/bin/portal")
  }

  @Test("a sandboxed program's long id is shown with its end")
  func long() {
    let words = program("/usr/bin/portal").asking(for: String(repeating: "x", count: 5_000) + ".End").words
    #expect(words.hasSuffix("x.End, says /usr/bin/portal"))
    #expect(words.count < 100)
  }

  @Test("sandboxed programs are distinguished from each other and from the program that asks for them")
  func sandboxed() {
    let portal = program("/usr/bin/portal")
    let keys = [portal.program, portal.asking(for: "one").program, portal.asking(for: "two").program]
    #expect(Set(keys).count == 3)
  }

  @Test("a program's name includes the script of an interpreter whose file name has a version after a hyphen")
  func version() {
    #expect(
      program("/usr/bin/guile-3.0", "guile", "x.scm").words == "/usr/bin/guile-3.0, which says that it runs “x.scm”")
  }

  @Test("a program's path is its file's, also if the file's name ends like that of a removed file")
  func deletedMark() async throws {
    try await withFolder { folder in
      let path = "\(folder)/program (deleted)"
      try writeFile(path, readFile("/bin/sleep"))
      chmod(path, 0o755)
      let running = try Invocation(program: path, arguments: ["60"]).start()
      startThread { _ = running.finish { _, _ in } }
      defer { running.signal(SIGKILL) }
      var shown: String?
      for _ in 0..<2_000 where shown?.hasPrefix(folder) != true {
        try await Task.sleep(for: .milliseconds(5))
        shown = ClientProgram(running.pid).path
      }
      #expect(shown == path)
    }
  }
}
