import Glibc
import Primitives
import ReaderBus
import ReaderClient
import SDBus
import Testing
import VirtualFinger

@Suite("The virtual match-on-chip reader, through its process", .serialized)
struct StorageReaderTests {
  @Test("the virtual match-on-chip reader is listed as a virtual reader, with what it can do")
  func listing() async throws {
    try await VirtualReader.with(.storage) { reader in
      let readers = try await reader.process.readers()
      let description = try #require(readers.first)
      #expect(readers.count == 1)
      #expect(description.nature == .virtual)
      #expect(description.identity.driver == "virtual_device_storage")
      #expect(description.features.isSuperset(of: [.identify, .verify, .storage, .storageList, .storageDelete]))
      #expect(try await reader.process.open(description.id).id == description.id)
      try await reader.process.close()
      try await reader.process.close()
    }
  }

  @Test("the virtual match-on-chip reader enrols in stages, lists, identifies, verifies and deletes")
  func wholeStory() async throws {
    try await VirtualReader.with(.storage) { reader in
      let description = try await reader.open()
      let template = try await reader.enroll("right-index")
      #expect(template.events.filter { if case .stage = $0 { true } else { false } }.count == description.enrollStages)
      let print = enrolled(template.template)

      #expect(try await reader.process.storedPrints(knowing: [print]) == ChipList(present: [print.id], unknown: []))
      #expect(try await reader.process.storedPrints(knowing: []).unknown.count == 1)

      let before = ScanClock.now()
      let match = try await reader.identify("right-index", [print], nonce(1))
      #expect(match.outcome == .match(print.id))
      #expect(match.nonce == nonce(1))
      #expect((before...ScanClock.now()).contains(match.finishedAt))
      #expect(try await reader.identify("left-thumb", [print], nonce(2)).outcome == .noMatch)
      let verified = try await reader.scan("right-index") {
        try await reader.process.verify(print, nonce: nonce(3), observer: $0)
      }
      #expect(verified.outcome == .match(print.id))

      try await reader.process.delete(template.template)
      #expect(try await reader.process.storedPrints(knowing: [print]) == ChipList(present: [], unknown: []))
      #expect(await readerError { try await reader.process.delete(template.template) } == .notOnChip)
    }
  }

