import Testing

@testable import Processes

@Suite("Where a helper program is")
struct HelperPlacesTests {
  @Test(
    "beside the executable, in the place it is installed in, where the configuration says, then where installs put it")
  func places() {
    #expect(
      HelperPlaces.reader.candidates(executable: "/home/me/app/.build/debug/app", configured: "/opt/w/whorl-reader")
        == [
          "/home/me/app/.build/debug/whorl-reader", "/home/me/app/.build/debug/../libexec/whorl/whorl-reader",
          "/opt/w/whorl-reader", "/usr/local/libexec/whorl/whorl-reader", "/usr/libexec/whorl/whorl-reader",
        ])
  }

  @Test("a process that cannot tell where it is looks in the other places")
  func unknownExecutable() {
    #expect(
      HelperPlaces.reader.candidates(executable: nil, configured: nil) == [
        "/usr/local/libexec/whorl/whorl-reader", "/usr/libexec/whorl/whorl-reader",
      ])
  }
}
