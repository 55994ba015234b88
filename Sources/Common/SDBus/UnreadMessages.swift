/// The outgoing messages of a connection that wait for the peer to read them, oldest first. sd-bus keeps the messages
/// and tells their number; this keeps their sizes.
struct UnreadMessages {
  private var sizes: [Int] = []
  /// The memory that the messages take, in bytes, roughly.
  private(set) var bytes = 0

  var count: Int { sizes.count }

  /// Takes over the number of messages that sd-bus has. Those that were sent are forgotten. Those that sd-bus has added
  /// itself, such as answers to `Ping`, are counted with the least size of a message.
  mutating func update(count: Int) {
    if count < sizes.count {
      let sent = sizes.count - count
      bytes -= sizes[..<sent].reduce(0, +)
      sizes.removeFirst(sent)
    }
    while sizes.count < count { append(Self.overhead) }
  }

  /// Adds the newest message.
  ///
  /// - Parameter size: the cost of its arguments (`BusValue.cost`).
  mutating func add(size: Int) { append(size + Self.overhead) }

  private mutating func append(_ size: Int) {
    sizes.append(size)
    bytes += size
  }

  /// What sd-bus allocates for a message without arguments: the struct and the header fields.
  private static let overhead = 1_024
}
