// A message with its target, how one fails, and how large one may be.

internal import CSystemd
internal import Glibc
internal import Primitives

/// Owns one reference to an `sd_bus_message`. Its reference count is not atomic, so a message never leaves the loop's
/// thread.
final class BusMessage {
  let pointer: OpaquePointer

  /// Takes over a reference from sd-bus (transfer full).
  init(taking pointer: OpaquePointer) {
    self.pointer = pointer
  }

  deinit {
    sd_bus_message_unref(pointer)
  }

  /// The message type in the header.
  enum Kind { case call, answer, error, signal, other }

  var kind: Kind {
    var type: UInt8 = 0
    guard sd_bus_message_get_type(pointer, &type) >= 0 else { return .other }
    switch Int(type) {
    case Int(SD_BUS_MESSAGE_METHOD_CALL): return .call
    case Int(SD_BUS_MESSAGE_METHOD_RETURN): return .answer
    case Int(SD_BUS_MESSAGE_METHOD_ERROR): return .error
    case Int(SD_BUS_MESSAGE_SIGNAL): return .signal
    default: return .other
    }
  }

  // Strings from sd-bus are borrowed (transfer none), so they are copied at once.
  var sender: String? { sd_bus_message_get_sender(pointer).map { String(cString: $0) } }
  var path: String { sd_bus_message_get_path(pointer).map { String(cString: $0) } ?? "" }
  var interface: String { sd_bus_message_get_interface(pointer).map { String(cString: $0) } ?? "" }
  var member: String { sd_bus_message_get_member(pointer).map { String(cString: $0) } ?? "" }
  var signature: String { sd_bus_message_get_signature(pointer, 1).map { String(cString: $0) } ?? "" }

  var cookie: UInt64? {
    var value: UInt64 = 0
    return sd_bus_message_get_cookie(pointer, &value) >= 0 ? value : nil
  }

  var replyCookie: UInt64? {
    var value: UInt64 = 0
    return sd_bus_message_get_reply_cookie(pointer, &value) >= 0 ? value : nil
  }

  var wantsAnswer: Bool { sd_bus_message_get_expect_reply(pointer) > 0 }

  /// The D-Bus error in this message. Its text comes from the peer and may be shown in a terminal, so it is cut at
  /// 1,000 bytes.
  ///
  /// - Parameter limits: as for ``values(_:secrets:)``.
  func remoteError(_ limits: BusLimits) throws(BusError) -> BusError {
    // transfer none: the struct and its strings belong to the message
    guard let error = sd_bus_message_get_error(pointer), let name = error.pointee.name else { return .malformed }
    // sd-bus reads the text when the message arrives, so start at the beginning.
    try checked(sd_bus_message_rewind(pointer, 1))
    var details = try values(limits)
    var message = ""
    if let text = details.first?.asString {
      message = String(decoding: text.utf8.prefix(1_000), as: UTF8.self)
      details.removeFirst()
    }
    return .remote(name: String(cString: name), message: message, details: details)
  }
}

// MARK: - Writing

extension BusMessage {
  func append(_ values: [BusValue]) throws(BusError) {
    for value in values { try append(value) }
  }

  func append(_ value: BusValue) throws(BusError) {
    switch value {
    case .boolean(let value): try appendBasic("b", Int32(value ? 1 : 0))
    case .byte(let value): try appendBasic("y", value)
    case .uint16(let value): try appendBasic("q", value)
    case .int32(let value): try appendBasic("i", value)
    case .uint32(let value): try appendBasic("u", value)
    case .int64(let value): try appendBasic("x", value)
    case .uint64(let value): try appendBasic("t", value)
    case .double(let value): try appendBasic("d", value)
    case .string(let value): try appendText("s", value)
    case .objectPath(let value): try appendText("o", value)
    case .bytes(let bytes):
      // sd-bus copies the bytes
      try checked(
        bytes.withUnsafeBytes { sd_bus_message_append_array(pointer, typeCode("y"), $0.baseAddress, $0.count) })
    case .secret(let secret):
      try checked(sd_bus_message_sensitive(pointer))
      // sd-bus copies the bytes into the message, and wipes them with it
      try secret.bytes.lend { bytes throws(BusError) in
        _ = try checked(sd_bus_message_append_array(pointer, typeCode("y"), bytes.baseAddress, bytes.count))
      }
    case .entry(let key, let value):
      try container("e", key.signature + value.signature) { () throws(BusError) in
        try append(key)
        try append(value)
      }
    case .array(let element, let values):
      try container("a", element) { () throws(BusError) in try append(values) }
    case .structure(let members):
      try container("r", members.signature) { () throws(BusError) in try append(members) }
    case .dictionary(let entries):
      try container("a", "{sv}") { () throws(BusError) in
        for (key, value) in entries {
          try container("e", "sv") { () throws(BusError) in
            try append(.string(key))
            try append(.variant(value))
          }
        }
      }
    case .texts(let entries):
      try container("a", "{ss}") { () throws(BusError) in
        for (key, value) in entries {
          try container("e", "ss") { () throws(BusError) in
            try append(.string(key))
            try append(.string(value))
          }
        }
      }
    case .variant(let value):
      try container("v", value.signature) { () throws(BusError) in try append(value) }
    case .descriptor(let descriptor):
      // sd-bus duplicates the descriptor; this one stays open
      try appendBasic("h", descriptor.rawValue)
    }
  }

