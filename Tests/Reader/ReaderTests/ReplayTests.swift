import Foundation
import Glibc
import Primitives
import ProgramDriver
import ReaderClient
import Testing
import VirtualFinger

/// The recordings of real readers, which are not part of this repository.
private let recordings =
  ProcessInfo.processInfo.environment["WHORL_RECORDINGS"]
  ?? URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../../shared/recordings").standardized
  .path

private func canReplay(_ name: String) -> Bool {
  let isThere = FileManager.default.fileExists(atPath: "\(recordings)/\(name)/device")
  if !isThere { print("skipped: no recording in \(recordings)/\(name) (WHORL_RECORDINGS names the folder)") }
  let hasReplayer = FileManager.default.isExecutableFile(atPath: "/usr/bin/umockdev-run")
  if !hasReplayer { print("skipped: recordings are replayed by umockdev-run, which is not installed") }
  return isThere && hasReplayer
}

@Suite("A recorded reader, replayed through its process", .serialized)
struct ReplayTests {
  @Test(
    "the ELAN reader enrols, lists, verifies, identifies and deletes as recorded",
    .enabled(if: canReplay("elanmoc")))
  func elan() async throws {
    try await withReplay("elanmoc") { reader in
      let description = try await open(reader)
      #expect(description.identity.driver == "elanmoc")
      #expect(description.identity.vendor == 0x04F3)
      #expect(description.identity.product == 0x0C88)
      let log = EventLog()
      let print = enrolled(try await reader.enroll(observer: log.observe))
      #expect(log.events.contains(.stage(completed: description.enrollStages, of: description.enrollStages)))
      #expect(try await reader.storedPrints(knowing: [print]) == ChipList(present: [print.id], unknown: []))
      #expect(try await reader.verify(print, nonce: nonce(1)) { _ in }.outcome == .match(print.id))
      #expect(try await reader.identify([print], nonce: nonce(2)) { _ in }.outcome == .match(print.id))
      try await reader.delete(print.template)
      try await reader.close()
    }
  }

  @Test(
    "the Synaptics reader clears, enrols, verifies across a suspend and deletes as recorded",
    .enabled(if: canReplay("synaptics")))
  func synaptics() async throws {
    try await withReplay("synaptics") { reader in
      let description = try await open(reader)
      #expect(description.identity.driver == "synaptics")
      #expect(description.identity.serial == "c087f7d72126")
      try await reader.clearStorage()
      let print = enrolled(try await reader.enroll { _ in })
      // The driver cannot suspend a scan that it has not begun, and the recorded finger comes at once. The process has begun
      // the scan when it answers another call.
      let scan = Task.immediate { try await reader.verify(print, nonce: nonce(1)) { _ in } }
      _ = try await reader.readers()
      try await reader.suspend()
      try await reader.resume()
      #expect(try await scan.value.outcome == .match(print.id))
      try await reader.delete(print.template)
      try await reader.close()
    }
  }

  @Test(
    "the AES2501 recording (USB packets) gives libfprint's reference picture, pixel for pixel",
    .enabled(if: canReplay("aes2501")))
  func aes2501() async throws { try await capture("aes2501", minutiae: 2, .poor) }

  @Test(
    "the AES3500 recording (ioctls) gives libfprint's reference picture, pixel for pixel",
    .enabled(if: canReplay("aes3500")))
  func aes3500() async throws { try await capture("aes3500", minutiae: 14, .fair) }

  private func capture(_ name: String, minutiae: Int, _ quality: PictureQuality) async throws {
    try await withReplay(name) { reader in
      #expect(try await open(reader).identity.driver == name)
      guard case .picture(let picture) = try await reader.capture(includingImage: true, observer: { _ in }) else {
        return #expect(Bool(false), "the recorded finger was read")
      }
      let expected = try GrayImage(png: "\(recordings)/\(name)/capture.png")
      #expect(try GrayImage(picture.file) == expected)
      #expect(picture.width == expected.width && picture.height == expected.height)
      #expect(picture.minutiae == minutiae && picture.quality == quality)
      try await reader.close()
    }
  }

  /// A recording is a fixed conversation, so a driver may get no answer to what it sends after a cancellation. What counts
  /// is that the reader is not left open.
  @Test(
    "a real reader whose opening or first action is cancelled is closed",
    arguments: ["elanmoc", "synaptics", "aes2501", "aes3500"].filter(canReplay), [true, false])
  func cancelled(name: String, inOpening: Bool) async throws {
    for delay in (inOpening ? [0, 1, 2, 4] : [0, 4]).map({ Duration.milliseconds($0) }) {
      try await withReplay(name) { reader in
        let id = try #require(try await reader.readers().first).id
        if !inOpening { _ = try await reader.open(id) }
        let step = Task {
          if inOpening {
            _ = try await reader.open(id)
          } else if name.hasPrefix("aes") {
            _ = try await reader.capture(includingImage: false) { _ in }
          } else {
            _ = try await reader.enroll { _ in }
          }
        }
        try await Task.sleep(for: delay)
        step.cancel()
        guard let error = await readerError({ try await step.value }) else { return }
        #expect(error == .cancelled, "cancelled after \(delay)")
        if !inOpening { try? await reader.close() }
        switch await readerError({ try await reader.open(id) }) {
        case .device(let text)?: #expect(!text.contains("open"), "cancelled after \(delay)")
        case .busy?: Issue.record("busy, cancelled after \(delay)")
        default: break
        }
      }
    }
  }

  @Test("a reader process whose traffic is logged answers like any other")
  func traced() async throws {
    try await withFolder { folder in
      // The test needs no reader: any device node will do.
      let reader = ReaderProcess(
        program: try readerProgram(), selection: .libfprint(device: nil),
        trace: ReaderTrace(node: "/dev/null", log: "\(folder)/log"))
      #expect(try await reader.readers().allSatisfy { $0.nature == .physical })
      await reader.shutdown()
    }
  }

  @Test("a missing recording is reported")
  func noRecording() async throws {
    let reader = ReaderProcess(program: try readerProgram(), selection: .replay(directory: "/nonexistent"))
    guard case .cannotStart = await readerError({ try await reader.readers() }) else {
      return #expect(Bool(false), "there is no recording in /nonexistent")
    }
  }
}

private func open(_ reader: ReaderProcess) async throws -> ReaderDescription {
  let readers = try await reader.readers()
  let only = try #require(readers.first)
  #expect(readers.count == 1)
  #expect(only.nature == .replayed)
  return try await reader.open(only.id)
}

private func withReplay(_ name: String, _ body: (ReaderProcess) async throws -> Void) async throws {
  // A recording answers with the timing of the original. On a busy machine the driver can fall behind and wait for ever,
  // so a replay has three attempts, each with a time limit.
  for attempt in 1...3 {
    // A copy: other tests of this runner replay the original.
    let copy = try temporaryFolder("whorl-replay")
    defer { removeFolder(copy) }
    let directory = "\(copy)/\(name)"
    try copyFolder("\(recordings)/\(name)", directory)
    let reader = ReaderProcess(program: try readerProgram(), selection: .replay(directory: directory))
    let end = Task {
      try await Task.sleep(for: .seconds(40))
      await reader.shutdown()
    }
    defer { end.cancel() }
    do {
      try await body(reader)
      await reader.shutdown()
    } catch let error as ReaderError where attempt < 3 {
      print("the replay of \(name) lost its place (try \(attempt)): \(error)")
      await reader.shutdown()
      continue
    } catch {
      await reader.shutdown()
      throw error
    }
    #expect(processes(with: directory).filter { parent(of: $0) == getpid() }.isEmpty)
    return
  }
}
