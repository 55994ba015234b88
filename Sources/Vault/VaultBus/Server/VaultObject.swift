internal import SDBus
internal import SecretModel

extension VaultCall {
  /// The table of the server.
  package static let all: [VaultCall] = [
    [hello, cancel], Calls.stores, Calls.withoutStore, Calls.contexts, Calls.items, Calls.keys, Calls.fingers,
    Calls.passcode, Calls.backups, Calls.state, Calls.sync,
  ].flatMap { $0 }

  package static let named: [String: VaultCall] = Dictionary(uniqueKeysWithValues: all.map { ($0.member, $0) })
}

/// The D-Bus object of the vault for one client: admits its calls, runs them concurrently, and answers them.
///
/// It runs on the bus loop, and passes each call to the vault before it reads the next one, so that calls keep their
/// order.
actor VaultObject: ServedVault {
  nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

  /// The most open contexts. A program that serves others, such as `whorl-agent`, keeps one for each touch that still counts.
  private static let contextLimit = 1_024

  let vaults: any VaultConnection
  private let budgets: UserBudgets
  private let greetingLimit: Duration?
  private let settlingLimit: Duration
  /// Nil after it was called.
  private var onClosed: (@Sendable () -> Void)?
  private var greeting = GreetingState.expected(nil)
  /// Whether the client has said hello. No other call is answered before.
  private enum GreetingState {
    /// The timer closes the connection if the hello takes too long.
    case expected(LoopTimer?)
    case done
  }
  /// The unanswered calls, by the numbers that the client chose.
  private var running: [UInt64: Running] = [:]
  private struct Running {
    let isCounted: Bool
    var task: Task<Void, Never>?
  }

  private var store = OpenStore.none
  /// A connection has one open store at most.
  private enum OpenStore {
    case none, opening
    case open(any VaultService)
  }

  /// The events of the open contexts.
  private var contexts: [ContextHandle: ForwardedEvents] = [:]
  /// The number of contexts that are being opened.
  private var openingContexts = 0

  /// - Parameters:
  ///   - budgets: the memory for calls of this client's user, and for the answers.
  ///   - greetingLimit: how long to wait for the client's hello; nil: until the connection ends.
  ///   - settlingLimit: how long to wait for the vault and running calls at the end.
  init(
    serving vaults: any VaultConnection, budgets: UserBudgets, greetingLimit: Duration?,
    settlingLimit: Duration = .seconds(10),
    onClosed: @escaping @Sendable () -> Void
  ) {
    self.vaults = vaults
    self.budgets = budgets
    self.greetingLimit = greetingLimit
    self.settlingLimit = settlingLimit
    self.onClosed = onClosed
  }

  /// Closes the connection unless its client sends its hello in time; for `BusHandlers.opened`, which runs on the loop.
  nonisolated func expectGreeting(on connection: BusConnection) {
    assumeIsolated { object in
      guard case .expected = object.greeting, let limit = object.greetingLimit else { return }
      object.greeting = .expected(LoopTimer(after: limit, judgesOther: true) { connection.close() })
    }
  }

  /// Leaves the connection open without a hello. Call it on the loop.
  nonisolated func expectNoGreeting() {
    assumeIsolated { object in
      guard case .expected(let timer) = object.greeting else { return }
      timer?.cancel()
      object.greeting = .expected(nil)
    }
  }

  /// Handles a call; for `BusHandlers.call`, which runs on the loop.
  nonisolated func handle(_ call: BusCall) {
    assumeIsolated { $0.begin(call) }
  }

  /// Handles the end; for `BusHandlers.closed`, which runs on the loop.
  nonisolated func connectionEnded() {
    assumeIsolated { $0.end() }
  }

  // MARK: Admission

  private func begin(_ call: BusCall) {
    guard call.path == VaultInterface.target.path, call.interface == VaultInterface.target.interface,
      let method = VaultCall.named[call.member]
    else { return call.fail("org.freedesktop.DBus.Error.UnknownMethod", "no such member") }
    guard call.signature == method.arguments, let number = call.arguments.first?.asIdentifier(UInt64.self) else {
      return call.fail("org.freedesktop.DBus.Error.InvalidArgs", "takes \(method.arguments)")
    }
    if case .expected = greeting, call.member != VaultCall.hello.member {
      return call.fail("org.freedesktop.DBus.Error.AccessDenied", "the first call has to be Hello")
    }
    switch call.member {
    case VaultCall.hello.member: return greet(call)
    case VaultCall.cancel.member:
      running[number]?.task?.cancel()
      return call.answer()
    default: break
    }
    guard running[number] == nil else {
      return call.fail("org.freedesktop.DBus.Error.InvalidArgs", "this call's number is in use")
    }
    let isCounted = !method.endsWaiting
    if isCounted, running.values.count(where: \.isCounted) >= VaultInterface.callLimit {
      return call.fail(VaultError.busy("\(VaultInterface.callLimit) calls are open on this connection"))
    }
    running[number] = Running(isCounted: isCounted)
    let task = Task.immediate(executorPreference: LoopTasks.shared) { await run(method, number, call) }
    // Does nothing if the call has ended already.
    running[number]?.task = task
  }

  private func greet(_ call: BusCall) {
    endGreeting()
    call.answer([.uint32(VaultInterface.minor), VaultInterface.features.map(Word.init).busValue])
  }

  private func run(_ method: VaultCall, _ number: UInt64, _ call: BusCall) async {
    do throws(VaultError) {
      let memory = try budgets.share(ofCall: call.arguments, endsWaiting: method.endsWaiting)
      defer { withExtendedLifetime(memory) {} }
      let unread = budgets.unreadAnswer()
      let received = ReceivedCall(
        values: Array(call.arguments.dropFirst()), memory: memory, unread: unread, connection: call.connection)
      let values = try await method.perform(self, received)
      guard values.cost <= VaultInterface.answerLimit else {
        throw .invalidRequest("the answer does not fit into a message: ask for fewer items at a time")
      }
      try unread.take(for: values)
      await eventsAreSent()
      call.answer(values, keeping: unread.isEmpty ? nil : unread)
    } catch {
      await eventsAreSent()
      call.fail(error)
    }
    running[number] = nil
  }

  // MARK: Store and contexts

  var service: any VaultService {
    get throws(VaultError) {
      guard case .open(let service) = store else { throw .invalidRequest("no store is open on this connection") }
      return service
    }
  }

  func open(_ place: StorePlace) async throws(VaultError) {
    guard case .none = store else { throw .invalidRequest("a store is open on this connection already") }
    store = .opening
    do throws(VaultError) {
      store = .open(try await vaults.open(place))
    } catch {
      store = .none
      throw error
    }
  }

  func openContext(
    _ options: ContextOptions, over connection: BusConnection
  ) async throws(VaultError) -> ContextHandle {
    guard contexts.values.count(where: { !$0.isClosed }) + openingContexts < Self.contextLimit else {
      throw .busy("\(Self.contextLimit) contexts are open on this connection")
    }
    let memory = try budgets.shareOfContext()
    openingContexts += 1
    defer { openingContexts -= 1 }
    let (handle, events) = try await service.openContext(options)
    forward(ForwardedEvents(events, memory), of: handle, over: connection)
    return handle
  }

  func keep(_ memory: MemoryBudget.Share, forPasswordOf handle: ContextHandle) { contexts[handle]?.password = memory }

  func contextIsClosed(_ handle: ContextHandle) { contexts[handle]?.close() }

  /// Sends the events of a context to the client until the context is closed.
  private func forward(_ events: ForwardedEvents, of handle: ContextHandle, over connection: BusConnection) {
    contexts[handle] = events
    Task(executorPreference: LoopTasks.shared) { await self.sendEvents(of: handle, over: connection) }
  }

  private func sendEvents(of handle: ContextHandle, over connection: BusConnection) async {
    guard let forwarded = contexts[handle] else { return }
    for await event in forwarded.events {
      connection.emit(VaultInterface.target, VaultInterface.eventSignal, event.busValues(in: handle))
      forwarded.sent = event.number
      forwarded.resumeWaiting()
    }
    forwarded.isFinished = true
    forwarded.resumeWaiting()
    contexts[handle] = nil
  }

  /// Waits until every event so far has been sent, since the events of a call must precede its answer.
  private func eventsAreSent() async {
    for forwarded in contexts.values {
      let last = forwarded.events.lastNumber
      while forwarded.sent < last, !forwarded.isFinished {
        await withCheckedContinuation { forwarded.waiting.append($0) }
      }
    }
  }

  // MARK: End

  private func end() {
    endGreeting()
    let tasks = running.values.compactMap(\.task)
    // Limit the wait, so that a call that never ends does not keep the process alive.
    let limit = LoopTimer(after: settlingLimit) { self.assumeIsolated { $0.settled() } }
    Task(executorPreference: LoopTasks.shared) { await self.settle(tasks, limit) }
  }

  private func settle(_ tasks: [Task<Void, Never>], _ limit: LoopTimer) async {
    // Close the vaults first, so that calls which wait for a person end with `systemCancelled`.
    await vaults.close()
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
    limit.cancel()
    settled()
  }

  private func endGreeting() {
    if case .expected(let timer?) = greeting { timer.cancel() }
    greeting = .done
  }

  private func settled() {
    onClosed?()
    onClosed = nil
  }
}

/// Forwards the events of one context to the client.
private final class ForwardedEvents {
  let events: ContextEvents
  /// The number of the last event that was sent.
  var sent = 0
  var isFinished = false
  /// Whether the client has closed the context. Its last events may still be on their way.
  var isClosed: Bool { memory == nil }
  /// The memory of the context; nil once it is closed.
  private var memory: MemoryBudget.Share?
  /// The memory of the call that has set the context's application password.
  var password: MemoryBudget.Share?
  /// Answers that wait until earlier events have been sent.
  var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ events: ContextEvents, _ memory: MemoryBudget.Share) { (self.events, self.memory) = (events, memory) }

  func close() { memory = nil }

  func resumeWaiting() {
    let answers = waiting
    waiting = []
    for answer in answers { answer.resume() }
  }
}

extension BusCall {
  /// Answers with the vault's error.
  func fail(_ error: VaultError) {
    let (name, details) = error.busForm
    fail(VaultInterface.errorPrefix + name.word, name.word, details: details)
  }
}
