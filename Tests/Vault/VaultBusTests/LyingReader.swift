import Dispatch
import Glibc
import Primitives
import ReaderBus
import SDBus
import Synchronization

/// A reader process between a vault and a real one: forwards and records the conversation, and later replays it with
/// lies.
final class LyingReader: Sendable {
  /// Counts false matches with the right nonce, and of a print in the request, since the last count.
  struct Claims {
    /// With a current time: a vault must accept them.
    var recent = 0
    /// With any time: the confirming touch of an enrolment is accepted with any.
    var all = 0
  }

  private struct State {
    var exchanges: [RecordedExchange] = []
    /// The lies; nil while it tells the truth.
    var lies: ReaderLies?
    var claims = Claims()
    /// The open connections, each under its own number.
    var connections: [UInt64: BusConnection] = [:]
    var accepted: UInt64 = 0
  }

  /// The socket that it listens at.
  let path: String
  private let socket: Int32
  private let real: BusConnection
  private let holdsReader: Bool
  private let state = Mutex(State())

  /// - Parameters:
  ///   - real: the reader whose answers it passes on.
  ///   - holdsReader: whether the real reader stays open, since its chip is lost when it is closed.
  init(at path: String, real: any FingerprintReader, holdsReader: Bool) throws {
    self.path = path
    self.holdsReader = holdsReader
    socket = try listening(at: path)
    let (mine, theirs) = try socketPair()
    let object = ReaderObject(serving: real)
    let numbers = ScanSignals()
    _ = try BusConnection(socket: theirs, role: .server, handlers: .init(call: { object.handle($0) }))
    self.real = try BusConnection(socket: mine, role: .client, handlers: .init(signal: { numbers.deliver($0) }))
    signals = numbers
    DispatchQueue(label: "the lying reader").async { self.accept() }
  }

  private let signals: ScanSignals

  func end() {
    shutdown(socket, Int32(SHUT_RDWR))
    real.close()
    for connection in state.withLock({ Array($0.connections.values) }) { connection.close() }
  }

  /// What was said truthfully.
  var recorded: [RecordedExchange] { state.withLock { $0.exchanges } }

  /// Begins to lie; nil: tells the truth from now on.
  func lie(_ lies: ReaderLies?) { state.withLock { $0.lies = lies } }

  /// Tells the truth while the body runs, and then goes on lying.
  func truthfully(_ body: () async throws -> Void) async throws {
    let lies = state.withLock { state in
      defer { state.lies = nil }
      return state.lies
    }
    defer { lie(lies) }
    try await body()
  }

  /// Begins another request of the vault. Returns the claims since the last one.
  func takeClaims() -> Claims {
    state.withLock { state in
      state.lies?.beginRequest()
      defer { state.claims = Claims() }
      return state.claims
    }
  }

  // MARK: Connections

  private func accept() {
    while case let accepted = Glibc.accept(socket, nil, nil), accepted >= 0 {
      _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
      guard let (mine, wire) = try? socketPair() else { continue }
      let client = state.withLock { state in
        state.accepted += 1
        return state.accepted
      }
      let handlers = BusHandlers(
        call: { self.handle($0, of: client) },
        closed: { self.state.withLock { _ = $0.connections.removeValue(forKey: client) } })
      guard let connection = try? BusConnection(socket: mine, role: .server, handlers: handlers) else { continue }
      _ = LyingWire(vault: accepted, reader: wire) { [self] in
        state.withLock { $0.lies?.mangling() ?? .none }
      }
      state.withLock { $0.connections[client] = connection }
    }
    close(socket)
  }

  private func handle(_ call: BusCall, of client: UInt64) {
    let script: [ReaderLies.Step]? = state.withLock { state in
      guard let script = state.lies?.script(for: call) else { return nil }
      let times = script.compactMap { $0.timeOfClaim(of: call) }
      let now = ScanClock.now()
      state.claims.all += times.count
      state.claims.recent += times.count { max($0, now) - min($0, now) < 2_000_000_000 }
      return script
    }
    guard let script else { return passOn(call, of: client) }
    Task { await Self.run(script, for: call) }
  }

