import Glibc
import ProgramDriver
import SDBus
import Synchronization
import Testing

/// Stands in for logind on a private bus: a table of sessions and users, and the signals that a real one sends.
final class LogindStandIn: Sendable {
  static let root = "/org/freedesktop/login1"
  private static let name = "org.freedesktop.login1"

  /// How it takes a call.
  enum Manner: Sendable {
    case proper
    /// Never answers.
    case silent
    /// Answers with numbers only.
    case nonsense
  }

  private struct State {
    var manner = Manner.proper
    var flags: [String: Bool] = ["LidClosed": false, "PreparingForSleep": false]
    var processes: [UInt32: String] = [:]
    var sessions: [String: [String: BusValue]] = [:]
    var displays: [UInt32: String] = [:]
    var locks: [BusDescriptor] = []
    var unanswered: [BusCall] = []
    var calls = 0
  }

  private let state: SharedState
  private let connection: BusConnection

  private final class SharedState: Sendable {
    let value = Mutex(State())
  }

  init(on bus: PrivateBus) async throws {
    let state = SharedState()
    self.state = state
    connection = try BusConnection(busAddress: bus.address, handlers: .init(call: { Self.answer($0, state) }))
    let answer = try await connection.call(MessageBus.target, "RequestName", [.string(Self.name), .uint32(0)])
    try #require(answer.first?.asUInt32 == 1)
  }

  func close() { connection.close() }

  // MARK: The machine

  var manner: Manner {
    get { state.value.withLock { $0.manner } }
    set { state.value.withLock { $0.manner = newValue } }
  }

  var calls: Int { state.value.withLock { $0.calls } }

  /// Whether somebody has the machine wait with its sleep, and how often that was asked for.
  var holdsSleep: Bool {
    state.value.withLock { state in
      state.locks.contains { lock in
        var request = pollfd(fd: lock.rawValue, events: 0, revents: 0)
        poll(&request, 1, 0)
        return request.revents & Int16(POLLHUP) == 0
      }
    }
  }

  /// An active, unlocked session at seat0 unless it is said otherwise.
  func add(_ session: String, user: UInt32 = getuid(), process: Int32? = nil, _ changes: [String: BusValue] = [:]) {
    let path = "\(Self.root)/session/\(session)"
    state.value.withLock { state in
      state.sessions[path] = [
        "User": .structure([.uint32(user), .objectPath("\(Self.root)/user/_\(user)")]),
        "Class": .string("user"), "State": .string("active"), "Active": .boolean(true), "Remote": .boolean(false),
        "LockedHint": .boolean(false),
        "Seat": .structure([.string("seat0"), .objectPath("\(Self.root)/seat/seat0")]),
      ].merging(changes) { $1 }
      if let process { state.processes[UInt32(process)] = path }
    }
  }

  static let noSeat = BusValue.structure([.string(""), .objectPath("/")])
  static func seat(_ name: String) -> BusValue {
    .structure([.string(name), .objectPath("\(root)/seat/\(name)")])
  }

  func setDisplay(_ session: String?, of user: UInt32 = getuid()) {
    state.value.withLock { $0.displays[user] = session.map { "\(Self.root)/session/\($0)" } ?? "/" }
  }

  func set(_ flag: String, _ value: Bool) { state.value.withLock { $0.flags[flag] = value } }

  /// Changes properties of a session, and says so.
  func change(_ session: String, _ changes: [String: BusValue]) {
    let path = "\(Self.root)/session/\(session)"
    state.value.withLock { $0.sessions[path]?.merge(changes) { $1 } }
    connection.emit(
      BusTarget(path: path, interface: "org.freedesktop.DBus.Properties"), "PropertiesChanged",
      [.string("\(Self.name).Session"), .dictionary(changes), .array(of: "s", [])])
  }

  func remove(_ session: String) {
    let path = "\(Self.root)/session/\(session)"
    state.value.withLock { state in
      state.sessions[path] = nil
      state.processes = state.processes.filter { $0.value != path }
    }
    signal("SessionRemoved", [.string(session), .objectPath(path)])
  }

  func prepareForSleep(_ begins: Bool) {
    set("PreparingForSleep", begins)
    signal("PrepareForSleep", [.boolean(begins)])
  }

  private func signal(_ member: String, _ arguments: [BusValue]) {
    connection.emit(BusTarget(path: Self.root, interface: "\(Self.name).Manager"), member, arguments)
  }

  // MARK: Answers

  private static func answer(_ call: BusCall, _ shared: SharedState) {
    shared.value.withLock { state in
      state.calls += 1
      switch state.manner {
      case .proper: answer(call, &state)
      case .silent: state.unanswered.append(call)
      case .nonsense: call.answer([.uint32(7)])
      }
    }
  }

  private static func answer(_ call: BusCall, _ state: inout State) {
    switch call.member {
    case "GetSessionByPID":
      guard let path = call.arguments.first?.asUInt32.flatMap({ state.processes[$0] }) else {
        return call.fail("\(name).NoSessionForPID", "PID does not belong to any known session")
      }
      call.answer([.objectPath(path)])
    case "GetUser":
      guard let user = call.arguments.first?.asUInt32, state.displays[user] != nil else {
        return call.fail("\(name).NoSuchUser", "user is not known")
      }
      call.answer([.objectPath("\(root)/user/_\(user)")])
    case "Get":
      guard let flag = call.arguments.last?.asString.flatMap({ state.flags[$0] }) else { fallthrough }
      call.answer([.variant(.boolean(flag))])
    case "GetAll": answerAll(call, state)
    case "Inhibit":
      var ends: [Int32] = [-1, -1]
      guard call.signature == "ssss", pipe(&ends) == 0 else { return call.fail("\(name).Failed", "no pipe") }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      state.locks.append(BusDescriptor(taking: ends[0]))
      call.answer([.descriptor(BusDescriptor(taking: ends[1]))])
    default: call.fail("org.freedesktop.DBus.Error.UnknownMethod", call.member)
    }
  }

  private static func answerAll(_ call: BusCall, _ state: State) {
    if let session = state.sessions[call.path] { return call.answer([.dictionary(session)]) }
    let prefix = "\(root)/user/_"
    guard call.path.hasPrefix(prefix), let user = UInt32(call.path.dropFirst(prefix.count)),
      let display = state.displays[user]
    else { return call.fail("org.freedesktop.DBus.Error.UnknownObject", call.path) }
    let own = state.sessions.filter { $0.value["User"]?.asStructure?.first?.asUInt32 == user }.keys.sorted()
    func reference(_ path: String) -> BusValue {
      .structure([.string(path == "/" ? "" : String(path.split(separator: "/").last ?? "")), .objectPath(path)])
    }
    call.answer([
      .dictionary(["Display": reference(display), "Sessions": .array(of: "(so)", own.map { reference($0) })])
    ])
  }
}
