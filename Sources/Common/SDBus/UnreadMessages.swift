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
  /// - Parameter size: The size of its arguments in bytes.
  mutating func add(size: Int) { append(size + Self.overhead) }

  private mutating func append(_ size: Int) {
    sizes.append(size)
    bytes += size
  }

  /// What sd-bus allocates for a message without arguments: the struct and the header fields.
  private static let overhead = 1_024
}

extension BusValue {
  /// The memory that this value takes in a message, in bytes, roughly.
  var size: Int {
    switch self {
    case .boolean, .byte, .uint16, .int32, .uint32, .int64, .uint64, .double, .descriptor: 8
    case .string(let text), .objectPath(let text): text.utf8.count + 8
    case .bytes(let bytes): bytes.count + 8
    case .array(_, let values), .structure(let values): values.reduce(8) { $0 + $1.size }
    case .dictionary(let entries): entries.reduce(8) { $0 + $1.key.utf8.count + $1.value.size + 16 }
    case .texts(let entries): entries.reduce(8) { $0 + $1.key.utf8.count + $1.value.utf8.count + 24 }
    case .variant(let value): value.size + 8
    }
  }
}
