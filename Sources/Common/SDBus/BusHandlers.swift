/// The callbacks of a connection. They run on the loop, in the order of arrival, and must not block.
package struct BusHandlers: Sendable {
  /// Called once, as the first handler, when the connection can be used or closed.
  package var opened: @Sendable (BusConnection) -> Void
  package var call: @Sendable (BusCall) -> Void
  package var signal: @Sendable (BusSignal) -> Void
  /// Called once, as the last handler, when either side has ended the connection.
  package var closed: @Sendable () -> Void

  package init(
    opened: @escaping @Sendable (BusConnection) -> Void = { _ in },
    call: @escaping @Sendable (BusCall) -> Void = { _ in },
    signal: @escaping @Sendable (BusSignal) -> Void = { _ in },
    closed: @escaping @Sendable () -> Void = {}
  ) {
    self.opened = opened
    self.call = call
    self.signal = signal
    self.closed = closed
  }

  /// Makes a call or a signal of each message.
  fileprivate var receiver: MessageReceiver {
    let (call, signal) = (call, signal)
    return MessageReceiver(
      opened: opened, call: { call(BusCall($1, $2, $3, from: $0)) }, signal: { signal(BusSignal($1, $2, from: $0)) },
      closed: closed)
  }
}

extension BusConnection {
  /// Connects over a connected socket. Takes ownership of the socket, also if this throws.
  package init(socket: Int32, role: BusRole, limits: BusLimits = BusLimits(), handlers: BusHandlers) throws(BusError) {
    // When sd-bus starts, it reads bytes that have arrived already.
    let handshake = role == .server ? BusOpening.peek(socket, count: 1_024) : []
    self.init(
      bus: try BusOpening.peer(socket: socket, role: role), kind: role == .server ? .server : .client, limits: limits,
      receiver: handlers.receiver, handshake: handshake)
  }

  /// Becomes a member of the message bus at this address, such as `unix:path=/run/dbus/system_bus_socket`.
  package init(busAddress: String, limits: BusLimits = BusLimits(), handlers: BusHandlers) throws(BusError) {
    try self.init(busSocket: .connected(toBus: busAddress), limits: limits, handlers: handlers)
  }

  /// Becomes a member of the message bus at the other end of a socket, before any handshake.
  ///
  /// Members of a bus are not trusted: a malformed message of one member is dropped and does not affect others.
  package init(busSocket: BusDescriptor, limits: BusLimits = BusLimits(), handlers: BusHandlers) throws(BusError) {
    self.init(
      bus: try BusOpening.member(socket: busSocket), kind: .member, limits: limits, receiver: handlers.receiver)
  }
}
