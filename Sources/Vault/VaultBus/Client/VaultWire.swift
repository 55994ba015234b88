internal import Glibc
internal import Primitives
internal import SDBus
package import SecretModel
internal import Synchronization

/// The client's end of a connection to a vault: numbers and cancels calls, and maps the loss of the connection to an
/// error for each.
final class VaultWire: Sendable {
  let contexts = OpenContexts()
  let greeting = Greeting()
  private let connection: BusConnection
  private let numbers = CallNumbers()
  /// Limits the open calls to the number that the vault accepts.
  private let slots = FairQueue(width: VaultInterface.callLimit)
  /// By the number of a cancelled call: the timer that ends the connection if the call is not answered in time.
  private let cancellations = Mutex<[UInt64: LoopTimer]>([:])
  private let cancelGrace: Duration

  /// Takes ownership of the socket, also if this throws.
  ///
  /// - Parameter cancelGrace: how long to wait for the answer of a cancelled call. A vault answers within a second; the
  ///   connection to one that does not is closed.
  init(socket: Int32, cancelGrace: Duration) throws(VaultError) {
    self.cancelGrace = cancelGrace
    let (contexts, numbers) = (contexts, numbers)
    var limits = BusLimits()
    limits.messageBytes = VaultInterface.answerLimit
    do throws(BusError) {
      connection = try BusConnection(
        socket: socket, role: .client, limits: limits,
        handlers: .init(
          // Clients serve no methods.
          call: { $0.fail("org.freedesktop.DBus.Error.UnknownMethod", "no such member") },
          signal: { Self.receive($0, for: contexts, numbers) }, closed: { contexts.end() }))
    } catch {
      throw .serviceUnavailable("no connection to the vault")
    }
  }

  deinit { connection.close() }

  /// Ends the connection, and returns when it has ended.
  func close() async {
    connection.close()
    // The loop has closed the connection before it runs this.
    await withCheckedContinuation { closed in BusLoop.shared.post { closed.resume() } }
  }

  /// Says hello; call it before any other call. Closes the connection if the vault does not answer in time.
  func greet(limit: Duration) {
    let (connection, greeting) = (connection, greeting)
    let timer = LoopTimer(after: limit, judgesOther: true) { connection.close() }
    connection.call(
      VaultInterface.target, VaultCall.hello.member,
      [.uint64(numbers.next()), .uint32(VaultInterface.minor), VaultInterface.features.map(Word.init).busValue]
    ) { answer in
      timer.cancel()
      greeting.answer(
        answer.mapError { VaultError($0, of: VaultCall.hello) }.flatMap { values in
          guard values.signature == VaultCall.hello.results else {
            connection.close()
            return .failure(.unreadableAnswer(of: VaultCall.hello))
          }
          return .success(())
        })
    }
  }

  /// Makes a call and waits for the answer, even if the task is cancelled.
  nonisolated(nonsending) func callAsFunction<Answer: BusParts, each Argument: BusParts>(
    _ call: Call<Answer, repeat each Argument>, _ arguments: repeat each Argument
  ) async throws(VaultError) -> Answer {
    let values = try await values(call, repeat each arguments)
    return try reading(call.call) { try Answer(bus: values) }
  }

  /// Makes a call that returns nothing.
  nonisolated(nonsending) func callAsFunction<each Argument: BusParts>(
    _ call: Call<Done, repeat each Argument>, _ arguments: repeat each Argument
  ) async throws(VaultError) {
    _ = try await values(call, repeat each arguments)
  }

  /// Makes a call with an answer of one secret.
  nonisolated(nonsending) func secret<each Argument: BusParts>(
    _ call: Call<BusFile, repeat each Argument>, _ arguments: repeat each Argument, limit: Int = NewItem.secretLimit
  ) async throws(VaultError) -> SecretBytes {
    let values = try await values(call, repeat each arguments)
    return try reading(call.call) { try SecretBytes(sealed: try BusFile(bus: values), limit: limit) }
  }

  /// Makes a call that must reach the vault even if the task is cancelled. Ignores errors: if the connection is lost,
  /// the context of the call has ended with it.
  func tell<each Argument: BusParts>(
    _ call: Call<Done, repeat each Argument>, _ arguments: repeat each Argument
  ) async {
    do throws(VaultError) {
      try await self(call, repeat each arguments)
    } catch .cancelled {
      // The call was not sent, since the task is cancelled.
      await Task(executorPreference: BackgroundThread.shared) {
        _ = try? await self(call, repeat each arguments)
      }.value
    } catch {}
  }

  private nonisolated(nonsending) func values<Answer: BusParts, each Argument: BusParts>(
    _ call: Call<Answer, repeat each Argument>, _ arguments: repeat each Argument
  ) async throws(VaultError) -> [BusValue] {
    var context: ContextHandle?
    var values: [BusValue] = []
    for argument in repeat each arguments {
      values += try VaultError.ofReading { try argument.busValues() }
      context = context ?? (argument as? Asking)?.context ?? argument as? ContextHandle
    }
    return try await self.values(call.call, values, in: context)
  }

