import Testing

@testable import Processes

@Suite("Where helper programs are looked for")
struct HelperPlacesTests {
  @Test(
    "beside the executable, relative to an installation, in the configured place, then in the default folders")
  func places() {
    #expect(
      HelperPlaces.reader.candidates(executable: "/home/me/app/.build/debug/app", configured: "/opt/w/whorl-reader")
        == [
          "/home/me/app/.build/debug/whorl-reader", "/home/me/app/.build/debug/../libexec/whorl/whorl-reader",
          "/opt/w/whorl-reader", "/usr/local/libexec/whorl/whorl-reader", "/usr/libexec/whorl/whorl-reader",
        ])
  }

  @Test("a process that does not know its own path looks in the other places")
  func unknownExecutable() {
    #expect(
      HelperPlaces.reader.candidates(executable: nil, configured: nil) == [
        "/usr/local/libexec/whorl/whorl-reader", "/usr/libexec/whorl/whorl-reader",
      ])
  }
}
