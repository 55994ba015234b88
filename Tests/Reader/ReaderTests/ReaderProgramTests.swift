import Testing

@testable import ReaderClient

@Suite("Where whorl-reader is")
struct ReaderProgramTests {
  @Test(
    "beside the executable, in the place it is installed in, where the configuration says, then where installs put it")
  func places() {
    #expect(
      ReaderProgram.candidates(executable: "/home/me/app/.build/debug/app", configured: ["/opt/w/whorl-reader"]) == [
        "/home/me/app/.build/debug/whorl-reader", "/home/me/app/.build/debug/../libexec/whorl/whorl-reader",
        "/opt/w/whorl-reader", "/usr/local/libexec/whorl/whorl-reader", "/usr/libexec/whorl/whorl-reader",
      ])
  }

  @Test("a process that cannot tell where it is looks in the other places")
  func unknownExecutable() {
    #expect(
      ReaderProgram.candidates(executable: nil, configured: []) == [
        "/usr/local/libexec/whorl/whorl-reader", "/usr/libexec/whorl/whorl-reader",
      ])
  }
}
