import ProgramDriver
import Testing
import VirtualFinger

@Suite(
  "The window with the fingers of the desktop's settings", .serialized,
  .enabled("a mount namespace needs root") { try await MachineFprintd.isPossible() })
struct DesktopFingerTests {
  /// The window on a machine whose fprintd has a virtual reader.
  private func shown(_ body: (WindowOnDisplay, TestStore, PrivateFprintd) async throws -> Void) async throws {
    try await PrivateFprintd.with(.image) { fprintd in
      try await TestStore.with { store in
        try await WindowOnDisplay.with(
          ["--store", store.directory, "--page", "fingers"], in: store.folder,
          through: [MachineFprintd.program] + MachineFprintd(fprintd).words([])
        ) { try await body($0, store, fprintd) }
      }
    }
  }

  private func waitForPrompt(in window: WindowOnDisplay, _ beginning: String) async throws {
    var texts: [String] = []
    for _ in 0..<50 where !texts.contains(where: { $0.hasPrefix(beginning) }) { texts = try await window.texts() }
    #expect(texts.contains { $0.hasPrefix(beginning) }, "\(texts)")
  }

  private func enrolled(_ fprintd: PrivateFprintd) async throws -> Bool {
    try await fprintd.tool("fprintd-list", fprintd.userName()).diagnostics.contains("left-thumb")
  }

  @Test("A finger is enrolled and removed in the desktop's settings from the window, after what is lost was said")
  func enrolledAndRemoved() async throws {
    try await shown { window, store, fprintd in
      // Cancel ends the enrolment, and lets go of the reader.
      try await window(.press("Left thumb, not enrolled"))
      try await waitForPrompt(in: window, "Swipe ")
      try await window(.press("Cancel"), .gone("Progress"))
      #expect(try await !enrolled(fprintd))
      try await window(.press("Left thumb, not enrolled"))
      try await waitForPrompt(in: window, "Swipe ")
      let image = fprintd.image
      for stage in 1...6 {
        try await onThread { try image.press(Fingers.thumb.impression(UInt64(stage))) }
        if stage < 6 { try await window(.see("Stage \(stage) of 6: lift and touch again")) }
      }
      try await window(.see("The left thumb is enrolled"), .see("Left thumb, enrolled"))
      #expect(try await enrolled(fprintd))
      var call = Invocation(
        arguments: MachineFprintd(fprintd).words(
          [try Programs.path("whorl")] + store.arguments(["set", "bound", "--access", "current-set"])),
        input: Array("secret".utf8))
      call.program = MachineFprintd.program
      try await call.run().mustSucceed()
      let lost = "These secrets are bound to the fingers as they are now, and are lost for good: “bound”."
      try await window(
        .press("Left thumb, enrolled"), .see("It opens nothing any more. You can enrol it again. \(lost)"),
        .press("Cancel"))
      #expect(try await enrolled(fprintd))
      try await window(
        .press("Left thumb, enrolled"), .click("These secrets may be destroyed"), .press("Remove"),
        .type(TestStore.passcode, into: "Passcode"), .press("Confirm"), .see("Left thumb, not enrolled"))
      #expect(try await !enrolled(fprintd))
    }
  }

  @Test("A session that may not change the desktop's fingers is told so in the window, before anything is asked")
  func refused() async throws {
    try await shown { window, _, fprintd in
      try fprintd.allow("verify")
      try await window(.press("Left thumb, not enrolled"))
      try await waitForPrompt(in: window, "This session may not enrol a finger")
    }
  }
}
