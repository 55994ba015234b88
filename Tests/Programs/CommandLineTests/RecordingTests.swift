import Glibc
import ProgramDriver
import Testing
import VirtualFinger

/// The recordings of real readers that are not part of this repository.
private let recordings: String = {
  if let named = getenv("WHORL_RECORDINGS") { return String(cString: named) }
  let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
  return "/\(root)/../shared/recordings"
}()

private func canReplay(_ name: String) -> Bool {
  let can = access("\(recordings)/\(name)/device", R_OK) == 0 && access("/usr/bin/umockdev-run", X_OK) == 0
  if !can {
    print("skipped: no recording in \(recordings)/\(name), or no umockdev-run (WHORL_RECORDINGS names the folder)")
  }
  return can
}

/// Runs `whorl-reader-kit test` on a copy of a recording, since other tests look for processes that replay the original.
///
/// A recording answers with the timing of the original. On a busy machine the driver can fall behind and wait for ever,
/// so a failed run is tried twice more, each time with a time limit.
private func replaying(_ name: String, _ arguments: String...) async throws -> Invocation.Result {
  try await withFolder { folder in
    try copyFolder(name.hasPrefix("/") ? name : "\(recordings)/\(name)", "\(folder)/copy")
    let command = ["40", try Programs.path("whorl-reader-kit"), "test", "--reader", "replay:\(folder)/copy"]
    let timed = Invocation(program: "/usr/bin/timeout", arguments: command + arguments)
    for attempt in 1...2 {
      let result = try await timed.run()
      if result.status == 0 { return result }
      print("the replay of \(name) lost its place (try \(attempt)): \(result.failure)")
    }
    return try await timed.run()
  }
}

/// The recordings with a `reader.json`, each of which is a test: those of this repository, and local ones.
private let contributed: [String] = {
  let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
  return ["\(root)/recordings", recordings].flatMap { folder in
    ((try? folderEntries(folder)) ?? []).sorted().map { "\(folder)/\($0)" }
  }.filter { access("\($0)/reader.json", R_OK) == 0 && access("/usr/bin/umockdev-run", X_OK) == 0 }
}()

@Suite("A recorded reader on the command line", .serialized)
struct RecordingTests {
  @Test("the recording of an ELAN reader replays in its recorded order", .enabled(if: canReplay("elanmoc")))
  func elan() async throws {
    let result = try await replaying("elanmoc", "--steps", "enroll,list,verify,identify,delete")
    #expect(result.status == 0, "\(result.diagnostics)")
    let lines = result.text.split(separator: "\n")
    #expect(lines.first?.hasSuffix("(replayed reader)") == true)
    #expect(lines.dropFirst().map { $0.prefix { $0 != " " } } == ["enroll", "list", "verify", "identify", "delete"])
    #expect(lines.dropFirst().allSatisfy { $0.contains(" ok, ") })
  }

  @Test(
    "the recording of a Synaptics reader replays in its recorded order, with a suspend during verify",
    .enabled(if: canReplay("synaptics")))
  func synaptics() async throws {
    let result = try await replaying(
      "synaptics", "--steps", "clear,enroll,verify,delete", "--suspend-during", "verify", "--json")
    #expect(result.status == 0, "\(result.diagnostics)")
    #expect(result.text.contains(#""passed":true"#))
    #expect(result.text.contains("match, with a suspend inside"))
    #expect(result.text.contains(#""nature":"replayed""#))
  }

  @Test(
    "libfprint's recordings of image readers give their reference picture, pixel for pixel",
    arguments: ["aes2501", "aes3500"].filter(canReplay))
  func picture(_ name: String) async throws {
    try await withFolder { folder in
      let result = try await replaying(name, "--image", "\(folder)/finger.png")
      #expect(result.status == 0, "\(result.diagnostics)")
      #expect(result.text.contains("(replayed reader)\ncapture   ok, "), "\(result.text)")
      #expect(try GrayImage(png: "\(folder)/finger.png") == GrayImage(png: "\(recordings)/\(name)/capture.png"))
    }
  }

