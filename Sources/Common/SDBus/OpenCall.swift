internal import CSystemd

/// Identifies a call that is not answered yet, on its connection.
struct BusCallID: Hashable, Sendable {
  /// The unique name of the caller on a bus; nil without a bus.
  let sender: String?
  let cookie: UInt64
}

/// A call of the peer that is not answered yet.
///
/// The call's message is not kept: sd-bus keeps all descriptors that came with a message, up to 1,024, and its body names
/// only some of them.
struct OpenCall {
  /// The unique name of the caller on a bus.
  private let sender: String?
  /// The caller's number of the call.
  private let cookie: UInt64
  let wantsAnswer: Bool

  init(_ id: BusCallID, _ message: BusMessage) {
    sender = id.sender
    cookie = id.cookie
    wantsAnswer = message.wantsAnswer
  }

  /// The values of an answer, and how its message is made.
  struct Answer {
    let values: [BusValue]
    let make: (_ bus: OpaquePointer, _ message: inout OpaquePointer?) -> Int32
  }

  func answer(_ result: Result<[BusValue], BusError>, on bus: OpaquePointer) throws(BusError) -> Answer {
    let call = try standIn(on: bus)
    switch result {
    case .success(let values):
      return Answer(values: values) { _, answer in sd_bus_message_new_method_return(call.pointer, &answer) }
    case .failure(.remote(let name, let text, let details)):
      return Answer(values: details) { _, answer in
        name.withCString { name in
          text.withCString { text in
            // sd-bus copies both strings
            var error = sd_bus_error(name: name, message: text, _need_free: 0)
            return sd_bus_message_new_method_error(call.pointer, &answer, &error)
          }
        }
      }
    case .failure(let error): throw error
    }
  }

  /// A call with the sender and the number of the one that was received, for which sd-bus makes an answer.
  private func standIn(on bus: OpaquePointer) throws(BusError) -> BusMessage {
    var pointer: OpaquePointer?
    // transfer full: the new message is ours
    try checked(sd_bus_message_new_method_call(bus, &pointer, nil, "/", "org.freedesktop.DBus.Peer", "Ping"))
    guard let pointer else { throw .disconnected }
    let message = BusMessage(taking: pointer)
    // sd-bus copies the name
    if let sender { try checked(sd_bus_message_set_sender(message.pointer, sender)) }
    try checked(sd_bus_message_seal(message.pointer, cookie, 0))
    return message
  }
}

extension BusError {
  static let tooManyUnreadAnswers = remote(
    name: "org.freedesktop.DBus.Error.LimitsExceeded", message: "too many answers have not been read")
  static let unreadableArguments = remote(
    name: "org.freedesktop.DBus.Error.InvalidArgs", message: "the arguments cannot be read")
}
