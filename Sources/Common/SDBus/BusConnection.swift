internal import CSystemd
internal import Glibc

/// What receives the messages of a connection. It runs on the loop, in the order of arrival, and must not block.
struct MessageReceiver: Sendable {
  /// Called once, first, when the connection can be used or closed.
  let opened: @Sendable (BusConnection) -> Void
  let call: @Sendable (BusConnection, BusMessage, [BusValue], BusCallID) -> Void
  let signal: @Sendable (BusConnection, BusMessage, [BusValue]) -> Void
  /// Called once, last, when either side has ended the connection.
  let closed: @Sendable () -> Void
}

/// The members of a message bus are `member`. Only a bus guarantees the sender of a message.
enum BusConnectionKind { case client, server, member }

/// A D-Bus connection, to a peer over a socket or to a message bus. All its state belongs to ``BusLoop``.
///
/// The connection ends when the other side closes it, when a peer breaks the protocol or exceeds ``BusLimits``, or with
/// ``close()``. Its owner must call ``close()``.
package actor BusConnection: BusLoopSource {
  package nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

  private var bus: OpaquePointer?
  private let limits: BusLimits
  private let receiver: MessageReceiver
  private let kind: BusConnectionKind
  private var unread = UnreadMessages()
  private var input: PartialInput
  private var waiting = WaitingCalls()
  private var openCalls: [BusCallID: OpenCall] = [:]
  /// What is kept until the peer has read all answers.
  private var kept: [any AnyObject & Sendable] = []
  private var isWatchingReads = false
  private var isReady = false
  private var waitingForReady: [(isolated BusConnection) -> Void] = []

  /// Takes ownership of the bus. ``BusHandlers`` has the initializers that others use.
  init(
    bus: OpaquePointer, kind: BusConnectionKind, limits: BusLimits, receiver: MessageReceiver, handshake: [UInt8] = []
  ) {
    self.bus = bus
    self.kind = kind
    self.limits = limits
    self.receiver = receiver
    input = PartialInput(limit: limits.messageMicroseconds, handshake: handshake)
    BusLoop.shared.post { self.assumeIsolated { $0.attach() } }
  }

  private func attach() {
    guard bus != nil else { return }
    if kind == .server { input.awaitHandshake() }
    BusLoop.shared.add(self)
    receiver.opened(self)
  }

  // MARK: Sending

  /// Calls a method and waits for its answer.
  ///
  /// It is not isolated to the loop: the task continues on its own executor when the answer arrives. Calls that were made
  /// one after the other are sent in that order. It starts no task of its own, which would need the cooperative pool:
  /// all threads of the pool may be blocked in calls of a synchronous interface.
  ///
  /// - Parameters:
  ///   - limit: how long to wait; nil: until the task is cancelled.
  ///   - onCancel: called on the loop if the task is cancelled after the call was sent. The call then still waits for its
  ///     answer. Without this closure it throws `cancelled` at once.
  /// - Throws: `system(ETIMEDOUT)` if there is no answer within the limit. A later answer is dropped.
  package nonisolated(nonsending) func call(
    _ target: BusTarget, _ member: String, _ arguments: [BusValue] = [], within limit: Duration? = nil,
    onCancel: (@Sendable () -> Void)? = nil
  ) async throws(BusError) -> [BusValue] {
    guard !Task.isCancelled else { throw .cancelled }
    let cancellation = CallCancellation(onCancel)
    let awaited = AwaitedAnswer()
    // Sent before anything is awaited, because the operation below runs on another executor: two calls that were made in
    // a row could change their order there.
    call(target, member, arguments, cancellation) { awaited.give($0) }
    let timer = limit.map { limit in
      LoopTimer(after: limit, judgesOther: true) { self.assumeIsolated { $0.giveUp(cancellation) } }
    }
    defer { timer?.cancel() }
    let answer = await withTaskCancellationHandler {
      await awaited.value
    } onCancel: {
      cancellation.request()
      BusLoop.shared.post { self.assumeIsolated { $0.cancel(cancellation) } }
    }
    if limit != nil, case .failure(.cancelled) = answer, !Task.isCancelled { throw .system(ETIMEDOUT) }
    return try answer.get()
  }

  /// Ends a call whose time has passed. Its answer is dropped.
  private func giveUp(_ cancellation: CallCancellation) {
    cancellation.request()
    guard let cookie = waiting.cookie(of: cancellation) else { return }
    finish(cookie, .failure(.cancelled))
  }

  /// Calls a method. The call cannot be cancelled, and is sent before all later calls.
  ///
  /// - Parameter answered: called once with the answer, on the loop.
  package nonisolated func call(
    _ target: BusTarget, _ member: String, _ arguments: [BusValue],
    answered: @escaping @Sendable (Result<[BusValue], BusError>) -> Void
  ) {
    call(target, member, arguments, nil, answered)
  }

  private nonisolated func call(
    _ target: BusTarget, _ member: String, _ arguments: [BusValue], _ cancellation: CallCancellation?,
    _ answered: @escaping @Sendable (WaitingCalls.Answer) -> Void
  ) {
    let call = WaitingCalls.Call(destination: target.destination, cancellation: cancellation, answered: answered)
    BusLoop.shared.post { self.assumeIsolated { $0.begin(call, target, member, arguments) } }
  }

  private func begin(_ call: WaitingCalls.Call, _ target: BusTarget, _ member: String, _ arguments: [BusValue]) {
    // Before the handshake is complete, sd-bus blocks the thread that sends a message with a descriptor.
    if !isReady, bus != nil, !arguments.descriptors.isEmpty {
      return waitingForReady.append { $0.begin(call, target, member, arguments) }
    }
    if call.cancellation?.isRequested == true { return call.answered(.failure(.cancelled)) }
    do throws(BusError) {
      let cookie = try send(arguments) { bus, message in
        if let destination = target.destination {
          return sd_bus_message_new_method_call(bus, &message, destination, target.path, target.interface, member)
        }
        return sd_bus_message_new_method_call(bus, &message, nil, target.path, target.interface, member)
      }
      waiting.add(call, cookie)
    } catch {
      call.answered(.failure(error))
    }
  }

  private func cancel(_ cancellation: CallCancellation) {
    guard let cookie = waiting.cookie(of: cancellation) else { return }
    if let onCancel = cancellation.onCancel { onCancel() } else { finish(cookie, .failure(.cancelled)) }
  }

  /// Emits a signal, after everything sent before it. On a bus it goes to the destination, or without one to everybody
  /// who subscribed to it. Nothing is sent if the connection has ended.
  package nonisolated func emit(_ target: BusTarget, _ member: String, _ arguments: [BusValue]) {
    BusLoop.shared.post {
      self.assumeIsolated { connection in
        connection.sendOrClose { connection throws(BusError) in
          _ = try connection.send(arguments) { bus, message in
            let result = sd_bus_message_new_signal(bus, &message, target.path, target.interface, member)
            guard result >= 0, let destination = target.destination else { return result }
            return sd_bus_message_set_destination(message, destination)
          }
        }
      }
    }
  }

  /// Ends the connection. Messages that are still in the send queue are lost.
  package nonisolated func close() {
    BusLoop.shared.post { self.assumeIsolated { $0.end() } }
  }

  nonisolated func answer(
    _ id: BusCallID, _ result: Result<[BusValue], BusError>, keeping kept: (any AnyObject & Sendable)? = nil
  ) {
    BusLoop.shared.post {
      self.assumeIsolated { connection in
        // Before more is sent.
        connection.releaseRead()
        connection.sendAnswer(id, result)
        guard let kept else { return }
        connection.kept.append(kept)
        connection.releaseRead()
      }
    }
  }

  private func sendAnswer(_ id: BusCallID, _ result: WaitingCalls.Answer) {
    guard let call = openCalls.removeValue(forKey: id), call.wantsAnswer else { return }
    sendOrClose { connection throws(BusError) in
      guard let bus = connection.bus else { throw .notSent }
      var answer = try call.answer(result, on: bus)
      if connection.kind == .member, connection.unread.bytes + answer.values.cost > connection.limits.unreadBytes {
        // The connection is that of all other members, too, and is not ended because of one of them.
        answer = try call.answer(.failure(.tooManyUnreadAnswers), on: bus)
      }
      _ = try connection.send(answer.values, answer.make)
    }
  }

  /// Releases what is kept for answers once the peer has read them all. The kernel does not report reads, so this is
  /// repeated while something is kept.
  private func releaseRead() {
    guard !kept.isEmpty else { return }
    if bus.map(UnreadMessages.remain) != true { kept = [] }
    guard !kept.isEmpty, !isWatchingReads else { return }
    isWatchingReads = true
    _ = LoopTimer(after: .milliseconds(100)) {
      self.assumeIsolated { connection in
        connection.isWatchingReads = false
        connection.releaseRead()
      }
    }
  }

  private typealias Maker = (_ bus: OpaquePointer, _ message: inout OpaquePointer?) -> Int32

  /// Sends a message, or ends the connection if that fails: otherwise the peer would wait for an answer for ever.
  private func sendOrClose(_ send: (isolated BusConnection) throws(BusError) -> Void) {
    guard bus != nil else { return }
    do throws(BusError) { try send(self) } catch { end() }
  }

  private func send(_ values: [BusValue], _ make: Maker) throws(BusError) -> UInt64 {
    guard let bus else { throw .notSent }
    var pointer: OpaquePointer?
    // transfer full: the new message is ours
    try checked(make(bus, &pointer))
    guard let pointer else { throw .disconnected }
    let message = BusMessage(taking: pointer)
    try message.append(values)
    unread.update(of: bus)
    var cookie: UInt64 = 0
    // sd-bus takes its own reference to the message
    let result = sd_bus_send(bus, message.pointer, &cookie)
    // The loop has not seen the end of the connection yet.
    guard result >= 0 else { throw [ECONNRESET, ENOTCONN, EPIPE].contains(-result) ? .notSent : .system(-result) }
    unread.add(size: values.cost, on: bus)
    if endIfUnread() {
      // The connection is closed, so an answer to this call would never come.
      throw .disconnected
    }
    return cookie
  }

  /// Ends the connection if the peer has left too much unread.
  private func endIfUnread() -> Bool {
    guard unread.exceed(limits) else { return false }
    end()
    return true
  }

  /// Whether the peer must read before its next call is read.
  private var isPaused: Bool { kind == .server && unread.exceedPause(of: limits) }

  // MARK: Receiving

  package nonisolated func pollRequest() -> BusPollRequest? {
    assumeIsolated { connection in
      guard let bus = connection.bus else { return nil }
      let descriptor = sd_bus_get_fd(bus)
      let events = sd_bus_get_events(bus)
      var deadline = UInt64.max
      sd_bus_get_timeout(bus, &deadline)
      // After an error the bus has no descriptor. Return a past deadline, so that `dispatch` runs and sees the error.
      guard descriptor >= 0, events >= 0 else { return BusPollRequest(descriptor: -1, events: 0, deadline: 0) }
      let isPaused = connection.isPaused
      return BusPollRequest(
        descriptor: descriptor, events: isPaused ? Int16(POLLOUT) : Int16(truncatingIfNeeded: events),
        deadline: min(isPaused ? .max : deadline, connection.input.end), isAwaited: connection.isAwaited)
    }
  }

  /// Whether the next message has to be read at once. A client without open calls only gets events, which can wait.
  private var isAwaited: Bool { kind != .client || !isReady || !waiting.isEmpty || unread.count > 0 }

  package nonisolated func dispatch() {
    assumeIsolated { connection in
      connection.process()
      if connection.bus != nil, connection.input.isOver() { connection.end() }
    }
  }

  /// Processes incoming messages. No handlers are registered with sd-bus, so `sd_bus_process` returns every message and
  /// no C callback is needed.
  private func process() {
    // At most 64 messages in a row, so that one busy peer does not starve the other connections.
    for step in 0..<64 {
      // Even in a pause, the first step is made, to write messages for which the peer has made room.
      guard let bus, step == 0 || !isPaused else { return }
      let hasInput = kind == .server ? input.waits(in: sd_bus_get_fd(bus)) : false
      var pointer: OpaquePointer?
      let result = sd_bus_process(bus, &pointer)
      if result < 0 { return end() }
      if let pointer {
        // transfer full
        do throws(BusError) { try receive(BusMessage(taking: pointer)) } catch { if kind != .member { return end() } }
      }
      // The message may have ended the connection, which frees the bus.
      guard let bus = self.bus else { return }
      unread.update(of: bus)
      if endIfUnread() { return }
      if !isReady, sd_bus_is_ready(bus) > 0 {
        isReady = true
        input.endHandshake()
        resumeWaitingForReady()
      } else if isReady, hasInput {
        input.wasRead(withResult: result != 0)
      } else if pointer != nil {
        input.gaveMessage()
      }
      if result == 0 { return }
    }
  }

  private func resumeWaitingForReady() {
    let ready = waitingForReady
    waitingForReady = []
    for call in ready { call(self) }
  }

  private func receive(_ message: BusMessage) throws(BusError) {
    switch message.kind {
    case .answer, .error:
      // Ignore an answer without a waiting call, which was cancelled or never made.
      guard let cookie = message.replyCookie, let call = waiting[cookie],
        kind != .member || message.mayAnswer(for: call.destination)
      else { return }
      do throws(BusError) {
        if message.kind == .error {
          finish(cookie, .failure(try message.remoteError(limits)))
        } else {
          finish(cookie, .success(try message.values(limits, secrets: limits.secrets)))
        }
      } catch  where kind == .member {
        finish(cookie, .failure(error))
      }
    case .signal:
      // sd-bus delivers this local message when the connection has ended.
      if message.interface == "org.freedesktop.DBus.Local" { return end() }
      receiver.signal(self, message, try message.values(limits))
    case .call:
      guard let cookie = message.cookie else { throw .malformed }
      // Members of a bus number their calls each for itself.
      let id = BusCallID(sender: kind == .member ? message.sender : nil, cookie: cookie)
      guard openCalls[id] == nil, openCalls.count < limits.openCalls else { throw .tooLarge }
      let arguments: [BusValue]
      do throws(BusError) {
        arguments = try message.values(limits, secrets: limits.secrets)
      } catch  where kind == .member {
        // Without an answer the caller would wait for its own limit.
        openCalls[id] = OpenCall(id, message)
        return sendAnswer(id, .failure(.unreadableArguments))
      }
      openCalls[id] = OpenCall(id, message)
      receiver.call(self, message, arguments, id)
    case .other:
      return
    }
  }

  private func finish(_ cookie: UInt64, _ answer: WaitingCalls.Answer) {
    waiting.remove(cookie)?.answered(answer)
  }

  private func end() {
    guard let bus else { return }
    self.bus = nil
    BusLoop.shared.remove(self)
    openCalls = [:]
    kept = []
    // transfer full: our reference, and with it the socket
    sd_bus_close_unref(bus)
    // Call `closed` before the calls fail, so that their callers find the end handled already.
    receiver.closed()
    for call in waiting.removeAll() { call.answered(.failure(.disconnected)) }
    resumeWaitingForReady()
  }
}
