import Glibc
package import Primitives
import Synchronization
package import VirtualFinger

/// Presses a list of fingers, one each time the program asks for a finger.
package final class Touches: Sendable {
  package enum Touch: Sendable {
    case press(SyntheticFinger)
    case retry(RetryReason)
    case unplug
    /// Sends a signal to the program instead of pressing a finger.
    case signal(Int32)
  }

  fileprivate struct State {
    var waiting: [Touch]
    /// Counts the lines of the program. While the count stays the same, a press that the reader dropped is repeated.
    var asked = 0
    var impression: UInt64 = .random(in: 0..<1 << 40)
  }

  private let reader: VirtualImageReader
  private let state: Mutex<State>

  package init(socket: String, _ touches: [Touch]) {
    reader = VirtualImageReader(socket: socket, patience: .seconds(10))
    state = Mutex(State(waiting: touches))
  }

  /// The handler to pass to ``Invocation/run(heard:)``.
  package var heard: @Sendable (String, RunningProgram) -> Void {
    { line, program in
      // It follows the request for a touch.
      guard !line.hasPrefix("Program: ") else { return }
      let wanted =
        line.contains(" the reader (") || line.contains(" the fingerprint reader")
        || (line.hasPrefix("Stage") && line.contains("touch again"))
      let (touch, number) = self.state.withLock { state -> (Touch?, Int) in
        state.asked += 1
        guard wanted, !state.waiting.isEmpty else { return (nil, state.asked) }
        return (state.waiting.removeFirst(), state.asked)
      }
      guard let touch else { return }
      startThread { self.make(touch, number, program) }
    }
  }

  private func make(_ touch: Touch, _ number: Int, _ program: RunningProgram) {
    // The program prints the line while it arms the scan, and the driver is ready a moment later.
    usleep(100_000)
    if case .signal(let signal) = touch { return program.signal(signal) }
    for _ in 1...10 {
      // Stop when the program has ended or has printed more, so that no press goes to the next program's reader.
      guard program.isRunning, state.withLock({ $0.asked == number }) else { return }
      switch touch {
      case .press(let finger): try? reader.press(finger.impression(state.withLock { $0.nextImpression() }))
      case .retry(let reason): try? reader.retry(reason)
      case .unplug: try? reader.deviceError(.removed)
      case .signal: return
      }
      for _ in 1...200 where program.isRunning && state.withLock({ $0.asked == number }) { usleep(10_000) }
    }
  }
}

extension Touches.State {
  fileprivate mutating func nextImpression() -> UInt64 {
    impression += 1
    return impression
  }
}

extension Touches.Touch {
  /// Person 1's right index finger, which most tests enrol.
  package static let right = Self.press(Fingers.right)
  package static let thumb = Self.press(Fingers.thumb)
  package static let wrong = Self.press(Fingers.wrong)
}

/// Fingers that are generated once for all tests, because generating one takes longer than pressing it.
package enum Fingers {
  package static let right = SyntheticFinger(person: 1, finger: .rightIndex)
  package static let thumb = SyntheticFinger(person: 1, finger: .leftThumb)
  package static let wrong = SyntheticFinger(person: 2, finger: .rightIndex)
}

extension TestStore {
  package var reader: [String] { ["--reader", "virtual-image:\(socket)"] }

  /// Runs a command on this store's virtual reader with these touches.
  package func touched(
    _ words: [String], _ touches: [Touches.Touch], passcode: [String]? = nil, input: [UInt8]? = nil
  ) async throws -> Invocation.Result {
    var words = words
    let separator = words.firstIndex(of: "--") ?? words.endIndex
    words.insert(contentsOf: reader + (passcode == nil ? [] : ["--passcode-fd", "3"]), at: separator)
    return try await Invocation(
      arguments: arguments(words), input: input,
      descriptors: passcode.map { [$0.map { $0 + "\n" }.joined()] } ?? []
    ).run(heard: Touches(socket: socket, touches).heard)
  }

  /// Enrols a finger: five stages and the confirming touch.
  @discardableResult
  package func enroll(_ finger: String = "right-index", _ touch: Touches.Touch = .right) async throws
    -> Invocation.Result
  {
    try await touched(
      ["enroll", finger, "--yes"], Array(repeating: touch, count: 6), passcode: [Self.passcode])
  }
}

/// Runs a closure after a delay, unless it is cancelled first.
package final class Deadline: Sendable {
  private let task: Task<Void, Never>

  package init(seconds: Int, _ body: @escaping @Sendable () -> Void) {
    task = Task {
      try? await Task.sleep(for: .seconds(seconds))
      if !Task.isCancelled { body() }
    }
  }

  package func cancel() { task.cancel() }
}
