import Glibc
import Primitives
import ProgramDriver
import Synchronization
import Testing
import VirtualFinger

/// Performs the actions that a guided run asks for, line by line, on a virtual reader.
private final class Hands: Sendable {
  enum Finger { case mine, another }

  private let kind: PrivateFprintd.Reader
  private let image: VirtualImageReader
  private let storage: VirtualStorageReader
  private let slips: Set<String>
  private let pause: UInt32
  private let impression = Mutex<UInt64>(0)
  private let isToTouchBadly = Mutex(false)

  /// - Parameters:
  ///   - slips: words in lines at which a wrong finger is used.
  ///   - pause: how long a scan may take to be armed after its line was printed, in microseconds. A virtual reader keeps
  ///     a touch that comes earlier, and fprintd then reports it before it names the finger, which is refused.
  init(_ kind: PrivateFprintd.Reader, socket: String, slips: Set<String> = [], pause: UInt32 = 250_000) {
    self.kind = kind
    self.pause = pause
    image = VirtualImageReader(socket: socket, patience: .seconds(10))
    storage = VirtualStorageReader(socket: socket)
    self.slips = slips
  }

  var heard: @Sendable (String, RunningProgram) -> Void {
    { line, program in
      guard self.isTouchAsked(by: line) else { return }
      startThread {
        usleep(self.pause)
        guard program.isRunning else { return }
        try? self.obey(line)
      }
    }
  }

  /// Whether the line asks for an action. After a wanted bad touch, the run continues without another touch, which
  /// would be taken by the next step.
  private func isTouchAsked(by line: String) -> Bool {
    if line.contains("(virtual reader)") {
      isToTouchBadly.withLock { $0 = line.contains("badly") }
      return true
    }
    return line.contains("touch again") && !isToTouchBadly.withLock { $0 }
  }

  private func obey(_ line: String) throws {
    let isSlip = slips.contains { line.contains($0) }
    if line.hasPrefix("Unplug") {
      try storage.unplug()
    } else if line.contains("badly") {
      if kind == .image { try image.retry(.tooShort) } else { try storage.retry(.tooShort) }
    } else if line.contains("ANOTHER") {
      try touch(isSlip ? .mine : .another)
    } else if line.hasPrefix("Swipe") || line.hasPrefix("Touch") || line.contains("touch again") {
      try touch(isSlip ? .another : .mine)
    }
  }

  private func touch(_ finger: Finger) throws {
    let number = impression.withLock { number in
      number += 1
      return number
    }
    switch kind {
    case .image: try image.press((finger == .mine ? Fingers.right : Fingers.wrong).impression(number))
    case .storage: try storage.scan(finger == .mine ? "mine" : "another")
    }
  }
}

@Suite("whorl-reader-kit test, step by step")
struct ReaderTestTests {
  private static let readers: [PrivateFprintd.Reader] = [.image, .storage]

  private func run(
    _ kind: PrivateFprintd.Reader, _ folder: String, _ words: String..., slips: Set<String> = []
  ) async throws -> Invocation.Result {
    let socket = "\(folder)/socket"
    return try await Invocation(
      program: "whorl-reader-kit",
      arguments: ["test"] + words + ["--reader", "virtual-\(kind == .image ? "image" : "storage"):\(socket)"]
    ).run(heard: Hands(kind, socket: socket, slips: slips).heard)
  }

