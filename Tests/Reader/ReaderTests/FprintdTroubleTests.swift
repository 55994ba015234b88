import Glibc
import Primitives
import ProgramDriver
import ReaderClient
import SDBus
import Testing
import VirtualFinger

@Suite("Trouble with fprintd", .serialized)
struct FprintdTroubleTests {
  private static let device = BusTarget(
    path: "/net/reactivated/Fprint/Device/0", interface: "net.reactivated.Fprint.Device")

  /// A reader of fprintd with one finger enrolled, open.
  private func withFinger(
    _ kind: PrivateFprintd.Reader = .image,
    _ body: (PrivateFprintd, FprintdReaderProcess, EnrolledPrint) async throws -> Void
  ) async throws {
    try await PrivateFprintd.with(kind) { fprintd in
      try await fprintd.withReader { reader in
        try await reader.open()
        let print = enrolled(try await reader.enroll(.rightIndex).template)
        // Only opened, the reader is not claimed.
        try await reader.process.close()
        try await reader.open()
        try await body(fprintd, reader, print)
      }
    }
  }

  @Test("a scan waits while another program has fprintd's reader, which is free until the first scan and once closed")
  func othersFirst() async throws {
    try await withFinger { fprintd, reader, print in
      let other = try BusConnection(busAddress: fprintd.bus, handlers: .init())
      defer { other.close() }
      var device = Self.device
      device.destination = "net.reactivated.Fprint"
      // The reader is open, and no scan is running.
      try await claimAtLast(device, other)
      let log = EventLog()
      async let answer = reader.process.identify([print], nonce: nonce(1), observer: log.observe)
      try await Task.sleep(for: .milliseconds(500))
      #expect(log.events.isEmpty)
      _ = try await other.call(device, "Release")
      try await log.wait(for: .fingerNeeded)
      await #expect(throws: BusError.self) { try await other.call(device, "Claim", [.string("")]) }
      try reader.touch(.rightIndex)
      #expect(try await answer.outcome == .match(print.id))

      // The reader stays claimed until it is closed, for the next touch of the same request.
      await #expect(throws: BusError.self) { try await other.call(device, "Claim", [.string("")]) }
      try await reader.process.close()
      try await claimAtLast(device, other)
      try await reader.open()
      let waiting = Task { await readerError { try await reader.process.identify([print], nonce: nonce(2)) { _ in } } }
      try await Task.sleep(for: .milliseconds(500))
      waiting.cancel()
      #expect(await waiting.value == .cancelled)
      // fprintd releases the claim of a program that has ended.
      other.close()
      #expect(try await reader.identify(.rightIndex, [print], nonce(3)).outcome == .match(print.id))
    }
  }

