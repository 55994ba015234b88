import Testing

@testable import Processes

@Suite("Where helper programs are looked for")
struct HelperPlacesTests {
  @Test(
    "a helper program is looked for beside the executable, in its installation, as configured, and by default")
  func places() {
    #expect(
      HelperPlaces.reader.candidates(executable: "/home/me/app/.build/debug/app", configured: "/opt/w/whorl-reader")
        == [
          "/home/me/app/.build/debug/whorl-reader", "/home/me/app/.build/debug/../libexec/whorl/whorl-reader",
          "/opt/w/whorl-reader", "/usr/local/libexec/whorl/whorl-reader", "/usr/libexec/whorl/whorl-reader",
        ])
  }

  @Test("a process that does not know its own path looks for helper programs in the default folders")
  func unknownExecutable() {
    #expect(
      HelperPlaces.reader.candidates(executable: nil, configured: nil) == [
        "/usr/local/libexec/whorl/whorl-reader", "/usr/libexec/whorl/whorl-reader",
      ])
  }
}
