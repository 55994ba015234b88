internal import SDBus
internal import Synchronization

/// Takes fprintd's name on a private bus, and behaves as open-fprintd with python-validity does, which drives the readers
/// of many older ThinkPads: it always looks for any of the user's fingers, tells nothing of a finger on the sensor, reports
/// "no match" for a scan that was stopped, after the answer to that call, and deletes all fingers or none. A test may also
/// make its calls of Claim slow, or refuse them.
package final class OpenFprintd: Sendable {
  package enum Touch: Sendable {
    case right, wrong, unreadable
  }

  private enum Work {
    case verification
    case enrolment(String, stages: Int)
  }

  private struct State {
    var fingers: [String]
    var isClaimed = false
    var work: Work?
    var calls: [String: Int] = [:]
    /// Whether another program has the reader.
    var isTaken = false
  }

  /// The touches that an enrolment takes.
  package static let stages = 5

  private static let device = BusTarget(
    path: "/net/reactivated/Fprint/Device/0", interface: "net.reactivated.Fprint.Device")
  private static let error = "net.reactivated.Fprint.Error."

  private let connection: BusConnection
  private let service: Service

  /// - Parameters:
  ///   - fingers: by fprintd's names.
  ///   - claimTakes: how long it takes to claim the reader.
  package init(on bus: PrivateBus, fingers: [String], claimTakes: Duration = .zero) async throws {
    let service = Service(fingers, claimTakes)
    self.service = service
    connection = try BusConnection(busAddress: bus.address, handlers: .init(call: { service.answer($0) }))
    let answer = try await connection.call(
      MessageBus.target, "RequestName", [.string("net.reactivated.Fprint"), .uint32(0)])
    guard answer.first?.asUInt32 == 1 else { throw SystemFailure("net.reactivated.Fprint has an owner", 0) }
  }

  package func close() { connection.close() }

  /// How often this method was called.
  package func calls(of method: String) -> Int { service.state.withLock { $0.calls[method, default: 0] } }

  /// The user's fingers, by fprintd's names.
  package var fingers: [String] { service.state.withLock { $0.fingers } }

  /// Whether the reader waits for a finger.
  package var isArmed: Bool { service.state.withLock { $0.work != nil } }

  /// Gives the reader to another program, or takes it from that.
  package func setTaken(_ isTaken: Bool) { service.state.withLock { $0.isTaken = isTaken } }

  /// Deletes a finger, as another program would.
  package func delete(_ finger: String) { service.state.withLock { $0.fingers.removeAll { $0 == finger } } }

  /// Touches the reader. Does nothing if it does not wait for a finger.
  package func touch(_ touch: Touch) {
    let signal = service.state.withLock { state -> (String, String, Bool)? in
      switch (state.work, touch) {
      case (nil, _): return nil
      case (.verification, .unreadable): return ("VerifyStatus", "verify-retry-scan", false)
      case (.verification, .right), (.verification, .wrong):
        state.work = nil
        return ("VerifyStatus", touch == .right ? "verify-match" : "verify-no-match", true)
      case (.enrolment, .unreadable): return ("EnrollStatus", "enroll-retry-scan", false)
      case (.enrolment(let finger, let stages), _):
        guard stages + 1 == Self.stages else {
          state.work = .enrolment(finger, stages: stages + 1)
          return ("EnrollStatus", "enroll-stage-passed", false)
        }
        state.work = nil
        state.fingers.append(finger)
        return ("EnrollStatus", "enroll-completed", true)
      }
    }
    if let (member, word, isDone) = signal {
      connection.emit(Self.device, member, [.string(word), .boolean(isDone)])
    }
  }

  /// Touches the reader as soon as it waits for a finger, in at most ten seconds: a prompt is shown a moment before.
  package func touchWhenArmed(_ touch: Touch) async throws {
    for _ in 1...1_000 where !isArmed { try await Task.sleep(for: .milliseconds(10)) }
    self.touch(touch)
  }

  private final class Service: Sendable {
    let state: Mutex<State>
    private let claimTakes: Duration

    init(_ fingers: [String], _ claimTakes: Duration) {
      state = Mutex(State(fingers: fingers))
      self.claimTakes = claimTakes
    }

    func answer(_ call: BusCall) {
      state.withLock { $0.calls[call.member, default: 0] += 1 }
      let argument = call.arguments.first?.asString ?? ""
      switch call.member {
      case "GetDevices": call.answer([.array(of: "o", [.objectPath(OpenFprintd.device.path)])])
      case "GetAll":
        call.answer([
          .dictionary([
            "name": .string("DBus driver"), "scan-type": .string("press"),
            "num-enroll-stages": .int32(Int32(OpenFprintd.stages)),
          ])
        ])
      case "ListEnrolledFingers": call.answer([.array(of: "s", state.withLock { $0.fingers }.map { .string($0) })])
      case "Claim": claim(call)
      case "Release", "VerifyStart", "VerifyStop", "EnrollStart", "EnrollStop", "DeleteEnrolledFingers2":
        guard state.withLock({ $0.isClaimed }) else {
          return call.fail(OpenFprintd.error + "ClaimDevice", "Client must claim device first")
        }
        work(call, argument)
      default: call.fail("org.freedesktop.DBus.Error.UnknownMethod", "no such method")
      }
    }

    private func claim(_ call: BusCall) {
      let isFree = state.withLock { state in
        guard !state.isTaken, !state.isClaimed else { return false }
        state.isClaimed = true
        return true
      }
      guard isFree else { return call.fail(OpenFprintd.error + "AlreadyInUse", "Device is already in use") }
      guard claimTakes > .zero else { return call.answer() }
      Task { [claimTakes] in
        try? await Task.sleep(for: claimTakes)
        call.answer()
      }
    }

    private func work(_ call: BusCall, _ argument: String) {
      switch call.member {
      case "VerifyStart":
        guard !state.withLock({ $0.fingers.isEmpty }) else {
          return call.fail(OpenFprintd.error + "NoEnrolledPrints", "No enrolled prints found")
        }
        state.withLock { $0.work = .verification }
        call.answer()
        call.connection.emit(OpenFprintd.device, "VerifyFingerSelected", [.string("any")])
        return
      case "EnrollStart": state.withLock { $0.work = .enrolment(argument, stages: 0) }
      case "DeleteEnrolledFingers2": state.withLock { $0.fingers = [] }
      case "Release": state.withLock { ($0.isClaimed, $0.work) = (false, nil) }
      default:
        let wasVerifying = state.withLock { state in
          defer { state.work = nil }
          if case .verification = state.work { return true } else { return false }
        }
        call.answer()
        // The scan ends a moment after the answer, as one that did not match.
        guard wasVerifying else { return }
        Task {
          try? await Task.sleep(for: .milliseconds(100))
          call.connection.emit(OpenFprintd.device, "VerifyStatus", [.string("verify-no-match"), .boolean(true)])
        }
        return
      }
      call.answer()
    }
  }
}
