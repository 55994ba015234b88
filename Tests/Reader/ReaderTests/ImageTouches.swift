import Primitives
import ReaderClient
import Testing
import VirtualFinger

/// A finger of the virtual image reader is a picture.
extension VirtualReader {
  func enroll(_ finger: SyntheticFinger) async throws -> (template: Template, events: [ScanEvent]) {
    let log = EventLog()
    async let template = process.enroll(observer: log.observe)
    for stage in 1...5 {
      try await log.wait(for: .fingerNeeded, count: stage)
      try image.press(finger.impression(UInt64(stage)))
      try await log.wait(for: .stage(completed: stage, of: 5))
    }
    return (try await template, log.events)
  }

  func identify(
    _ finger: SyntheticFinger, _ prints: [EnrolledPrint], _ nonce: ScanNonce
  ) async throws -> ScanAnswer {
    let log = EventLog()
    async let answer = process.identify(prints, nonce: nonce, observer: log.observe)
    try await log.wait(for: .fingerNeeded)
    try image.press(finger.impression(9))
    let result = try await answer
    try await log.wait(for: .fingerLifted)
    return result
  }
}