  /// - Parameter context: the context of the call.
  private nonisolated(nonsending) func values(
    _ method: VaultCall, _ arguments: [BusValue], in context: ContextHandle?
  ) async throws(VaultError) -> [BusValue] {
    guard BusLoop.shared.isInThisProcess else {
      throw .forkedProcess
    }
    // A call that ends the wait of another one must not wait for it.
    guard !method.endsWaiting else { return try await send(method, arguments, in: context) }
    guard let slot = try? await slots.turn() else { throw .cancelled }
    let values = try await send(method, arguments, in: context)
    _ = consume slot
    return values
  }

  private nonisolated(nonsending) func send(
    _ method: VaultCall, _ arguments: [BusValue], in context: ContextHandle?
  ) async throws(VaultError) -> [BusValue] {
    guard !contexts.isLost else { throw Self.ended(context) }
    let number = numbers.next()
    let arguments = [.uint64(number)] + arguments
    // The vault would close the connection for a larger message.
    guard arguments.cost <= VaultInterface.requestLimit else {
      throw .invalidRequest("it does not fit into a message to the vault")
    }
    let values: [BusValue]
    do throws(BusError) {
      values = try await connection.call(
        VaultInterface.target, method.member, arguments,
        onCancel: { [weak self] in self?.cancel(number) })
      isAnswered(number)
    } catch {
      isAnswered(number)
      throw error == .notSent ? Self.ended(context) : VaultError(error, of: method)
    }
    guard values.signature == method.results else { throw unreadableAnswer(of: method) }
    return values
  }

  /// The error of a call that was not sent because the connection had ended.
  private static func ended(_ context: ContextHandle?) -> VaultError {
    context == nil ? .serviceUnavailable("the connection to the vault has ended") : .contextInvalidated
  }

  /// Reads an answer. Closes the connection if it cannot be read: the peer has another version, or is no vault.
  func reading<Value: ~Copyable>(
    _ method: VaultCall, _ read: () throws -> Value
  ) throws(VaultError) -> Value {
    do { return try read() } catch { throw unreadableAnswer(of: method) }
  }

  private func unreadableAnswer(of method: VaultCall) -> VaultError {
    connection.close()
    return .unreadableAnswer(of: method)
  }

  // MARK: Cancelling

  /// Asks the vault to end a call, and closes the connection if it does not.
  private func cancel(_ number: UInt64) {
    let connection = connection
    Task(executorPreference: BackgroundThread.shared) {
      _ = try? await connection.call(VaultInterface.target, VaultCall.cancel.member, [.uint64(number)])
    }
    cancellations.withLock {
      $0[number] = LoopTimer(after: cancelGrace, judgesOther: true) { connection.close() }
    }
  }

  private func isAnswered(_ number: UInt64) {
    cancellations.withLock { $0.removeValue(forKey: number) }?.cancel()
  }

  // MARK: Events

  private static func receive(_ signal: BusSignal, for contexts: OpenContexts, _ numbers: CallNumbers) {
    guard signal.interface == VaultInterface.target.interface, signal.member == VaultInterface.eventSignal,
      let event = BusEvent(signal.arguments), let question = contexts.deliver(event)
    else { return }
    Task(executorPreference: BackgroundThread.shared) {
      _ = try? await signal.connection.call(
        VaultInterface.target, VaultInterface.respond,
        [.uint64(numbers.next()), question.context.busValue] + ResponseOnBus.declining(question.number).busValues())
    }
  }
}

/// Numbers the calls of a connection.
private final class CallNumbers: Sendable {
  private let last = Atomic<UInt64>(0)

  func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}

extension VaultError {
  /// Thrown in a process that was forked from one that uses Whorl, since fork does not copy the threads that serve the
  /// connection.
  package static let forkedProcess = serviceUnavailable(
    "this process was forked from one that uses Whorl: start programs that use Whorl with exec or posix_spawn")

  fileprivate static func unreadableAnswer(of method: VaultCall) -> VaultError {
    method.isChange ? .outcomeUnknown : .versionMismatch("the vault's answer to \(method.member) cannot be read")
  }

  /// The error for the failure of a call on the bus.
  fileprivate init(_ error: BusError, of method: VaultCall) {
    self =
      switch error {
      case .remote(let name, let message, let details):
        VaultError(busName: name, message: message, details: details)
      // The call was not sent.
      case .cancelled: .cancelled
      case .notSent: .serviceUnavailable("the connection to the vault has ended")
      case .disconnected: method.isChange ? .outcomeUnknown : .systemCancelled
      case .tooLarge, .malformed: .invalidRequest("it does not fit into a message to the vault")
      case .system(let code): .inputOutput("a message to the vault: \(String(cString: strerror(code)))")
      }
  }
}
