internal import SDBus
internal import SecretModel

/// The D-Bus object of the vault for one client: admits its calls, runs them side by side, and answers them.
///
/// It lives on the bus loop. Each call is passed to the vault before the next one is looked at, so that they reach it in
/// the order in which they came.
actor VaultObject {
  nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

  /// The most calls that may be open at a time, and the most contexts.
  static let limit = 64

  let vaults: any VaultConnection
  private let onClosed: @Sendable () -> Void
  private let budget: CallBudget
  /// Whether the client has said hello. Nothing else is answered before.
  private(set) var isGreeted = false
  /// The calls that are not answered yet, by the number that the client chose.
  private var running: [UInt64: Running] = [:]
  private struct Running {
    let isCounted: Bool
    var task: Task<Void, Never>?
  }

  var store = OpenStore.none
  /// A connection has one open store at most.
  enum OpenStore {
    case none, opening
    case open(any VaultService)
  }

  /// The events of the open contexts.
  var contexts: [ContextHandle: ForwardedEvents] = [:]
  /// How many contexts are being opened.
  var openingContexts = 0

  /// - Parameter budget: what the calls of this client's user may take.
  init(serving vaults: any VaultConnection, budget: CallBudget, onClosed: @escaping @Sendable () -> Void) {
    self.vaults = vaults
    self.budget = budget
    self.onClosed = onClosed
  }

  /// For `BusConnection.Handlers.call`, which is called on the loop.
  nonisolated func handle(_ call: BusCall) {
    assumeIsolated { $0.begin(call) }
  }

  /// For `BusConnection.Handlers.closed`, which is called on the loop.
  nonisolated func connectionEnded() {
    assumeIsolated { $0.end() }
  }

  // MARK: Admission

  private func begin(_ call: BusCall) {
    guard call.path == VaultInterface.target.path, call.interface == VaultInterface.target.interface,
      let method = VaultInterface.Method(rawValue: call.member)
    else { return call.fail("org.freedesktop.DBus.Error.UnknownMethod", "no such member") }
    guard call.signature == method.arguments, let number = call.arguments.first?.asUInt64 else {
      return call.fail("org.freedesktop.DBus.Error.InvalidArgs", "takes \(method.arguments)")
    }
    switch method {
    case .hello: return greet(call)
    case _ where !isGreeted:
      return call.fail("org.freedesktop.DBus.Error.AccessDenied", "the first call has to be Hello")
    case .cancel:
      running[number]?.task?.cancel()
      return call.answer()
    default: break
    }
    guard running[number] == nil else {
      return call.fail("org.freedesktop.DBus.Error.InvalidArgs", "this call's number is in use")
    }
    let isCounted = !method.endsWaiting
    if isCounted, running.values.count(where: \.isCounted) >= Self.limit {
      return call.fail(VaultError.busy("\(Self.limit) calls are open on this connection"))
    }
    running[number] = Running(isCounted: isCounted)
    let task = Task.immediate { await run(method, number, call) }
    // Nothing is left of a call that has ended already.
    running[number]?.task = task
  }

  private func greet(_ call: BusCall) {
    isGreeted = true
    call.answer([.uint32(VaultInterface.minor), .words(VaultInterface.features)])
  }

  private func run(_ method: VaultInterface.Method, _ number: UInt64, _ call: BusCall) async {
    do throws(VaultError) {
      // What ends the waiting of other calls is let through: it gives memory back.
      let share: CallBudget.Share? = method.endsWaiting ? nil : try budget.share(of: call.arguments)
      defer { withExtendedLifetime(share) {} }
      let values = try await perform(method, Array(call.arguments.dropFirst()), over: call.connection)
      guard values.reduce(0, { $0 + $1.cost }) <= VaultInterface.answerLimit else {
        throw .invalidRequest("the answer does not fit into a message: ask for fewer items at a time")
      }
      await eventsAreSent()
      call.answer(values)
    } catch {
      await eventsAreSent()
      call.fail(error)
    }
    running[number] = nil
  }

  // MARK: End

  private func end() {
    let tasks = running.values.compactMap(\.task)
    Task {
      // First, so that what waits for a person ends as the system's doing.
      await vaults.close()
      for task in tasks { task.cancel() }
      for task in tasks { await task.value }
      onClosed()
    }
  }
}

extension BusCall {
  /// Answers with the vault's error.
  func fail(_ error: VaultError) {
    let (name, details) = error.busForm
    fail(VaultInterface.errorPrefix + name.rawValue, name.rawValue, details: details)
  }
}