  @Test(
    "an image reader is only recorded with the person's consent, and only its owner can read the recording",
    arguments: [("aes2501", "capture.pcapng"), ("aes3500", "capture.ioctl")].filter { canReplay($0.0) })
  func ownFinger(_ name: String, _ traffic: String) async throws {
    try await withFolder { folder in
      let made = "\(folder)/made"
      let from = ["--from", "\(recordings)/\(name)", "--steps", "capture"]
      let refused = try await Invocation(program: "whorl-reader-kit", arguments: ["record", made] + from).run()
      #expect(refused.status == 77 && refused.failure.contains("--include-my-fingerprint"), "\(refused.diagnostics)")
      // Nobody can be asked.
      let unasked = try await Invocation(
        program: "whorl-reader-kit", arguments: ["record", made, "--include-my-fingerprint"] + from
      ).run()
      #expect(unasked.status == 77, "\(unasked.diagnostics)")
      #expect(try folderEntries(folder) == [])
      let arguments = [
        "40", try Programs.path("whorl-reader-kit"), "record", made, "--include-my-fingerprint", "--yes",
      ]
      var result = try await Invocation(program: "/usr/bin/timeout", arguments: arguments + from).run()
      for _ in 1...2 where result.status != 0 {
        removeFolder(made)
        result = try await Invocation(program: "/usr/bin/timeout", arguments: arguments + from).run()
      }
      #expect(result.status == 0, "\(result.diagnostics)\(result.text)")
      #expect(result.diagnostics.contains("YOUR FINGERPRINT"))
      #expect(try folderEntries(made).sorted() == [traffic, "device", "reader.json"])
      for file in ["", "/device", "/reader.json", "/\(traffic)"] {
        var status = stat()
        #expect(lstat(made + file, &status) == 0 && status.st_mode & 0o077 == 0, "\(file)")
      }
      let note = String(decoding: try readFile("\(made)/reader.json"), as: UTF8.self)
      #expect(note.contains(#""holdsFingerprint":true"#) && note.contains(#""steps":["capture"]"#), "\(note)")
      let replayed = try await replaying(made, "--image", "\(folder)/finger.png")
      #expect(replayed.status == 0, "\(replayed.diagnostics)")
      #expect(try GrayImage(png: "\(folder)/finger.png") == GrayImage(png: "\(recordings)/\(name)/capture.png"))
    }
  }

  @Test("every recording of a reader replays the steps in its notes", arguments: contributed)
  func contributedRecording(_ folder: String) async throws {
    let result = try await replaying(folder)
    #expect(result.status == 0, "\(result.diagnostics)\(result.text)")
  }

  @Test(
    "a USB capture made with other tools becomes a recording without the reader's serial number, and replays",
    .enabled(if: canReplay("synaptics")))
  func taken() async throws {
    try await withFolder { folder in
      let made = "\(folder)/made"
      let arguments = [
        "40", try Programs.path("whorl-reader-kit"), "record", made, "--from", "\(recordings)/synaptics", "--steps",
        "clear,enroll,verify,delete", "--suspend-during", "verify",
      ]
      var result = try await Invocation(program: "/usr/bin/timeout", arguments: arguments).run()
      for _ in 1...2 where result.status != 0 {
        removeFolder(made)
        result = try await Invocation(program: "/usr/bin/timeout", arguments: arguments).run()
      }
      #expect(result.status == 0, "\(result.diagnostics)\(result.text)")
      #expect(try folderEntries(made).sorted() == ["capture.pcapng", "device", "reader.json"])
      #expect(access("\(made).partial", F_OK) != 0)
      let device = String(decoding: try readFile("\(made)/device"), as: UTF8.self)
      #expect(!device.contains("c087f7d72126") && device.contains("A: serial=000000000000"))
      let note = String(decoding: try readFile("\(made)/reader.json"), as: UTF8.self)
      #expect(note.contains(#""driver":"synaptics""#) && note.contains(#""holdsFingerprint":false"#))

      // The steps come from `reader.json`.
      let replayed = try await replaying(made, "--format", "tap")
      #expect(replayed.status == 0, "\(replayed.diagnostics)")
      #expect(replayed.text.contains("1..4\n") && replayed.text.contains("match, with a suspend inside"))
      let again = try await Invocation(program: "whorl-reader-kit", arguments: Array(arguments.dropFirst(2))).run()
      #expect(again.status == 73, "\(again.diagnostics)")
    }
  }

  @Test("a missing reader and one without USB are not recorded, and nothing is left behind")
  func notRecorded() async throws {
    try await withFolder { folder in
      let virtual = try await Invocation(
        program: "whorl-reader-kit",
        arguments: ["record", "\(folder)/made", "--reader", "virtual-storage:\(folder)/socket"]
      ).run()
      #expect(virtual.status == 64, "\(virtual.diagnostics)")
      let none = try await Invocation(
        program: "whorl-reader-kit",
        arguments: ["record", "\(folder)/made", "--from", "\(folder)/none", "--steps", "enroll"]
      ).run()
      #expect(none.status == 74, "\(none.diagnostics)")
      #expect(access("\(folder)/made", F_OK) != 0 && access("\(folder)/made.partial", F_OK) != 0)
      for words in [["--from", "x"], ["--yes"], ["--steps", "wrong"], ["--suspend-during", "list"]] {
        #expect(
          try await Invocation(program: "whorl-reader-kit", arguments: ["record", "\(folder)/made"] + words).run()
            .status == 64)
      }
    }
  }
}