  private func appendBasic<Value: BitwiseCopyable>(_ type: Unicode.Scalar, _ value: Value) throws(BusError) {
    // sd-bus copies the value
    try checked(withUnsafePointer(to: value) { sd_bus_message_append_basic(pointer, typeCode(type), $0) })
  }

  /// A D-Bus string cannot hold U+0000: C would end it there, and the peer would get another text.
  private func appendText(_ type: Unicode.Scalar, _ text: String) throws(BusError) {
    guard !text.containsNUL else { throw .malformed }
    // sd-bus copies the string
    try checked(text.withCString { sd_bus_message_append_basic(pointer, typeCode(type), $0) })
  }

  private func container(
    _ type: Unicode.Scalar, _ contents: String, _ body: () throws(BusError) -> Void
  ) throws(BusError) {
    try checked(sd_bus_message_open_container(pointer, typeCode(type), contents))
    try body()
    try checked(sd_bus_message_close_container(pointer))
  }
}

// MARK: - Reading

extension BusMessage {
  /// All values of the body, up to the limits for the cost and the descriptors of a message. Every value has a minimum
  /// cost, so that a message with a million empty arrays is refused like any other large one.
  ///
  /// - Parameter secrets: the memory for arrays of bytes, which are then read as secrets.
  func values(_ limits: BusLimits, secrets: (any WipedBytes.Type)? = nil) throws(BusError) -> [BusValue] {
    if secrets != nil { try checked(sd_bus_message_sensitive(pointer)) }
    var budget = Budget(
      left: limits.messageBytes, descriptors: limits.descriptors, secrets: secrets, secretArrays: limits.secretArrays)
    var values: [BusValue] = []
    while try checked(sd_bus_message_at_end(pointer, 1)) == 0 {
      values.append(try read(&budget))
    }
    return values
  }

  /// What may still be read of a message, and how.
  private struct Budget {
    var left: Int
    var descriptors: Int
    let secrets: (any WipedBytes.Type)?
    var secretArrays: Int

    mutating func spendSecret() throws(BusError) {
      guard secretArrays > 0 else { throw .tooLarge }
      secretArrays -= 1
    }

    mutating func spend(_ cost: Int) throws(BusError) {
      guard cost <= left else { throw .tooLarge }
      left -= cost
    }

    mutating func spendDescriptor() throws(BusError) {
      guard descriptors > 0 else { throw .tooLarge }
      descriptors -= 1
    }
  }

  private func read(_ budget: inout Budget) throws(BusError) -> BusValue {
    var type: CChar = 0
    // transfer none: the contents belong to the message and are valid until the next read
    var contentsPointer: UnsafePointer<CChar>?
    try checked(sd_bus_message_peek_type(pointer, &type, &contentsPointer))
    let contents = contentsPointer.map { String(cString: $0) } ?? ""
    try budget.spend(64)
    switch Unicode.Scalar(UInt8(bitPattern: type)) {
    case "b": return .boolean(try readBasic(type, Int32(0)) != 0)
    case "y": return .byte(try readBasic(type, UInt8(0)))
    case "q": return .uint16(try readBasic(type, UInt16(0)))
    case "i": return .int32(try readBasic(type, Int32(0)))
    case "u": return .uint32(try readBasic(type, UInt32(0)))
    case "x": return .int64(try readBasic(type, Int64(0)))
    case "t": return .uint64(try readBasic(type, UInt64(0)))
    case "d": return .double(try readBasic(type, Double(0)))
    case "s": return .string(try readString(&budget))
    case "o": return .objectPath(try readString(&budget, "o"))
    case "h":
      try budget.spendDescriptor()
      // transfer none: the descriptor belongs to the message, so it is duplicated
      let copy = fcntl(try readBasic(type, Int32(-1)), F_DUPFD_CLOEXEC, 3)
      guard copy >= 0 else { throw .system(errno) }
      return .descriptor(BusDescriptor(taking: copy))
    case "a" where contents == "y":
      // transfer none: the bytes belong to the message and are copied
      var start: UnsafeRawPointer?
      var count = 0
      try checked(sd_bus_message_read_array(pointer, typeCode("y"), &start, &count))
      try budget.spend(count)
      let bytes = UnsafeRawBufferPointer(start: start, count: count)
      guard let secrets = budget.secrets else { return .bytes([UInt8](bytes)) }
      try budget.spendSecret()
      return .secret(BusSecret(secrets.init(copying: bytes)))
    case "a" where contents == "{sv}": return .dictionary(try readDictionary(&budget))
    case "a" where contents == "{ss}": return .texts(try readTexts(&budget))
    case "a" where !contents.hasPrefix("{"):
      return .array(of: contents, try readContainer("a", contents, &budget))
    case "r": return .structure(try readContainer("r", contents, &budget))
    case "v":
      guard let value = try readContainer("v", contents, &budget).first else { throw .malformed }
      return .variant(value)
    default: throw .malformed
    }
  }

