import Primitives
import ProgramDriver
import ReaderClient
import Testing
import VirtualFinger

/// The same contract as for libfprint's readers, without the information that fprintd does not report: the finger that
/// matched, and the list of prints on the chip.
@Suite("A reader of fprintd, through its process", .serialized)
struct FprintdTests {
  private static let readers: [PrivateFprintd.Reader] = [.image, .storage]

  @Test("a reader of fprintd is listed under fprintd's name for it, and never as libfprint's", arguments: readers)
  func listing(_ kind: PrivateFprintd.Reader) async throws {
    try await PrivateFprintd.with(kind) { fprintd in
      try await fprintd.withReader { reader in
        let readers = try await reader.process.readers()
        let description = try #require(readers.first)
        #expect(readers.count == 1)
        #expect(description.identity.adapter == .fprintd)
        #expect(description.id == "fprintd:\(description.name)")
        #expect(description.nature == .virtual)
        _ = try await reader.process.open(description.id)
        #expect(try await reader.process.prepare().enrollStages >= 5)
        try await reader.process.close()
        try await reader.process.close()
      }
    }
  }

  @Test("a reader of fprintd is opened by its id, even if fprintd lists another reader first")
  func chosen() async throws {
    try await PrivateBus.with { bus in
      let fprintd = try await FprintdStandIn(
        on: bus, tellsFingers: true, [.init(name: "first"), .init(name: "second")])
      defer { fprintd.close() }
      let process = ReaderProcess(
        program: try readerProgram(), selection: .fprintd(device: nil),
        fprintd: FprintdPlace(bus: bus.address, templates: "/nonexistent"))
      #expect(try await process.readers().map(\.id) == ["fprintd:first", "fprintd:second"])
      #expect(await readerError { try await process.open("fprintd:third") } == .absent)
      let print = enrolled(FprintdPrint(finger: .rightIndex, digest: nil).template)
      for (number, name) in [(1, "second"), (0, "first")] {
        #expect(try await process.open("fprintd:\(name)").name == name)
        async let answer = process.verify(print, nonce: nonce(1)) { _ in }
        try #require(try await eventually { fprintd.calls(of: "VerifyStart", reader: number) == 1 })
        fprintd.endScan("verify-match", reader: number)
        #expect(try await answer.outcome == .match(print.id))
        try await process.close()
        // The first reader was not touched while the second one was open.
        if number == 1 { #expect(fprintd.calls(of: "Claim", reader: 0) == 0) }
      }
      #expect(fprintd.calls(of: "VerifyStart", reader: 1) == 1)
      await process.shutdown()
    }
  }

  @Test("a reader of fprintd enrols in stages, lists, identifies, verifies and deletes", arguments: readers)
  func wholeStory(_ kind: PrivateFprintd.Reader) async throws {
    try await PrivateFprintd.with(kind) { fprintd in
      try await fprintd.withReader { reader in
        let description = try await reader.open()
        let right = try await reader.enroll(.rightIndex)
        #expect(
          right.events.filter { if case .stage = $0 { true } else { false } }.count == description.enrollStages)
        let left = try await reader.enroll(.leftThumb)
        let prints = [enrolled(right.template, 1), enrolled(left.template, 2)]
        #expect(FprintdPrint(right.template)?.finger == .rightIndex)
        #expect(FprintdPrint(right.template)?.digest?.count == 32)

        let chip = try await reader.process.storedPrints(knowing: prints)
        #expect(chip == ChipList(present: Set(prints.map(\.id)), unknown: []))
        #expect(Set(try await reader.process.storedPrints(knowing: []).unknown) == Set(prints.map(\.template)))

        let before = ScanClock.now()
        let match = try await reader.identify(.leftThumb, prints, nonce(1))
        guard case .match = match.outcome else { return #expect(Bool(false), "an enrolled finger matches") }
        #expect(match.nonce == nonce(1))
        #expect((before...ScanClock.now()).contains(match.finishedAt))
        #expect(try await reader.identify(.rightRing, person: 2, prints, nonce(2)).outcome == .noMatch)

        let one = try await reader.scan(.rightIndex) {
          try await reader.process.verify(prints[0], nonce: nonce(3), observer: $0)
        }
        #expect(one.outcome == .match(prints[0].id))
        let other = try await reader.scan(.rightIndex) {
          try await reader.process.verify(prints[1], nonce: nonce(4), observer: $0)
        }
        #expect(other.outcome == .noMatch)

        try await reader.process.delete(right.template)
        #expect(
          try await reader.process.storedPrints(knowing: prints) == ChipList(present: [prints[1].id], unknown: []))
        #expect(await readerError { try await reader.process.delete(right.template) } == .notOnChip)
        #expect(
          await readerError { try await reader.process.verify(prints[0], nonce: nonce(5)) { _ in } } == .notOnChip)
      }
    }
  }

  @Test("an unreadable touch on a reader of fprintd is a retry with its reason", arguments: readers)
  func retries(_ kind: PrivateFprintd.Reader) async throws {
    try await PrivateFprintd.with(kind) { fprintd in
      try await fprintd.withReader { reader in
        try await reader.open()
        let print = enrolled(try await reader.enroll(.rightIndex).template)
        for reason in [RetryReason.general, .tooShort, .centerFinger, .removeFinger] {
          let log = EventLog()
          async let answer = reader.process.identify([print], nonce: nonce(4), observer: log.observe)
          try await log.wait(for: .fingerNeeded)
          switch kind {
          case .image: try fprintd.image.retry(reason)
          case .storage: try fprintd.storage.retry(reason)
          }
          #expect(try await answer.outcome == .retry(reason))
          #expect(log.events.contains(.retry(reason)))
        }
        #expect(try await reader.identify(.rightIndex, [print], nonce(6)).outcome == .match(print.id))
      }
    }
  }

  @Test("a device error of fprintd's reader is an error, not a missing match", arguments: readers)
  func deviceError(_ kind: PrivateFprintd.Reader) async throws {
    try await PrivateFprintd.with(kind) { fprintd in
      try await fprintd.withReader { reader in
        try await reader.open()
        let print = enrolled(try await reader.enroll(.rightIndex).template)
        let log = EventLog()
        async let error = readerError {
          try await reader.process.identify([print], nonce: nonce(5), observer: log.observe)
        }
        try await log.wait(for: .fingerNeeded)
        switch kind {
        case .image: try fprintd.image.deviceError(.general)
        case .storage: try fprintd.storage.error(.general)
        }
        guard case .device = await error else { return #expect(Bool(false), "an error 0 is a device error") }
        #expect(try await reader.identify(.rightIndex, [print], nonce(6)).outcome == .match(print.id))
      }
    }
  }

  @Test("a reader of fprintd that is unplugged in the middle of a scan ends it as removed")
  func unplugged() async throws {
    try await PrivateFprintd.with(.storage) { fprintd in
      try await fprintd.withReader { reader in
        try await reader.open()
        let print = enrolled(try await reader.enroll(.rightIndex).template)
        let log = EventLog()
        async let error = readerError {
          try await reader.process.identify([print], nonce: nonce(7), observer: log.observe)
        }
        try await log.wait(for: .fingerNeeded)
        try fprintd.storage.unplug()
        let ended = await error
        #expect(ended == .removed)
        try? await reader.process.close()
        #expect(try await reader.process.readers().isEmpty)
      }
    }
  }

  @Test("a cancelled scan of fprintd's reader ends, and the reader can be used at once", arguments: readers)
  func cancelled(_ kind: PrivateFprintd.Reader) async throws {
    try await PrivateFprintd.with(kind) { fprintd in
      try await fprintd.withReader { reader in
        try await reader.open()
        let print = enrolled(try await reader.enroll(.rightIndex).template)
        let log = EventLog()
        let scan = Task { try await reader.process.identify([print], nonce: nonce(8), observer: log.observe) }
        try await log.wait(for: .fingerNeeded)
        scan.cancel()
        #expect(await readerError { try await scan.value } == .cancelled)
        #expect(try await reader.identify(.rightIndex, [print], nonce(9)).outcome == .match(print.id))
      }
    }
  }

  @Test("a reader of fprintd identifies among all of its fingers or a single finger, and not among some")
  func foreignFinger() async throws {
    try await PrivateFprintd.with(.storage) { fprintd in
      try await fprintd.withReader { reader in
        try await reader.open()
        let right = enrolled(try await reader.enroll(.rightIndex).template, 1)
        let left = enrolled(try await reader.enroll(.leftThumb).template, 2)
        _ = try await reader.enroll(.rightThumb)
        let error = await readerError {
          try await reader.process.identify([right, left], nonce: nonce(1)) { _ in }
        }
        guard case .device = error else { return #expect(Bool(false), "it would take the thumb for another") }
        // A single finger can be requested by its name.
        let log = EventLog()
        async let answer = reader.process.identify([right], nonce: nonce(2), observer: log.observe)
        try await log.wait(for: .fingerNeeded)
        try reader.touch(.rightThumb)
        #expect(try await answer.outcome == .noMatch)
      }
    }
  }

  @Test("a finger enrolled again under the same name by fprintd's own tool is another print")
  func replaced() async throws {
    try await PrivateFprintd.with(.image) { fprintd in
      try await fprintd.withReader { reader in
        try await fprintd.enroll("right-index-finger", pressing: SyntheticFinger(person: 1, finger: .rightIndex))
        try await reader.open()
        let template = try #require(try await reader.process.storedPrints(knowing: []).unknown.first)
        let print = enrolled(template)
        #expect(try await reader.identify(.rightIndex, [print], nonce(1)).outcome == .match(print.id))
        try await reader.process.close()

        try await fprintd.enroll("right-index-finger", pressing: SyntheticFinger(person: 2, finger: .rightIndex))
        try await reader.open()
        let now = try await reader.process.storedPrints(knowing: [print])
        #expect(now.present.isEmpty)
        #expect(now.unknown.count == 1 && now.unknown.first != template)
        #expect(
          await readerError { try await reader.process.identify([print], nonce: nonce(2)) { _ in } } == .notOnChip)
        #expect(await readerError { try await reader.process.delete(template) } == .notOnChip)
      }
    }
  }

  @Test("an enrolment of a finger that fprintd has is refused, and changes nothing")
  func occupied() async throws {
    try await PrivateFprintd.with(.storage) { fprintd in
      try await fprintd.withReader { reader in
        try await reader.open()
        let template = try await reader.enroll(.rightIndex).template
        #expect(await readerError { try await reader.process.enroll(as: .rightIndex) { _ in } } == .duplicate)
        #expect(await readerError { try await reader.process.enroll(as: nil) { _ in } } == .notSupported)
        #expect(try await reader.process.storedPrints(knowing: []).unknown == [template])
      }
    }
  }
}
