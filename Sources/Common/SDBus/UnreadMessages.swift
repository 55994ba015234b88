/// The sizes of the outgoing messages that wait for the peer to read them, oldest first. sd-bus holds the messages and
/// reports only their number.
struct UnreadMessages {
  private var sizes: [Int] = []
  /// The memory that the messages take, in bytes, roughly.
  private(set) var bytes = 0

  var count: Int { sizes.count }

  /// Updates to the number of messages that sd-bus has. Drops those that were sent. Counts those that sd-bus has added
  /// itself, such as answers to `Ping`, with the smallest size of a message.
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

  /// The memory that sd-bus allocates for a message without arguments: the struct and the header fields.
  private static let overhead = 1_024
}