  @Test("a reader of fprintd that another program keeps is reported as busy in the end")
  func claimedForGood() async throws {
    try await withFinger { fprintd, reader, print in
      let other = try BusConnection(busAddress: fprintd.bus, handlers: .init())
      defer { other.close() }
      var device = Self.device
      device.destination = "net.reactivated.Fprint"
      try await claimAtLast(device, other)
      let error = await readerError { try await reader.process.identify([print], nonce: nonce(1)) { _ in } }
      guard case .busy(let holder) = error else { return #expect(Bool(false), "\(String(describing: error))") }
      #expect(holder?.contains("fprintd") == true)
    }
  }

  /// Claims the device, repeatedly: a scan's answer arrives before its claim is released.
  private func claimAtLast(_ device: BusTarget, _ other: BusConnection) async throws {
    for _ in 1...200 {
      if (try? await other.call(device, "Claim", [.string("")])) != nil { return }
      try await Task.sleep(for: .milliseconds(20))
    }
    Issue.record("the reader was not released")
  }

  private func isReader(_ pid: pid_t) -> Bool { processes(with: "whorl-reader").contains(pid) }

  @Test("a restart of fprintd ends the running scan, and the next opening finds the new fprintd")
  func restarted() async throws {
    try await withFinger { fprintd, reader, print in
      let log = EventLog()
      async let error = readerError {
        try await reader.process.identify([print], nonce: nonce(1), observer: log.observe)
      }
      try await log.wait(for: .fingerNeeded)
      try await fprintd.restart()
      guard case .processDied = await error else { return #expect(Bool(false), "the scan's fprintd is gone") }
      guard
        case .processDied = await readerError({ try await reader.process.identify([print], nonce: nonce(2)) { _ in } })
      else { return #expect(Bool(false), "nothing is claimed from the new one") }
      try await reader.process.close()
      try await reader.open()
      #expect(try await reader.identify(.rightIndex, [print], nonce(3)).outcome == .match(print.id))
    }
  }

  @Test("a missing fprintd is reported as unreachable, not as a missing reader")
  func missing() async throws {
    try await PrivateBus.with { bus in
      let process = ReaderProcess(
        program: try readerProgram(), selection: .fprintd(device: nil),
        fprintd: FprintdPlace(bus: bus.address, templates: "/nonexistent"))
      guard case .fprintdUnreachable = await readerError({ try await process.readers() }) else {
        return #expect(Bool(false), "nobody can start fprintd here")
      }
      await process.shutdown()
    }
  }

  @Test(
    "a reader that is pulled out while fprintd opens it is reported as removed",
    arguments: [
      "USB error on device 06cb:00bd : No such device (it may have been disconnected) [-4]",
      "This device has been removed from the system.",
    ])
  func pulledOut(problem: String) async throws {
    #expect(try await errorOfOpening(refusedWith: problem) == .removed)
  }

  @Test("a finger may be on the sensor during every armed scan if fprintd does not report fingers")
  func untold() async throws {
    try await PrivateBus.with { bus in
      let old = try await FprintdStandIn(on: bus, tellsFingers: false)
      defer { old.close() }
      let process = ReaderProcess(
        program: try readerProgram(), selection: .fprintd(device: nil),
        fprintd: FprintdPlace(bus: bus.address, templates: "/nonexistent"))
      _ = try await process.open(try #require(try await process.readers().first).id)
      let print = enrolled(FprintdPrint(finger: .rightIndex, digest: nil).template)
      let log = EventLog()
      let scan = Task { try await process.identify([print], nonce: nonce(1), observer: log.observe) }
      try await log.wait(for: .fingerNeeded)
      try await log.wait(for: .fingerPossible)
      scan.cancel()
      #expect(await readerError { try await scan.value } == .cancelled)
      #expect(log.events == [.fingerNeeded, .fingerPossible])

      async let answer = process.identify([print], nonce: nonce(2)) { _ in }
      try #require(try await eventually { old.calls(of: "VerifyStart") == 2 })
      old.endScan("verify-match")
      #expect(try await answer.outcome == .match(print.id))
      await process.shutdown()
    }
  }

  @Test("a match that a program other than fprintd announces on the bus is ignored")
  func forged() async throws {
    try await withFinger { fprintd, reader, print in
      let forger = try BusConnection(busAddress: fprintd.bus, handlers: .init())
      defer { forger.close() }
      // The name of the reader process on the bus, for a signal sent to it alone.
      let log = EventLog()
      async let answer = reader.process.identify([print], nonce: nonce(1), observer: log.observe)
      try await log.wait(for: .fingerNeeded)
      let members = try await forger.call(MessageBus.target, "ListNames").first?.asArray ?? []
      for name in members.compactMap(\.asString) where name.hasPrefix(":") {
        var target = Self.device
        target.destination = name
        forger.emit(target, "VerifyFingerSelected", [.string("right-index-finger")])
        forger.emit(target, "VerifyStatus", [.string("verify-match"), .boolean(true)])
      }
      forger.emit(Self.device, "VerifyStatus", [.string("verify-match"), .boolean(true)])
      // This answer shows that the earlier message has arrived.
      _ = try await forger.call(MessageBus.target, "ListNames")
      try reader.touch(.rightRing, person: 2)
      #expect(try await answer.outcome == .noMatch)
    }
  }

  @Test("a change of fprintd's template file during a scan ends the scan, even if it is undone at once")
  func watched() async throws {
    try await withFinger(.storage) { fprintd, reader, print in
      let file = try #require(try fprintd.templateFile())
      let before = try readFile(file)
      let log = EventLog()
      async let error = readerError {
        try await reader.process.identify([print], nonce: nonce(1), observer: log.observe)
      }
      try await log.wait(for: .fingerNeeded)
      try writeFile(file, before + [0])
      try writeFile(file, before)
      #expect(await error == .printsChanged)
      #expect(!log.events.contains(.fingerPresent), "\(log.events)")
      #expect(try await reader.identify(.rightIndex, [print], nonce(2)).outcome == .match(print.id))
    }
  }

  @Test(
    "another user's program that owns fprintd's name is not used", .enabled(if: getuid() == 0, "needs root"))
  func foreignOwner() async throws {
    try await PrivateFprintd.with(.image) { fprintd in
      fprintd.killDaemon()
      try await fprintd.pretend(user: 65_534)
      try await fprintd.withReader { reader in
        guard case .fprintdUnreachable(let why) = await readerError({ try await reader.process.readers() }) else {
          return #expect(Bool(false), "its readers are nobody's")
        }
        #expect(why.contains("another user"), "\(why)")
      }
    }
  }

  @Test("polkit's refusal of a call to fprintd is reported with its reason")
  func refused() async throws {
    try await PrivateFprintd.with(.image) { fprintd in
      try fprintd.allow()
      try await fprintd.withReader { reader in
        try await reader.open()
        guard case .fprintdRefused(let reason) = await readerError({ try await reader.process.prepare() }) else {
          return #expect(Bool(false), "polkit allows nothing")
        }
        #expect(!reason.isEmpty)
        try fprintd.allow("verify")
        guard case .fprintdRefused = await readerError({ try await reader.process.enroll(as: .leftRing) { _ in } })
        else { return #expect(Bool(false), "polkit allows no enrolment") }
      }
    }
  }

  @Test("fprintd's reader is released before the system's sleep, also during a scan")
  func sleep() async throws {
    try await withFinger { fprintd, reader, print in
      let log = EventLog()
      async let error = readerError {
        try await reader.process.identify([print], nonce: nonce(1), observer: log.observe)
      }
      try await log.wait(for: .fingerNeeded)
      try await reader.process.suspend()
      #expect(await error == .suspended)
      // A cancelled scan must not look like one that saw a finger.
      #expect(!log.events.contains(.fingerPresent), "\(log.events)")
      #expect(await readerError { try await reader.process.verify(print, nonce: nonce(2)) { _ in } } == .suspended)
      try await fprintd.withReader { other in
        try await other.open()
        _ = try await other.process.prepare()
        try await other.process.close()
      }
      try await reader.process.resume()
      #expect(try await reader.identify(.rightIndex, [print], nonce(3)).outcome == .match(print.id))
    }
  }

  @Test("an enrolment that is cancelled while fprintd finishes it leaves no finger there")
  func cancelledAtTheEnd() async throws {
    try await PrivateFprintd.with(.image) { fprintd in
      try await fprintd.withReader { reader in
        let stages = try await reader.open().enrollStages
        let log = EventLog()
        let enrolment = Task { try await reader.process.enroll(as: .rightIndex, observer: log.observe) }
        for stage in 1..<stages {
          try await log.wait(for: .fingerNeeded, count: stage)
          try reader.touch(.rightIndex, impression: UInt64(stage))
          try await log.wait(for: .stage(completed: stage, of: stages))
        }
        try await log.wait(for: .fingerNeeded, count: stages)
        // The end of the scan and the cancellation must reach the reader process together.
        let process = try #require(
          processes(with: fprintd.bus).first { parent(of: $0) == getpid() && isReader($0) })
        try stop(process)
        try reader.touch(.rightIndex, impression: UInt64(stages))
        #expect(try await eventually { try fprintd.templateFile() != nil })
        enrolment.cancel()
        try await Task.sleep(for: .milliseconds(50))
        kill(process, SIGCONT)
        #expect(await readerError { try await enrolment.value } == .cancelled)
        #expect(try await eventually { try fprintd.templateFile() == nil })
      }
    }
  }

  @Test("a template of libfprint is not accepted as one of fprintd")
  func foreignTemplate() async throws {
    try await withFinger { _, reader, print in
      for bytes in [Array("FP3".utf8), [], Array("fprintd 1 right-index ".utf8), Array("fprintd 1 toe -".utf8)] {
        let template = Template(bytes: bytes)
        #expect(
          await readerError { try await reader.process.verify(enrolled(template), nonce: nonce(1)) { _ in } }
            == .badTemplate)
        #expect(await readerError { try await reader.process.delete(template) } == .badTemplate)
      }
      let known = try await reader.process.storedPrints(knowing: [print])
      #expect(known.present == [print.id])
    }
  }
}