  @Test("an enrolment that is cancelled while its answer is sent leaves no finger on the chip")
  func cancelledTooLate() async throws {
    try await VirtualReader.with(.storage) { reader in
      try await reader.open()
      let object = ReaderObject(serving: reader.process)
      var pair: [Int32] = [-1, -1]
      try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0)
      let served = try BusConnection(socket: pair[0], role: .server, handlers: .init(call: { object.handle($0) }))
      let peer = try BusConnection(socket: pair[1], role: .client, handlers: .init())
      defer {
        peer.close()
        served.close()
      }
      func ask(_ request: ReaderRequest, _ number: UInt64) async throws {
        _ = try await peer.call(
          ReaderInterface.target, request.method.rawValue, request.arguments(call: number), within: .seconds(20))
      }
      async let enrolled: Void = ask(.enroll(nil), 7)
      for _ in 1...5 {
        try await Task.sleep(for: .milliseconds(200))
        try reader.storage.scan("right-index")
      }
      try await enrolled
      #expect(try await reader.process.storedPrints(knowing: []).unknown.count == 1)
      try await ask(.cancel, 6)
      #expect(try await reader.process.storedPrints(knowing: []).unknown.count == 1, "another call's number")
      try await ask(.cancel, 7)
      #expect(try await reader.process.storedPrints(knowing: []).unknown.isEmpty)
    }
  }

  @Test("the virtual match-on-chip reader deletes every print on its chip")
  func clearing() async throws {
    try await VirtualReader.with(.storage) { reader in
      try await reader.open()
      for finger in ["a", "b"] { _ = try await reader.enroll(finger) }
      #expect(try await reader.process.storedPrints(knowing: []).unknown.count == 2)
      try await reader.clearStorage()
      #expect(try await reader.process.storedPrints(knowing: []).unknown.isEmpty)
    }
  }

  @Test("the virtual match-on-chip reader answers an unreadable touch with a retry and its reason")
  func retries() async throws {
    try await VirtualReader.with(.storage) { reader in
      try await reader.open()
      let print = enrolled(try await reader.enroll("a").template)
      for reason in [RetryReason.general, .tooShort, .centerFinger, .removeFinger] {
        let log = EventLog()
        async let answer = reader.process.identify([print], nonce: nonce(4), observer: log.observe)
        try await log.wait(for: .fingerNeeded)
        try reader.storage.retry(reason)
        #expect(try await answer.outcome == .retry(reason))
        #expect(log.events.contains(.retry(reason)))
      }
    }
  }

  @Test("a retry within an enrolment is reported, and the enrolment continues")
  func enrolmentRetry() async throws {
    try await VirtualReader.with(.storage) { reader in
      let stages = try await reader.open().enrollStages
      let log = EventLog()
      async let template = reader.process.enroll(observer: log.observe)
      try await log.wait(for: .fingerNeeded)
      try reader.storage.retry(.tooShort)
      try await log.wait(for: .retry(.tooShort))
      for stage in 1...stages {
        try reader.storage.scan("a")
        try await log.wait(for: .stage(completed: stage, of: stages))
      }
      #expect(try await !template.bytes.isEmpty)
    }
  }

  @Test("a device error of a match-on-chip reader is an error, not a missing match")
  func deviceError() async throws {
    try await VirtualReader.with(.storage) { reader in
      try await reader.open()
      let print = enrolled(try await reader.enroll("a").template)
      let log = EventLog()
      async let error = readerError {
        try await reader.process.identify([print], nonce: nonce(5), observer: log.observe)
      }
      try await log.wait(for: .fingerNeeded)
      try reader.storage.error(.general)
      guard case .device = await error else { return #expect(Bool(false), "an error 0 is a device error") }
      // The reader still works.
      #expect(try await reader.identify("a", [print], nonce(6)).outcome == .match(print.id))
    }
  }

  @Test("a match-on-chip reader that is unplugged in the middle of a scan ends it as removed")
  func unplugged() async throws {
    try await VirtualReader.with(.storage) { reader in
      try await reader.open()
      let print = enrolled(try await reader.enroll("a").template)
      let log = EventLog()
      async let error = readerError {
        try await reader.process.identify([print], nonce: nonce(7), observer: log.observe)
      }
      try await log.wait(for: .fingerNeeded)
      try reader.storage.unplug()
      #expect(await error == .removed)
      try? await reader.process.close()
      #expect(try await reader.process.readers().isEmpty)
    }
  }

  @Test("a reader that came back as another device after a sleep is opened again by the next action")
  func ghost() async throws {
    try await VirtualReader.with(.storage) { reader in
      try await reader.open()
      let print = enrolled(try await reader.enroll("a").template)
      try await reader.process.suspend()
      try await reader.process.resume()
      // The old device disappears at the next use.
      let log = EventLog()
      async let error = readerError {
        try await reader.process.identify([print], nonce: nonce(7), observer: log.observe)
      }
      try await log.wait(for: .fingerNeeded)
      try reader.storage.unplug()
      #expect(await error == .removed)
      // The new device has an empty chip.
      let next = enrolled(try await reader.enroll("a").template)
      #expect(try await reader.identify("a", [next], nonce(8)).outcome == .match(next.id))
    }
  }

  @Test("a scan that is stopped for a sleep ends as suspended, even if the sleep is over by then")
  func shortSleep() async throws {
    try await VirtualReader.with(.storage) { reader in
      try await reader.open()
      let print = enrolled(try await reader.enroll("a").template)
      for _ in 1...30 {
        let log = EventLog()
        async let error = readerError {
          try await reader.process.identify([print], nonce: nonce(7), observer: log.observe)
        }
        try await log.wait(for: .fingerNeeded)
        try await reader.process.suspend()
        try await reader.process.resume()
        #expect(await error == .suspended)
      }
    }
  }

  @Test("a second action on a busy reader is refused, and the first continues")
  func busy() async throws {
    try await VirtualReader.with(.storage) { reader in
      try await reader.open()
      let print = enrolled(try await reader.enroll("a").template)
      let log = EventLog()
      async let first = reader.process.identify([print], nonce: nonce(8), observer: log.observe)
      try await log.wait(for: .fingerNeeded)
      let second = await readerError {
        try await reader.process.identify([print], nonce: nonce(9)) { _ in }
      }
      #expect(second == .busy(holder: nil))
      try reader.storage.scan("a")
      #expect(try await first.outcome == .match(print.id))
    }
  }
}
