import Glibc
import Primitives
import ProgramDriver
import Testing
import VirtualFinger

@Suite("The picture of a finger in whorl-reader-kit test")
struct CaptureTests {
  private static let picture = Fingers.right.impression(3)

  /// Runs `whorl-reader-kit test` on a virtual image reader, and presses the picture at every wanted touch.
  private func run(_ folder: String, _ words: String...) async throws -> Invocation.Result {
    let reader = VirtualImageReader(socket: "\(folder)/socket", patience: .seconds(10))
    return try await Invocation(
      program: "whorl-reader-kit", arguments: ["test", "--reader", "virtual-image:\(folder)/socket"] + words
    ).run { line, program in
      guard line.hasPrefix("Swipe the reader (virtual reader)") else { return }
      startThread {
        // The line is printed while the scan is being armed.
        usleep(250_000)
        if program.isRunning { try? reader.press(Self.picture) }
      }
    }
  }

  @Test("whorl-reader-kit test describes the picture of a finger in every output format, and writes it to no file")
  func forms() async throws {
    try await withFolder { folder in
      let facts = "\(Self.picture.width) by \(Self.picture.height) pixels (the driver tells no resolution), "
      let tap = try await run(folder, "--steps", "capture", "--format", "tap", "--page", "\(folder)/page.md")
      #expect(tap.status == 0, "\(tap.diagnostics)")
      #expect(tap.text.contains("ok 1 - capture # \(facts)") && tap.text.contains(": good, "), "\(tap.text)")
      let page = String(decoding: try readFile("\(folder)/page.md"), as: UTF8.self)
      #expect(page.contains("| capture | ok | ") && page.contains(facts), "\(page)")
      let junit = try await run(folder, "--steps", "capture", "--format", "junit")
      #expect(junit.text.contains(#"name="capture""#) && junit.text.contains("<system-out>\(facts)"), "\(junit.text)")
      let json = try await run(folder, "--steps", "capture", "--json")
      #expect(json.text.contains(#""height":\#(Self.picture.height),"minutiae":"#), "\(json.text)")
      #expect(json.text.contains(#""quality":"good","width":\#(Self.picture.width)}"#), "\(json.text)")
      let human = try await run(folder, "--steps", "capture")
      #expect(human.text.contains("\ncapture   ok, "), "\(human.text)")
      #expect(try folderEntries(folder).allSatisfy { $0 == "page.md" || $0 == "socket" })
    }
  }

  @Test("whorl-reader-kit test --image writes the picture of a finger pixel for pixel, readable by its owner alone")
  func kept() async throws {
    try await withFolder { folder in
      let result = try await run(folder, "--steps", "capture", "--image", "\(folder)/finger.png")
      #expect(result.status == 0, "\(result.diagnostics)")
      #expect(result.diagnostics.contains("\(folder)/finger.png holds YOUR FINGERPRINT"), "\(result.diagnostics)")
      #expect(try GrayImage(png: "\(folder)/finger.png") == Self.picture)
      var status = stat()
      #expect(lstat("\(folder)/finger.png", &status) == 0 && status.st_mode & 0o777 == 0o600)
      // Without --steps, `capture` is one of the default steps of such a reader.
      let usual = try await run(folder, "--image", "\(folder)/finger.png")
      #expect(usual.status == 73, "\(usual.diagnostics)")
      #expect(!usual.diagnostics.contains("Swipe"), "told before anybody is asked for a touch")
      #expect(try GrayImage(png: "\(folder)/finger.png") == Self.picture)
    }
  }

  @Test("whorl-reader-kit test --image is refused if the picture of a finger cannot be taken or written")
  func refused() async throws {
    try await withFolder { folder in
      let nowhere = try await run(folder, "--steps", "capture", "--image", "\(folder)/none/finger.png")
      #expect(nowhere.status == 74 && !nowhere.diagnostics.contains("Swipe"), "\(nowhere.diagnostics)")
      for steps in ["enroll", "capture,capture"] {
        let result = try await run(folder, "--steps", steps, "--image", "\(folder)/finger.png")
        #expect(result.status == 64, "\(result.diagnostics)")
      }
      let chip = ["test", "--reader", "virtual-storage:\(folder)/chip"]
      let asked = try await Invocation(
        program: "whorl-reader-kit", arguments: chip + ["--steps", "capture", "--image", "\(folder)/finger.png"]
      ).run()
      #expect(asked.status == 69, "\(asked.diagnostics)")
      let usual = try await Invocation(
        program: "whorl-reader-kit", arguments: chip + ["--image", "\(folder)/finger.png"]
      ).run()
      #expect(usual.status == 64, "\(usual.diagnostics)")
      let skipped = try await Invocation(
        program: "whorl-reader-kit", arguments: chip + ["--steps", "capture", "--format", "tap"]
      ).run()
      #expect(skipped.status == 0 && skipped.text.contains("ok 1 - capture # SKIP not supported"), "\(skipped.text)")
      #expect(access("\(folder)/finger.png", F_OK) != 0)
    }
  }
}
