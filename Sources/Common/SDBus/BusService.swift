/// The program that owns a name on a message bus, for as long as it owns it.
///
/// Calls go to the owner's unique name, and signals of any other sender are dropped. It ends when the name gets another
/// owner, when the bus ends, and with ``close()``. Its owner must call ``close()``.
package actor BusService {
  /// Signals of the service, and its end. Delivered on the bus loop, in the order of arrival.
  package enum Event: Sendable {
    case signal(BusSignal)
    /// The service has ended. Sent once, as the last event.
    case over
  }

  package nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

  private let name: String
  private let limit: Duration
  private let receiver: @Sendable (Event) -> Void
  private var connection: BusConnection?
  private var owner: String?
  private var isOver = false

  private init(_ name: String, limit: Duration, receiver: @escaping @Sendable (Event) -> Void) {
    self.name = name
    self.limit = limit
    self.receiver = receiver
  }

  /// Finds the owner of the name and subscribes to its signals. If the name has no owner, the bus starts the service if
  /// it can.
  ///
  /// - Parameters:
  ///   - users: the users that the owner may run as; nil if the bus's own policy for the name is enough.
  ///   - limit: the time limit for each step, and for each later call without a limit of its own.
  package static func find(
    _ name: String, on bus: BusDescriptor, ownedBy users: Set<UInt32>?, within limit: Duration,
    receiver: @escaping @Sendable (Event) -> Void
  ) async throws(BusError) -> BusService {
    let service = BusService(name, limit: limit, receiver: receiver)
    do throws(BusError) {
      try await service.connect(to: bus, ownedBy: users)
      return service
    } catch {
      service.close()
      throw error
    }
  }

  /// Calls a method of the owner.
  ///
  /// - Throws: `system(ETIMEDOUT)` if there is no answer in time.
  @discardableResult
  package func call(
    _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = [], within limit: Duration? = nil
  ) async throws(BusError) -> [BusValue] {
    guard let connection, let owner else { throw .disconnected }
    return try await connection.call(
      BusTarget(destination: owner, path: path, interface: interface), member, arguments, within: limit ?? self.limit)
  }

  /// Calls a method of the owner without a time limit, for calls that wait for a person. Cancelling the task ends the
  /// wait.
  @discardableResult
  package func callWithoutLimit(
    _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = []
  ) async throws(BusError) -> [BusValue] {
    guard let connection, let owner else { throw .disconnected }
    return try await connection.call(
      BusTarget(destination: owner, path: path, interface: interface), member, arguments)
  }

  /// Ends the connection.
  package nonisolated func close() {
    BusLoop.shared.post { self.assumeIsolated { $0.end() } }
  }

  // MARK: The owner

  private func connect(to bus: BusDescriptor, ownedBy users: Set<UInt32>?) async throws(BusError) {
    let connection = try BusConnection(
      busSocket: bus,
      handlers: .init(
        signal: { signal in self.assumeIsolated { $0.receive(signal) } },
        closed: { self.assumeIsolated { $0.end() } }))
    self.connection = connection
    let changes = "type='signal',sender='\(MessageBus.name)',member='\(MessageBus.nameOwnerChanged)',arg0='\(name)'"
    try await ask("AddMatch", changes)
    // Start it only if the name has no owner: a bus may have no service file for it.
    if try await currentOwner() == nil { _ = try await ask("StartServiceByName", name, .uint32(0)) }
    guard let owner = try await currentOwner() else { throw .disconnected }
    if let users {
      guard let user = try await ask("GetConnectionUnixUser", owner).first?.asIdentifier(UInt32.self),
        users.contains(user)
      else {
        throw .remote(name: "org.freedesktop.DBus.Error.AccessDenied", message: "\(name) belongs to another user")
      }
    }
    try await ask("AddMatch", "type='signal',sender='\(owner)'")
    // The owner may have changed before this process subscribed to changes.
    guard try await currentOwner() == owner, !isOver else { throw .disconnected }
    self.owner = owner
  }

  private func currentOwner() async throws(BusError) -> String? {
    do throws(BusError) {
      return try await ask("GetNameOwner", name).first?.asString
    } catch .remote(name: "org.freedesktop.DBus.Error.NameHasNoOwner", _, _) {
      return nil
    }
  }

  @discardableResult
  private func ask(_ member: String, _ text: String, _ rest: BusValue...) async throws(BusError) -> [BusValue] {
    guard let connection else { throw .disconnected }
    return try await connection.call(MessageBus.target, member, [.string(text)] + rest, within: limit)
  }

  private func receive(_ signal: BusSignal) {
    if signal.sender == MessageBus.name {
      let names = signal.arguments.compactMap(\.asString)
      guard signal.member == MessageBus.nameOwnerChanged, names.count == 3, names[0] == name else { return }
      // During the lookup the name may get its first owner, which does not count as a change.
      if let owner, names[2] != owner { end() }
    } else if let owner, signal.sender == owner {
      receiver(.signal(signal))
    }
  }

  private func end() {
    guard !isOver else { return }
    isOver = true
    connection?.close()
    connection = nil
    let wasFound = owner != nil
    owner = nil
    if wasFound { receiver(.over) }
  }
}

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
