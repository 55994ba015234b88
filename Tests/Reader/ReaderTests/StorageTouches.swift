import Primitives
import ReaderClient
import Testing
import VirtualFinger

/// A finger of the virtual storage reader is a word.
extension VirtualReader {
  func enroll(_ finger: String) async throws -> (template: Template, events: [ScanEvent]) {
    let log = EventLog()
    async let template = process.enroll(observer: log.observe)
    try await log.wait(for: .fingerNeeded)
    let stages = 5
    for stage in 1...stages {
      try storage.scan(finger)
      try await log.wait(for: .stage(completed: stage, of: stages))
    }
    return (try await template, log.events)
  }

  func scan(
    _ finger: String, _ operation: (@escaping ScanObserver) async throws -> ScanAnswer
  ) async throws -> ScanAnswer {
    let log = EventLog()
    let touch = Task {
      try await log.wait(for: .fingerNeeded)
      try storage.scan(finger)
    }
    let answer = try await operation(log.observe)
    try await touch.value
    return answer
  }

  func identify(_ finger: String, _ prints: [EnrolledPrint], _ nonce: ScanNonce) async throws -> ScanAnswer {
    try await scan(finger) { try await process.identify(prints, nonce: nonce, observer: $0) }
  }

  /// Clears the chip. The virtual reader does so only if it is told to continue within half a second.
  func clearStorage() async throws {
    async let cleared: Void = process.clearStorage()
    try await Task.sleep(for: .milliseconds(100))
    try storage.proceed()
    try await cleared
  }
}
