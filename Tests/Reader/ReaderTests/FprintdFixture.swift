import Primitives
import ProgramDriver
import ReaderClient
import Testing
import VirtualFinger

extension PrivateFprintd {
  var place: FprintdPlace { FprintdPlace(bus: bus, templates: templates) }

  /// Runs the body with a reader process that uses this fprintd.
  func withReader<Value>(
    _ selection: ReaderSelection = .fprintd(device: nil), _ body: (FprintdReaderProcess) async throws -> Value
  ) async throws -> Value {
    let process = ReaderProcess(
      program: try readerProgram(), selection: selection, showsDiagnostics: true, fprintd: place)
    do {
      let value = try await body(FprintdReaderProcess(fprintd: self, process: process))
      await process.shutdown()
      return value
    } catch {
      await process.shutdown()
      throw error
    }
  }
}

/// A reader process with fprintd behind it, and the fingers for its virtual reader.
struct FprintdReaderProcess {
  let fprintd: PrivateFprintd
  let process: ReaderProcess

  @discardableResult
  func open() async throws -> ReaderDescription {
    try await process.open(try #require(try await process.readers().first).id)
  }

  /// A finger for either virtual reader, of the person with this number.
  func touch(_ finger: Finger, person: UInt64 = 1, impression: UInt64 = 9) throws {
    switch fprintd.reader {
    case .image: try fprintd.image.press(SyntheticFinger(person: Int(person), finger: finger).impression(impression))
    case .storage: try fprintd.storage.scan("\(person)-\(finger.rawValue)")
    }
  }

  func enroll(_ finger: Finger, person: UInt64 = 1) async throws -> (template: Template, events: [ScanEvent]) {
    let log = EventLog()
    let stages = try await process.readers().first?.enrollStages ?? 0
    async let template = process.enroll(as: finger, observer: log.observe)
    for stage in 1...max(stages, 1) {
      // The storage reader needs the finger again and again.
      try await log.wait(for: .fingerNeeded, count: fprintd.reader == .image ? stage : 1)
      try touch(finger, person: person, impression: UInt64(stage))
      try await log.wait(for: .stage(completed: stage, of: stages))
    }
    return (try await template, log.events)
  }

  func scan(
    _ finger: Finger, person: UInt64 = 1, _ operation: (@escaping ScanObserver) async throws -> ScanAnswer
  ) async throws -> ScanAnswer {
    let log = EventLog()
    let touching = Task {
      try await log.wait(for: .fingerNeeded)
      try touch(finger, person: person)
    }
    let answer = try await operation(log.observe)
    try await touching.value
    return answer
  }

  func identify(_ finger: Finger, person: UInt64 = 1, _ prints: [EnrolledPrint], _ nonce: ScanNonce) async throws
    -> ScanAnswer
  {
    try await scan(finger, person: person) { try await process.identify(prints, nonce: nonce, observer: $0) }
  }
}
