import Fingerprint
import Glibc
import ReaderClient
import Testing
import VirtualFinger

@Suite("Pressing on a virtual reader")
struct VirtualReaderTests {
  private let right = SyntheticFinger(person: 1, finger: .rightIndex)
  private let left = SyntheticFinger(person: 1, finger: .leftMiddle)

  @Test("where no reader listens there is a clear error, once patience ends and not before")
  func absent() {
    let reader = VirtualImageReader(socket: "/tmp/whorl-no-such-reader", patience: .milliseconds(100))
    let start = ContinuousClock.now
    #expect(throws: VirtualReaderError.noReader(socket: "/tmp/whorl-no-such-reader")) {
      try reader.press(right.impression(0))
    }
    #expect(ContinuousClock.now - start >= .milliseconds(100))
    let long = String(repeating: "x", count: 200)
    #expect(throws: VirtualReaderError.pathTooLong(socket: long)) { try VirtualStorageReader(socket: long).unplug() }
  }

  @Test("a press waits for the reader to be opened, also again after it was closed")
  func waits() async throws {
    try await ImageReader.with { reader in
      let touches = reader.touches
      for _ in 0..<2 {
        let waiting = Task.detached { try touches.waitUntilOpen() }
        try await Task.sleep(for: .milliseconds(100))
        try await reader.open()
        try await waiting.value
        try await reader.process.close()
      }
    }
  }

  @Test("presses from several programs at once all arrive")
  func crowded() async throws {
    try await ImageReader.with { reader in
      try await reader.open()
      let print = try await reader.enroll(right, 1)
      let touches = reader.touches
      let retries = try await reader.identify([print]) {
        // Only the first can end this scan; each of the others is dropped, but none is stuck or turned away.
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<8 { group.addTask { try touches.retry(.centerFinger) } }
          try await group.waitForAll()
        }
      }
      #expect(retries == .retry(.centerFinger))
    }
  }

  @Test("a press while nothing scans is dropped, and the next scan is the next press's")
  func unarmed() async throws {
    try await ImageReader.with { reader in
      try await reader.open()
      let print = try await reader.enroll(right, 1)
      try reader.touches.press(right.impression(20))
      try await Task.sleep(for: .milliseconds(100))
      #expect(try await reader.identify([print]) { try reader.touches.press(left.impression(21)) } == .noMatch)
      #expect(try await reader.identify([print]) { try reader.touches.press(right.impression(22)) } == .match(print.id))
    }
  }

  @Test("a finger that stays on the sensor is answered, and has left once it is lifted")
  func held() async throws {
    try await ImageReader.with { reader in
      try await reader.open()
      let print = try await reader.enroll(right, 1)
      let (events, sink) = AsyncStream.makeStream(of: ScanEvent.self)
      var seen = events.makeAsyncIterator()
      let nonce = ScanNonce(bytes: Array(repeating: 7, count: 16))
      async let answer = reader.process.identify([print], nonce: nonce) { sink.yield($0) }
      #expect(await seen.next() == .fingerNeeded)
      let finger = try reader.touches.hold(right.impression(30))
      #expect(try await answer.outcome == .match(print.id))
      #expect(await seen.next() == .fingerPresent)
      try finger.lift()
      #expect(await seen.next() == .fingerLifted)
    }
  }

  @Test("an error of the device ends the scan as that error")
  func deviceError() async throws {
    try await ImageReader.with { reader in
      try await reader.open()
      let print = try await reader.enroll(right, 1)
      await #expect(throws: ReaderError.self) {
        _ = try await reader.identify([print]) { try reader.touches.deviceError(.general) }
      }
    }
  }
}
