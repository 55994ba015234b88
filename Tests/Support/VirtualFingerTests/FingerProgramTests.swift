import Glibc
import Testing

@Suite("whorl-finger")
struct FingerProgramTests {
  @Test(
    "whorl-finger exits with a status for each error",
    arguments: [
      (["image", "right-index", "-o", "/dev/null"], 0),
      (["--help"], 0),
      (["press", "--socket", "/tmp/whorl-no-such-reader"], 64),
      (["press", "third-thumb", "--socket", "/tmp/whorl-no-such-reader"], 64),
      (["press", "right-index", "--socket", "virtual-storage:/tmp/whorl-no-such-reader"], 64),
      (["press", "right-index", "--count", "99999999999", "--socket", "/tmp/whorl-no-such-reader"], 64),
      (["press", "right-index", "--gap", "99999999999", "--socket", "/tmp/whorl-no-such-reader"], 64),
      (["press", "right-index", "--wait", "0", "--socket", "/tmp/whorl-no-such-reader"], 69),
      (["scan", "anna", "--wait", "0", "--socket", "/tmp/whorl-no-such-reader"], 69),
      (["press", "--image", "/nonexistent.png", "--socket", "/tmp/whorl-no-such-reader"], 74),
      (["image", "right-index", "-o", "/nonexistent/image.png"], 74),
    ] as [([String], Int32)])
  func statuses(arguments: [String], status: Int32) throws {
    #expect(try run(arguments) == status)
  }

  /// Runs the program from the test runner's folder and discards its output.
  private func run(_ arguments: [String]) throws -> Int32 {
    var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &path, path.count)
    let runner = String(decoding: path.prefix(max(0, count)), as: UTF8.self)
    let program = try #require(runner.lastIndex(of: "/").map { runner[..<$0] + "/whorl-finger" })
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for descriptor: Int32 in [1, 2] {
      posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
    }
    // posix_spawn copies the words. This function frees them.
    var words: [UnsafeMutablePointer<CChar>?] = ([String(program)] + arguments).map { strdup($0) } + [nil]
    defer { words.forEach { free($0) } }
    var child: pid_t = 0
    try #require(posix_spawn(&child, String(program), &actions, nil, &words, environ) == 0)
    var result: Int32 = 0
    try #require(waitpid(child, &result, 0) == child)
    return result & 0x7f == 0 ? result >> 8 & 0xff : -(result & 0x7f)
  }
}
