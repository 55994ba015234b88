import Glibc
import Primitives
import ReaderClient
import Testing
import VirtualFinger

@Suite("Pressing on a virtual reader", .serialized)
struct VirtualReaderTests {
  private let right = SyntheticFinger(person: 1, finger: .rightIndex)
  private let left = SyntheticFinger(person: 1, finger: .leftMiddle)

  @Test("a press on a virtual reader that does not listen fails after its timeout, and not before")
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

  @Test("a press on a virtual reader waits until the reader is open and a scan is armed, and goes to that scan")
  func waits() async throws {
    try await ImageReader.with { reader in
      try await reader.open()
      let print = try await reader.enroll(right, 1)
      try await reader.process.close()
      // If the reader took longer to open than the press waits, the scan would wait for ever.
      let touches = VirtualImageReader(socket: reader.touches.socket, patience: .seconds(60))
      let early = Task { [right] in
        try await onOwnThread { () throws(VirtualReaderError) in try touches.press(right.impression(20)) }
      }
      try await Task.sleep(for: .milliseconds(100))
      try await reader.open()
      try await Task.sleep(for: .milliseconds(100))
      #expect(try await reader.identify([print]) {} == .match(print.id))
      try await early.value
    }
  }

  @Test("a press on a virtual reader without a scan is an error, and is not kept for a later scan")
  func withdrawn() async throws {
    try await ImageReader.with { reader in
      try await reader.open()
      let print = try await reader.enroll(right, 1)
      let hasty = VirtualImageReader(socket: reader.touches.socket, patience: .milliseconds(100))
      #expect(throws: VirtualReaderError.notTaken(socket: hasty.socket)) { try hasty.press(right.impression(20)) }
      #expect(try await reader.identify([print]) { try reader.touches.press(left.impression(21)) } == .noMatch)
    }
  }

  @Test("a finger held on a virtual reader is reported, and the scan ends when the finger is lifted")
  func held() async throws {
    try await ImageReader.with { reader in
      try await reader.open()
      let print = try await reader.enroll(right, 1)
      let (events, sink) = AsyncStream.makeStream(of: ScanEvent.self)
      let nonce = ScanNonce(bytes: Array(repeating: 7, count: 16))
      let scan = Task {
        defer { sink.finish() }
        return try await reader.process.identify([print], nonce: nonce) { sink.yield($0) }
      }
      let finger = try reader.touches.hold(right.impression(30))
      for await event in events where event == .fingerPresent { break }
      // Far longer than a match takes. libfprint finishes a scan of an image reader only when the finger is lifted.
      let early = Task {
        try await Task.sleep(for: .milliseconds(500))
        sink.yield(.fingerNeeded)
      }
      for await event in events {
        #expect(event == .fingerNeeded, "nothing else comes while the finger is there")
        break
      }
      try await early.value
      try finger.lift()
      #expect(try await scan.value.outcome == .match(print.id))
    }
  }

  @Test("a device error of a virtual reader ends the scan with that error")
  func deviceError() async throws {
    try await ImageReader.with { reader in
      try await reader.open()
      let print = try await reader.enroll(right, 1)
      await #expect(throws: ReaderError.tooHot) {
        _ = try await reader.identify([print]) { try reader.touches.deviceError(.tooHot) }
      }
    }
  }
}