  @Test(
    "whorl-reader-kit test goes through every step of a reader by default, and writes a page for a bug tracker",
    arguments: readers)
  func wholeRun(_ kind: PrivateFprintd.Reader) async throws {
    try await withFolder { folder in
      let result = try await run(kind, folder, "--touches", "3", "--format", "json", "--page", "\(folder)/page.md")
      #expect(result.status == 0, "\(result.diagnostics)")
      for step in [
        "enroll", "list", "verify", "identify", "wrong", "retry", "cancel", "suspend", "touches", "delete",
      ] {
        #expect(result.text.contains(#""step":"\#(step)""#), "\(step): \(result.text)")
      }
      #expect(result.text.contains(#""adapter":"libfprint""#) && result.text.contains(#""passed":true"#))
      #expect(result.text.contains("0 of 3 touches falsely rejected, 0 retries"))
      #expect(result.text.contains("retry: too-short"))
      #expect(!result.text.contains(#""step":"unplug""#))
      let page = String(decoding: try readFile("\(folder)/page.md"), as: UTF8.self)
      #expect(
        page.contains("| Driver | virtual_\(kind == .image ? "image" : "device_storage") |")
          && page.contains("| Result | passed |"))
      #expect(page.contains("| wrong | ok | "))
      let again = try await run(kind, folder, "--steps", "cancel", "--page", "\(folder)/page.md")
      #expect(again.status == 73, "\(again.diagnostics)")
      let nowhere = try await run(kind, folder, "--steps", "cancel", "--page", "\(folder)/none/page.md")
      #expect(nowhere.status == 74, "\(nowhere.diagnostics)")
      for refused in [again, nowhere] {
        #expect(!refused.diagnostics.contains("(virtual reader)"), "told before anybody is asked for a touch")
        #expect(refused.output.isEmpty)
      }
    }
  }

  @Test(
    "whorl-reader-kit test reports false accepts as JUnit failures, which set its status, and false rejects as text")
  func failures() async throws {
    try await withFolder { folder in
      let result = try await run(
        .storage, folder, "--steps", "enroll,wrong,touches,delete", "--touches", "2", "--format", "junit",
        slips: ["ANOTHER", "1 of 2"])
      #expect(result.status == 77, "\(result.diagnostics)")
      #expect(result.failure.contains("wrong: another finger was taken for the enrolled one"))
      #expect(result.text.hasPrefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"Virtual device"))
      #expect(result.text.contains(#"tests="4" failures="1" skipped="0""#), "\(result.text)")
      #expect(result.text.contains(#"name="wrong""#) && result.text.contains("<failure message=\"another finger"))
      #expect(result.text.contains("1 of 2 touches falsely rejected"))
      #expect(result.text.hasSuffix("</testsuite>\n"))
    }
  }

  @Test("whorl-reader-kit test runs list and identify before the enrolment and after the deletion, too")
  func nobodyEnrolled() async throws {
    try await withFolder { folder in
      let steps = "list,identify,enroll,list,identify,delete,list,identify,verify"
      let chip = try await run(.storage, folder, "--steps", steps, "--format", "tap")
      #expect(chip.status == 0, "\(chip.diagnostics)\(chip.text)")
      for line in [
        "ok 1 - list # 0 prints on the chip", "ok 2 - identify # nobody is known",
        "ok 4 - list # the print is on the chip, with 0 other", "ok 5 - identify # match",
        "ok 7 - list # 0 prints on the chip", "ok 8 - identify # nobody is known",
        "ok 9 - verify # SKIP no print was enrolled",
      ] {
        #expect(chip.text.contains(line), "\(line): \(chip.text)")
      }
      let picture = try await run(.image, folder, "--steps", "list,identify,enroll,identify", "--format", "tap")
      #expect(picture.status == 0, "\(picture.diagnostics)\(picture.text)")
      #expect(picture.text.contains("ok 1 - list # SKIP not supported"))
      #expect(picture.text.contains("ok 2 - identify # nobody is known"))
      #expect(picture.text.contains("ok 4 - identify # match"))
    }
  }

  @Test(
    "a reader unplugged on request of whorl-reader-kit test ends the scan as unplugged, and works again when it is back"
  )
  func unplugged() async throws {
    try await withFolder { folder in
      let result = try await run(.storage, folder, "--steps", "unplug,enroll,verify,delete", "--format", "tap")
      #expect(result.status == 0, "\(result.diagnostics)\(result.text)")
      #expect(result.text.contains("ok 1 - unplug # the scan ended as unplugged, and the reader was back"))
      #expect(result.text.contains("ok 3 - verify # match"))
    }
  }

  @Test("whorl-reader-kit test runs all its steps through fprintd, and leaves no print there", arguments: readers)
  func throughFprintd(_ kind: PrivateFprintd.Reader) async throws {
    try await withFprintd(kind) { fprintd, configuration in
      let result = try await Invocation(
        program: "whorl-reader-kit",
        arguments: ["test", "--touches", "2", "--format", "tap", "--config", configuration]
      ).run(heard: Hands(kind, socket: fprintd.socket, pause: 1_000_000).heard)
      #expect(result.status == 0, "\(result.diagnostics)\(result.text)")
      #expect(!result.text.contains("SKIP") && result.text.contains("1..10\n"), "\(result.text)")
      #expect(try await !fprintd.tool("fprintd-list", fprintd.userName()).diagnostics.contains("left-little"))
    }
  }

  /// Runs the body with a private fprintd, and a configuration that uses it.
  private func withFprintd(
    _ kind: PrivateFprintd.Reader, _ body: (PrivateFprintd, _ configuration: String) async throws -> Void
  ) async throws {
    try await PrivateFprintd.with(kind) { fprintd in
      try await withFolder { folder in
        let configuration = "\(folder)/config.json"
        try writeFile(
          configuration,
          Array(
            #"{"reader": "fprintd", "fprintd": {"bus": "\#(fprintd.bus)", "templates": "\#(fprintd.templates)"}}"#.utf8)
        )
        try await body(fprintd, configuration)
      }
    }
  }

  @Test("whorl-reader-kit test deletes its test print even if nobody reads its report any more")
  func brokenReport() async throws {
    try await withFprintd(.storage) { fprintd, configuration in
      let script = """
        "\(try Programs.path("whorl-reader-kit"))" test --steps enroll,verify,delete --format tap \
          --config "\(configuration)" | head -n 1
        """
      let result = try await Invocation(program: "/bin/sh", arguments: ["-c", script]).run(
        heard: Hands(.storage, socket: fprintd.socket, pause: 1_000_000).heard)
      #expect(result.text == "TAP version 13\n", "\(result.text)")
      #expect(result.diagnostics.contains("cannot write"), "\(result.diagnostics)")
      #expect(try await !fprintd.tool("fprintd-list", fprintd.userName()).diagnostics.contains("left-little"))
    }
  }
}
