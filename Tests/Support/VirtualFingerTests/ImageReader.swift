import Glibc
import Primitives
import Processes
import ReaderClient
import Synchronization
import Testing
import VirtualFinger

/// libfprint's virtual image reader, opened in its own process, and fingers to press on it.
struct ImageReader {
  let process: ReaderProcess
  let touches: VirtualImageReader

  static func with<Value>(_ body: (ImageReader) async throws -> Value) async throws -> Value {
    let program = try #require(HelperPlaces.reader.locate(), "whorl-reader is built with the tests")
    var folder = Array("/tmp/whorl-finger-XXXXXX".utf8CString)
    try #require(mkdtemp(&folder) != nil)
    let path = String(decoding: folder.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let socket = "\(path)/reader"
    let process = ReaderProcess(program: program, selection: .virtualImage(socket: socket))
    defer {
      unlink(socket)
      rmdir(path)
    }
    do {
      let value = try await body(ImageReader(process: process, touches: VirtualImageReader(socket: socket)))
      await process.shutdown()
      return value
    } catch {
      await process.shutdown()
      throw error
    }
  }

  func open() async throws {
    _ = try await process.open(try #require(try await process.readers().first).id)
  }

  /// Enrols a finger with impressions 0 to 4.
  func enroll(_ finger: SyntheticFinger, _ number: UInt8) async throws -> EnrolledPrint {
    let (events, sink) = AsyncStream.makeStream(of: ScanEvent.self)
    let scan = Task {
      defer { sink.finish() }
      return try await process.enroll { sink.yield($0) }
    }
    var stages = 0
    for await event in events {
      if case .stage(let completed, _) = event { stages = completed }
      if event == .fingerNeeded { try touches.press(finger.impression(UInt64(stages))) }
    }
    return EnrolledPrint(id: EnrolmentID(bytes: Array(repeating: number, count: 16)), template: try await scan.value)
  }

  /// Presses when the reader asks for a finger, and returns when the finger has been lifted.
  func identify(
    _ prints: [EnrolledPrint], pressing: @Sendable () async throws -> Void
  ) async throws -> ScanOutcome {
    let (events, sink) = AsyncStream.makeStream(of: ScanEvent.self)
    let nonce = ScanNonce(bytes: (0..<16).map { _ in .random(in: .min ... .max) })
    let scan = Task {
      defer { sink.finish() }
      return try await process.identify(prints, nonce: nonce) { sink.yield($0) }.outcome
    }
    for await event in events where event == .fingerNeeded { break }
    try await pressing()
    return try await scan.value
  }
}
