extension BusConnection {
  /// The roles of a peer-to-peer connection. They only matter during the authentication handshake.
  package enum Role: Sendable { case client, server }

  /// Limits on the memory that a peer can make this process use. A peer that exceeds one is disconnected.
  package struct Limits: Sendable {
    /// The largest incoming message, in bytes.
    package var messageBytes = 16 << 20
    /// The most calls of the peer that may be unanswered at a time.
    package var openCalls = 64
    /// The most descriptors in one incoming message.
    package var descriptors = 16
    /// The most outgoing messages that may wait for the peer to read them, and the memory they may take in bytes,
    /// roughly.
    package var unreadMessages = 4_096
    package var unreadBytes = 64 << 20
    /// A server stops reading calls while more messages or bytes than these wait for its client, so that a client that
    /// reads slowly slows itself down. A client never stops reading: if both sides did, neither would continue.
    package var unreadMessagesBeforePause = 64
    package var unreadBytesBeforePause = 1 << 20
    /// How long a client may take for its handshake, and for a message from the first byte to the last.
    package var messageMicroseconds: UInt64 = 10_000_000
    /// The memory type for byte arrays in calls and answers that may be secrets; nil if none are.
    package var secrets: (any WipedBytes.Type)?
    /// The most byte arrays in a message that are read as secrets: locked memory is scarce, and even an empty array
    /// needs some.
    package var secretArrays = Int.max

    package init() {}
  }

  /// Callbacks. They run on the loop, in the order of arrival, and must not block.
  package struct Handlers: Sendable {
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
}
