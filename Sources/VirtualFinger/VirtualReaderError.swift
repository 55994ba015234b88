/// Why a virtual reader could not be reached or told.
package enum VirtualReaderError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Nothing listened at the socket for as long as was waited. libfprint listens only while the reader is open.
  case noReader(socket: String)
  /// Another client kept the reader's only connection for as long as was waited.
  case occupied(socket: String)
  /// The reader went away before it had taken all of it, or does not answer.
  case gone(socket: String)
  /// The path is too long for the address of a socket.
  case pathTooLong(socket: String)
  /// Any other failure of a system call.
  case system(call: String, errno: Int32)

  package var description: String {
    switch self {
    case .noReader(let socket): "no reader listens at \(socket): it does so only while a program has it open"
    case .occupied(let socket): "another program is connected to the reader at \(socket)"
    case .gone(let socket): "the reader at \(socket) went away or does not answer"
    case .pathTooLong(let socket): "the path of the socket is too long: \(socket)"
    case .system(let call, let errno): "\(call) failed with errno \(errno)"
    }
  }
}
