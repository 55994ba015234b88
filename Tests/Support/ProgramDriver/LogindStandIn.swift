internal import Glibc
package import SDBus
import Synchronization

/// Replaces logind on a private bus: has a table of sessions and users, and sends the signals of a real one.
package final class LogindStandIn: Sendable {
  private static let root = "/org/freedesktop/login1"
  private static let name = "org.freedesktop.login1"

  /// The user that runs the test.
  package static var ownUser: UInt32 { getuid() }

  /// How it answers calls.
  package enum Manner: Sendable {
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
    var owners: [UInt32: UInt32] = [:]
    var foreground = "/"
    var sessions: [String: [String: BusValue]] = [:]
    var displays: [UInt32: String] = [:]
    var locks: [BusDescriptor] = []
    var unanswered: [BusCall] = []
    var calls = 0
    var beforeAnswers: (@Sendable () -> Void)?
  }

  private let state: SharedState
  private let connection: BusConnection

  private final class SharedState: Sendable {
    let value = Mutex(State())
  }

  package init(on bus: PrivateBus) async throws {
    let state = SharedState()
    self.state = state
    connection = try BusConnection(busAddress: bus.address, handlers: .init(call: { Self.answer($0, state) }))
    let answer = try await connection.call(MessageBus.target, "RequestName", [.string(Self.name), .uint32(0)])
    guard answer.first?.asUInt32 == 1 else { throw SystemFailure("the name of logind is taken", EEXIST) }
  }

  package func close() { connection.close() }

  // MARK: The machine

  package var manner: Manner {
    get { state.value.withLock { $0.manner } }
    set { state.value.withLock { $0.manner = newValue } }
  }

  /// Runs before each answer.
  package func beforeAnswers(_ body: (@Sendable () -> Void)?) { state.value.withLock { $0.beforeAnswers = body } }

  package var calls: Int { state.value.withLock { $0.calls } }

  /// Answers the waiting calls, and all later ones.
  package func answerAll() {
    state.value.withLock { state in
      state.manner = .proper
      for call in state.unanswered { Self.answer(call, &state) }
      state.unanswered = []
    }
  }

  /// Whether a program holds a lock that delays sleep, and how often one was requested.
  package var holdsSleep: Bool {
    state.value.withLock { state in
      state.locks.contains { lock in
        var request = pollfd(fd: lock.rawValue, events: 0, revents: 0)
        poll(&request, 1, 0)
        return request.revents & Int16(POLLHUP) == 0
      }
    }
  }

  /// Adds a session; by default active and unlocked, at seat0.
  package func add(
    _ session: String, user: UInt32 = LogindStandIn.ownUser, process: Int32? = nil, _ changes: [String: BusValue] = [:]
  ) {
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

  package static let noSeat = BusValue.structure([.string(""), .objectPath("/")])
  package static func seat(_ name: String) -> BusValue {
    .structure([.string(name), .objectPath("\(root)/seat/\(name)")])
  }

  package func setDisplay(_ session: String?, of user: UInt32 = LogindStandIn.ownUser) {
    state.value.withLock { $0.displays[user] = session.map { "\(Self.root)/session/\($0)" } ?? "/" }
  }

  /// Sets the user in whose slice a process runs; nil: the system's.
  package func setOwner(_ user: UInt32?, of process: Int32) {
    state.value.withLock { $0.owners[UInt32(process)] = user }
  }

  /// Puts a session in the foreground of seat0, and signals the change.
  package func show(_ session: String?) {
    let path = session.map { "\(Self.root)/session/\($0)" } ?? "/"
    state.value.withLock { $0.foreground = path }
    connection.emit(
      BusTarget(path: "\(Self.root)/seat/seat0", interface: "org.freedesktop.DBus.Properties"), "PropertiesChanged",
      [
        .string("\(Self.name).Seat"), .dictionary(["ActiveSession": Self.reference(path)]), .array(of: "s", []),
      ])
  }

  package func set(_ flag: String, _ value: Bool) { state.value.withLock { $0.flags[flag] = value } }

  /// Opens or closes the lid, and signals it, as logind does since systemd 256.
  package func closeLid(_ isClosed: Bool) {
    set("LidClosed", isClosed)
    connection.emit(
      BusTarget(path: Self.root, interface: "org.freedesktop.DBus.Properties"), "PropertiesChanged",
      [.string("\(Self.name).Manager"), .dictionary(["LidClosed": .boolean(isClosed)]), .array(of: "s", [])])
  }

  /// Changes properties of a session, and signals the change.
  package func change(_ session: String, _ changes: [String: BusValue]) {
    let path = "\(Self.root)/session/\(session)"
    state.value.withLock { $0.sessions[path]?.merge(changes) { $1 } }
    connection.emit(
      BusTarget(path: path, interface: "org.freedesktop.DBus.Properties"), "PropertiesChanged",
      [.string("\(Self.name).Session"), .dictionary(changes), .array(of: "s", [])])
  }

  /// Signals that a property of a session has changed, whether there is such a session or not.
  package func signalChange(of session: String) {
    connection.emit(
      BusTarget(path: "\(Self.root)/session/\(session)", interface: "org.freedesktop.DBus.Properties"),
      "PropertiesChanged",
      [.string("\(Self.name).Session"), .dictionary(["IdleHint": .boolean(true)]), .array(of: "s", [])])
  }

  /// Signals that a user has a new session.
  package func signalNewSession(_ session: String) {
    signal("SessionNew", [.string(session), .objectPath("\(Self.root)/session/\(session)")])
  }

  /// Signals that a program has taken or released an inhibitor lock.
  package func signalInhibitors() {
    connection.emit(
      BusTarget(path: Self.root, interface: "org.freedesktop.DBus.Properties"), "PropertiesChanged",
      [.string("\(Self.name).Manager"), .dictionary(["BlockInhibited": .string("idle")]), .array(of: "s", [])])
  }

  package func remove(_ session: String) {
    let path = "\(Self.root)/session/\(session)"
    state.value.withLock { state in
      state.sessions[path] = nil
      state.processes = state.processes.filter { $0.value != path }
    }
    signal("SessionRemoved", [.string(session), .objectPath(path)])
  }

  package func prepareForSleep(_ begins: Bool) {
    set("PreparingForSleep", begins)
    signal("PrepareForSleep", [.boolean(begins)])
  }

  private func signal(_ member: String, _ arguments: [BusValue]) {
    connection.emit(BusTarget(path: Self.root, interface: "\(Self.name).Manager"), member, arguments)
  }

  // MARK: Answers

  private static func answer(_ call: BusCall, _ shared: SharedState) {
    shared.value.withLock { $0.beforeAnswers }?()
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
    case "GetUserByPID":
      guard let user = call.arguments.first?.asUInt32.flatMap({ state.owners[$0] }) else {
        return call.fail("\(name).NoUserForPID", "PID does not belong to any logged in user")
      }
      call.answer([.objectPath("\(root)/user/_\(user)")])
    case "GetSeat":
      guard call.arguments.first?.asString == "seat0" else { return call.fail("\(name).NoSuchSeat", "no such seat") }
      call.answer([.objectPath("\(root)/seat/seat0")])
    case "GetSession":
      guard let path = call.arguments.first?.asString.map({ "\(root)/session/\($0)" }), state.sessions[path] != nil
      else { return call.fail("\(name).NoSuchSession", "no such session") }
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
      guard call.signature == "ssss",
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0
      else { return call.fail("\(name).Failed", "no pipe") }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      state.locks.append(BusDescriptor(taking: ends[0]))
      call.answer([.descriptor(BusDescriptor(taking: ends[1]))])
    default: call.fail("org.freedesktop.DBus.Error.UnknownMethod", call.member)
    }
  }

  private static func answerAll(_ call: BusCall, _ state: State) {
    if let session = state.sessions[call.path] { return call.answer([.dictionary(session)]) }
    if call.path == "\(root)/seat/seat0" {
      return call.answer([.dictionary(["ActiveSession": reference(state.foreground)])])
    }
    let prefix = "\(root)/user/_"
    guard call.path.hasPrefix(prefix), let user = UInt32(call.path.dropFirst(prefix.count)),
      let display = state.displays[user]
    else { return call.fail("org.freedesktop.DBus.Error.UnknownObject", call.path) }
    let own = state.sessions.filter { $0.value["User"]?.asStructure?.first?.asUInt32 == user }.keys.sorted()
    call.answer([
      .dictionary(["Display": reference(display), "Sessions": .array(of: "(so)", own.map { reference($0) })])
    ])
  }

  /// The name and the path of a session.
  private static func reference(_ path: String) -> BusValue {
    .structure([.string(path == "/" ? "" : String(path.split(separator: "/").last ?? "")), .objectPath(path)])
  }
}
