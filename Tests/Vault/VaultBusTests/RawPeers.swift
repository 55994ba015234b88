import Glibc
import SDBus
import SecretModel
import Synchronization
import VaultBus

/// A client that sends arbitrary messages to a real server.
final class RawClient: Sendable {
  let connection: BusConnection
  let server: VaultBusServer
  let isClosed: Flag
  private let last = Mutex<UInt64>(0)

  init(to vault: any VaultConnection, greetingLimit: Duration = .seconds(30)) throws {
    let (mine, theirs) = try socketPair()
    let isClosed = Flag()
    self.isClosed = isClosed
    server = try VaultBusServer(
      socket: theirs, connection: vault, greetingLimit: greetingLimit, onClosed: { isClosed.set() })
    connection = try BusConnection(socket: mine, role: .client, handlers: .init())
  }

  deinit { connection.close() }

  func next() -> UInt64 {
    last.withLock {
      $0 += 1
      return $0
    }
  }

  @discardableResult
  func call(_ member: String, _ arguments: [BusValue] = [], number: UInt64? = nil) async throws(BusError) -> [BusValue]
  {
    try await connection.call(VaultInterface.target, member, [.uint64(number ?? next())] + arguments)
  }

  /// Says hello and opens a store.
  func open(_ directory: String = "/") async throws(BusError) {
    try await call("Hello", [.uint32(0), .array(of: "s", [])])
    let place: [String: BusValue] = ["directory": .bytes(Array(directory.utf8)), "reader": .bytes(Array("auto".utf8))]
    try await call("Open", [.dictionary(place)])
  }

  /// The name and the details of the error that a call ends with; nil if it succeeds.
  func error(_ member: String, _ arguments: [BusValue] = []) async -> (name: String, details: [BusValue])? {
    do throws(BusError) {
      try await call(member, arguments)
      return nil
    } catch {
      guard case .remote(let name, _, let details) = error else { return ("\(error)", []) }
      return (name, details)
    }
  }
}

/// A vault that sends arbitrary answers to a real client.
final class RawVault: Sendable {
  let client: VaultBusClient
  let connection: BusConnection
  let isClosed: Flag

  /// - Parameter answer: handles each call. `Hello` and `Open` are answered correctly, unless `greets` is false.
  init(
    greets: Bool = true, greetingLimit: Duration = .seconds(10), cancelGrace: Duration = .milliseconds(300),
    _ answer: @escaping @Sendable (BusCall) -> Void
  ) throws {
    let (mine, theirs) = try socketPair()
    let isClosed = Flag()
    self.isClosed = isClosed
    connection = try BusConnection(
      socket: theirs, role: .server,
      handlers: .init(
        call: { call in
          switch call.member {
          case "Hello" where greets: call.answer([.uint32(9), .array(of: "s", [.string("levitation")])])
          case "Open" where greets: call.answer()
          default: answer(call)
          }
        }, closed: { isClosed.set() }))
    client = try VaultBusClient(socket: mine, greetingLimit: greetingLimit, cancelGrace: cancelGrace)
  }

  deinit { connection.close() }

  func open() async throws -> any VaultService { try await client.open(StorePlace(directory: "/")) }

  func emit(_ context: [UInt8], _ number: Int64, _ kind: String, _ details: [String: BusValue]) {
    connection.emit(
      VaultInterface.target, "Event", [.bytes(context), .int64(number), .string(kind), .dictionary(details)])
  }
}

final class Flag: Sendable {
  private let value = Mutex(false)
  var isSet: Bool { value.withLock { $0 } }
  func set() { value.withLock { $0 = true } }
}

/// Calls whose answers a test delays.
final class HeldCalls: Sendable {
  private let calls = Mutex<[BusCall]>([])
  func append(_ call: BusCall) { calls.withLock { $0.append(call) } }
  var all: [BusCall] { calls.withLock { $0 } }
}

/// Keeps calls waiting until it is opened, or until their task is cancelled.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    var last = 0
  }
  private let state = Mutex(State())

  var count: Int { state.withLock { $0.waiting.count } }
  var isOpen: Bool { state.withLock { $0.isOpen } }

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [:] }
      return state.waiting
    }
    for call in waiting.values { call.resume() }
  }

  func wait() async throws(VaultError) {
    let number = state.withLock { state in
      state.last += 1
      return state.last
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { call in
        let passes = state.withLock { state in
          if state.isOpen || Task.isCancelled { return true }
          state.waiting[number] = call
          return false
        }
        if passes { call.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
    }
    if Task.isCancelled { throw .cancelled }
  }
}