  // MARK: The truth

  private func passOn(_ call: BusCall, of client: UInt64) {
    if holdsReader, call.member == ReaderInterface.Method.close.rawValue { return call.answer() }
    // Each connection counts its calls from 1, and the real reader refuses a number that is in use.
    let number = client << 32 | (call.arguments.first?.asUInt64 ?? 0)
    guard !holdsReader, call.member == ReaderInterface.Method.open.rawValue else { return ask(call, number) }
    // A reader's unit ends with its connection, which closes the reader. Here the real reader outlives connections, so
    // close it.
    real.call(ReaderInterface.target, ReaderInterface.Method.close.rawValue, [.uint64(number)]) { [self] _ in
      ask(call, number)
    }
  }

  private func ask(_ call: BusCall, _ number: UInt64) {
    var arguments = call.arguments
    if !arguments.isEmpty { arguments[0] = .uint64(number) }
    signals.expect(number, for: call)
    real.call(ReaderInterface.target, call.member, arguments) { [self] result in
      // Only the first opening reaches the real reader.
      let known = holdsReader && call.member == ReaderInterface.Method.open.rawValue ? opened : nil
      let exchange = RecordedExchange(
        member: call.member, arguments: call.arguments, signals: signals.take(number), result: known ?? result)
      state.withLock { $0.exchanges.append(exchange) }
      exchange.answer(call)
    }
  }

  /// The answer to the first opening.
  private var opened: Result<[BusValue], BusError>? {
    state.withLock { $0.exchanges }.first { $0.member == ReaderInterface.Method.open.rawValue }?.result
  }

  // MARK: Lies

  private static func run(_ script: [ReaderLies.Step], for call: BusCall) async {
    for step in script {
      switch step {
      case .signal(let arguments):
        call.connection.emit(ReaderInterface.target, ReaderInterface.scanSignal, arguments)
      case .answer(let values): call.answer(values)
      case .fail(let name, let text, let details): call.fail(name, text, details: details)
      case .wait(let time): try? await Task.sleep(for: time)
      case .close: call.connection.close()
      case .call(let member, let arguments):
        call.connection.call(ReaderInterface.target, member, arguments) { _ in }
      case .silence:
        // The call is answered when it is released.
        try? await Task.sleep(for: .seconds(3))
        withExtendedLifetime(call) {}
      }
    }
  }
}

/// One call to a reader, what it reported meanwhile, and its answer.
struct RecordedExchange: Sendable {
  var member: String
  var arguments: [BusValue]
  var signals: [[BusValue]]
  var result: Result<[BusValue], BusError>

  func answer(_ call: BusCall) {
    switch result {
    case .success(let values): call.answer(values)
    case .failure(.remote(let name, let text, let details)): call.fail(name, text, details: details)
    case .failure: call.connection.close()
    }
  }
}

/// Passes the signals of the real reader on to the connection that made the call, and keeps them.
private final class ScanSignals: Sendable {
  private let calls = Mutex<[UInt64: (call: BusCall, signals: [[BusValue]])]>([:])

  func expect(_ number: UInt64, for call: BusCall) { calls.withLock { $0[number] = (call, []) } }

  func take(_ number: UInt64) -> [[BusValue]] { calls.withLock { $0[number]?.signals ?? [] } }

  func deliver(_ signal: BusSignal) {
    guard let number = signal.arguments.first?.asUInt64 else { return }
    // Under the number of the vault's own call.
    let arguments = [.uint64(number & 0xFFFF_FFFF)] + signal.arguments.dropFirst()
    let connection = calls.withLock { calls in
      calls[number]?.signals.append(arguments)
      return calls[number]?.call.connection
    }
    connection?.emit(ReaderInterface.target, signal.member, arguments)
  }
}

/// A socket that listens at this path. The caller owns it.
func listening(at path: String) throws -> Int32 {
  let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
  var name = sockaddr_un()
  name.sun_family = sa_family_t(AF_UNIX)
  withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
  let result = withUnsafePointer(to: &name) { name in
    name.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
  }
  guard result == 0, listen(socket, 16) == 0 else { throw BusError.system(errno) }
  return socket
}