  private func readBasic<Value: BitwiseCopyable>(_ type: CChar, _ zero: Value) throws(BusError) -> Value {
    var value = zero
    // sd-bus writes one value of the size of this type
    try checked(withUnsafeMutablePointer(to: &value) { sd_bus_message_read_basic(pointer, type, $0) })
    return value
  }

  private func readString(_ budget: inout Budget, _ type: Unicode.Scalar = "s") throws(BusError) -> String {
    // transfer none: the string belongs to the message and is copied
    var text: UnsafePointer<CChar>?
    try checked(withUnsafeMutablePointer(to: &text) { sd_bus_message_read_basic(pointer, typeCode(type), $0) })
    guard let text else { throw .malformed }
    try budget.spend(strlen(text))
    return String(cString: text)
  }

  private func readContainer(
    _ type: Unicode.Scalar, _ contents: String, _ budget: inout Budget
  ) throws(BusError) -> [BusValue] {
    try checked(sd_bus_message_enter_container(pointer, typeCode(type), contents))
    var values: [BusValue] = []
    while try checked(sd_bus_message_at_end(pointer, 0)) == 0 {
      values.append(try read(&budget))
    }
    try checked(sd_bus_message_exit_container(pointer))
    return values
  }

  private func readDictionary(_ budget: inout Budget) throws(BusError) -> [String: BusValue] {
    var entries: [String: BusValue] = [:]
    try checked(sd_bus_message_enter_container(pointer, typeCode("a"), "{sv}"))
    while try checked(sd_bus_message_enter_container(pointer, typeCode("e"), "sv")) > 0 {
      try budget.spend(64)
      let key = try readString(&budget)
      guard case .variant(let value) = try read(&budget) else { throw .malformed }
      entries[key] = value
      try checked(sd_bus_message_exit_container(pointer))
    }
    try checked(sd_bus_message_exit_container(pointer))
    return entries
  }

  private func readTexts(_ budget: inout Budget) throws(BusError) -> [String: String] {
    var entries: [String: String] = [:]
    try checked(sd_bus_message_enter_container(pointer, typeCode("a"), "{ss}"))
    while try checked(sd_bus_message_enter_container(pointer, typeCode("e"), "ss")) > 0 {
      try budget.spend(192)
      let key = try readString(&budget)
      entries[key] = try readString(&budget)
      try checked(sd_bus_message_exit_container(pointer))
    }
    try checked(sd_bus_message_exit_container(pointer))
    return entries
  }
}

/// D-Bus type codes are ASCII characters; C takes them as `char`.
private func typeCode(_ type: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: type.value) }

/// One interface of an object at a peer.
package struct BusTarget: Sendable, Hashable {
  /// A name on the bus. Nil on a peer-to-peer connection, and for a signal to everybody who subscribed to it.
  package var destination: String?
  package var path: String
  package var interface: String

  package init(destination: String? = nil, path: String, interface: String) {
    self.destination = destination
    self.path = path
    self.interface = interface
  }
}

/// Why a message could not be sent or read, or was not answered.
package enum BusError: Error, Sendable, Hashable {
  /// The peer answered with this D-Bus error. `message` is its first argument, and `details` are the arguments after it.
  case remote(name: String, message: String, details: [BusValue] = [])
  /// The connection ended before an answer came.
  case disconnected
  /// The connection had ended already, and the message was not sent.
  case notSent
  /// The caller's task was cancelled. A later answer is dropped.
  case cancelled
  /// A message is larger than the connection's ``BusLimits`` allow.
  case tooLarge
  /// A message contains a type that ``BusValue`` does not support.
  case malformed
  /// A call of libsystemd failed; the value is the positive errno.
  case system(Int32)
}

/// Throws if `result` is one of sd-bus's negative errno values; returns it otherwise.
@discardableResult
func checked(_ result: Int32) throws(BusError) -> Int32 {
  guard result >= 0 else { throw BusError.system(-result) }
  return result
}

extension BusError {
  /// What has happened, as the words after a colon.
  package var words: String {
    switch self {
    case .remote(_, let message, _): message
    case .system(let code): String(cString: strerror(code))
    case .disconnected, .notSent, .cancelled: "the connection ended"
    case .tooLarge, .malformed: "an answer is not valid"
    }
  }
}

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
