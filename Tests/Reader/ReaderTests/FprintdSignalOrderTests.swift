import Primitives
import ProgramDriver
import ReaderClient
import Testing

/// A signal that fprintd sends during a verification.
private enum FprintdSignal: Hashable, Sendable {
  case changed(needed: Bool?, present: Bool?)
  case status
}

/// A sequence of fprintd's signals, and how many of them come before the verification is stopped.
private struct SignalOrder: Hashable, Sendable, CustomTestStringConvertible {
  var signals: [FprintdSignal]
  var beforeStop: Int

  var testDescription: String {
    let words = signals.map { signal in
      switch signal {
      case .status: "status"
      case .changed(let needed, let present):
        [needed.map { "needed \($0)" }, present.map { "present \($0)" }].compactMap(\.self).joined(separator: " and ")
      }
    }
    return (words[..<beforeStop] + ["(stop)"] + words[beforeStop...]).joined(separator: ", ")
  }

  /// Every order that fprintd 1.94 can send for one touch.
  ///
  /// A driver of libfprint changes its finger status (needed, present) in one of these ways, and libfprint clears it
  /// when the action is complete. The result is signalled at once. Changes of properties are signalled when fprintd's
  /// main loop is idle, so several of them can become one signal, or none if the value is back where it was.
  static let all: [SignalOrder] = {
    typealias Status = (needed: Bool, present: Bool)
    let armed: Status = (true, false)
    let clear: Status = (false, false)
    // nil is the result.
    let histories: [[Status?]] = [
      [armed, (true, true), armed, nil, clear],
      [armed, (true, true), nil, clear],
      [armed, (true, true), nil, armed, clear],
      [armed, (false, true), nil, clear],
      [armed, (false, true), clear, nil],
      [armed, (true, true), (false, true), nil, clear],
      [armed, (true, true), (false, true), clear, nil],
      [armed, (true, true), (false, true), armed, nil, clear],
      [armed, nil, clear],
      [armed, clear, nil],
    ]
    var orders: Set<SignalOrder> = []
    for history in histories {
      for idle in 0..<(1 << history.count) {
        var signals: [FprintdSignal] = []
        var sent = clear
        var now = clear
        for (step, status) in history.enumerated() {
          if let status { now = status } else { signals.append(.status) }
          guard idle & (1 << step) != 0 || step == history.count - 1, now != sent else { continue }
          signals.append(
            .changed(
              needed: now.needed == sent.needed ? nil : now.needed,
              present: now.present == sent.present ? nil : now.present))
          sent = now
        }
        // The finger is asked for when its status is first signalled.
        guard case .changed(true, _) = signals.first, let result = signals.firstIndex(of: .status) else { continue }
        for beforeStop in (result + 1)...signals.count {
          orders.insert(SignalOrder(signals: signals, beforeStop: beforeStop))
        }
      }
    }
    return orders.sorted { $0.testDescription < $1.testDescription }
  }()
}

private func != (one: (needed: Bool, present: Bool), other: (needed: Bool, present: Bool)) -> Bool {
  one.needed != other.needed || one.present != other.present
}

@Suite("fprintd's signals of a finger", .serialized)
struct FprintdSignalOrderTests {
  private static let print = enrolled(FprintdPrint(finger: .rightIndex, digest: nil).template)

  /// A reader process on a stand-in for fprintd, with its reader open.
  private func withReader(
    _ device: FprintdStandIn.Device = .init(), _ body: (FprintdStandIn, ReaderProcess) async throws -> Void
  ) async throws {
    try await PrivateBus.with { bus in
      let fprintd = try await FprintdStandIn(on: bus, tellsFingers: true, [device])
      defer { fprintd.close() }
      let process = ReaderProcess(
        program: try readerProgram(), selection: .fprintd(device: nil),
        fprintd: FprintdPlace(bus: bus.address, templates: "/nonexistent"))
      _ = try await process.open(try #require(try await process.readers().first).id)
      try await body(fprintd, process)
      await process.shutdown()
    }
  }

  @Test("every touch ends with a lifted finger, in every order of signals that fprintd can send")
  func everyOrder() async throws {
    #expect(SignalOrder.all.count > 40)
    try await withReader { fprintd, process in
      for (index, order) in SignalOrder.all.enumerated() {
        try await touch(order, number: index + 1, fprintd, process)
      }
    }
  }

  @Test("a finger that fprintd reports only after the result is present until fprintd reports it lifted")
  func reportedLate() async throws {
    try await withReader { fprintd, process in
      let log = EventLog()
      async let answer = process.verify(Self.print, nonce: nonce(1), observer: log.observe)
      try #require(try await eventually { fprintd.calls(of: "VerifyStart") == 1 })
      fprintd.change(needed: true, present: nil)
      fprintd.endScan("verify-no-match")
      #expect(try await answer.outcome == .noMatch)
      fprintd.change(needed: nil, present: true)
      // Longer than the time after which a finger that is never reported counts as lifted.
      try await Task.sleep(for: .milliseconds(1_500))
      #expect(log.events == [.fingerNeeded, .fingerPresent])
      fprintd.change(needed: false, present: false)
      try await log.wait(for: .fingerLifted)
    }
  }

  @Test(
    "a reader that fprintd does not release after a failure is said to be unplugged only if it is",
    arguments: [FprintdStandIn.Release.granted, .refused, .refusedWhenGone])
  func notReleased(_ release: FprintdStandIn.Release) async throws {
    try await withReader(.init(release: release)) { fprintd, process in
      async let failed = readerError { try await process.verify(Self.print, nonce: nonce(1)) { _ in } }
      try #require(try await eventually { fprintd.calls(of: "VerifyStart") == 1 })
      fprintd.endScan("verify-unknown-error")
      let error = await failed
      guard release != .refusedWhenGone else {
        #expect(error == .removed)
        return
      }
      guard case .device(let words)? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(words.contains("fprintd does not release it") == (release == .refused), "\(words)")
      // It is used again, where that is possible.
      async let answer = process.verify(Self.print, nonce: nonce(2)) { _ in }
      try #require(try await eventually { fprintd.calls(of: "VerifyStart") == 2 })
      fprintd.endScan("verify-no-match")
      #expect(try await answer.outcome == .noMatch)
    }
  }

  private func touch(_ order: SignalOrder, number: Int, _ fprintd: FprintdStandIn, _ process: ReaderProcess)
    async throws
  {
    let log = EventLog()
    async let answer = process.verify(Self.print, nonce: nonce(1), observer: log.observe)
    try #require(try await eventually { fprintd.calls(of: "VerifyStart") == number })
    for signal in order.signals[..<order.beforeStop] { send(signal, fprintd) }
    try #require(try await eventually { fprintd.calls(of: "VerifyStop") == number })
    for signal in order.signals[order.beforeStop...] { send(signal, fprintd) }
    #expect(try await answer.outcome == .noMatch, "\(order.testDescription)")
    // A finger that fprintd does not report counts as lifted a second later.
    _ = try await eventually { log.events.contains(.fingerLifted) }
    // A driver may ask for a finger more than once.
    #expect(log.events.first == .fingerNeeded, "\(order.testDescription)")
    #expect(
      log.events.filter { $0 != .fingerNeeded } == [.fingerPresent, .fingerLifted],
      "\(order.testDescription): \(log.events)")
  }

  private func send(_ signal: FprintdSignal, _ fprintd: FprintdStandIn) {
    switch signal {
    case .changed(let needed, let present): fprintd.change(needed: needed, present: present)
    case .status: fprintd.endScan("verify-no-match")
    }
  }
}
