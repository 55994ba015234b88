/// Limits on the memory that a peer can make this process use. A peer that exceeds one is disconnected.
package struct BusLimits: Sendable {
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
  /// The memory for arrays of bytes in calls and answers, where they may be secrets; nil where they are not.
  package var secrets: (any WipedBytes.Type)?
  /// The most arrays of bytes in a message that are read as secrets: locked memory is scarce, and an array without
  /// bytes takes a place, too.
  package var secretArrays = Int.max

  package init() {}
}
