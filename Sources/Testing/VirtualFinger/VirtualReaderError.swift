/// Why a command could not be delivered to a virtual reader.
package enum VirtualReaderError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Nothing listened at the socket until the time ran out. libfprint listens only while the reader is open.
  case noReader(socket: String)
  /// Other programs connected to the reader repeatedly and replaced this connection each time.
  case replaced(socket: String)
  /// The reader is open but read nothing until the time ran out, because no scan was armed. The command was withdrawn.
  case notTaken(socket: String)
  /// The path is too long for a socket address.
  case pathTooLong(socket: String)
  /// Any other failure of a system call.
  case system(call: String, errno: Int32)

  package var description: String {
    switch self {
    case .noReader(let socket): "no reader listens at \(socket): it does so only while a program has it open"
    case .replaced(let socket): "other programs press on the reader at \(socket) too"
    case .notTaken(let socket): "the reader at \(socket) waits for no finger"
    case .pathTooLong(let socket): "the path of the socket is too long: \(socket)"
    case .system(let call, let errno): "\(call) failed with errno \(errno)"
    }
  }
}
