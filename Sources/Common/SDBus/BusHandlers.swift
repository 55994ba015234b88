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
}
