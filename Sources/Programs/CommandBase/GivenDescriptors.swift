internal import ArgumentParser
internal import Glibc
internal import Synchronization

/// The descriptors that were open when the program started. Options must not name others, which may be the program's
/// own files: a recovery key could be written into one, or a passcode read from it.
package enum GivenDescriptors {
  /// Higher than any descriptor that the program opens before it reads its arguments.
  private static let ownLimit: Int32 = 64
  private static let open = Mutex<[Bool]>([])

  /// Called before anything is opened.
  package static func note() {
    open.withLock { open in
      open = (0..<ownLimit).map { fcntl($0, F_GETFD) >= 0 }
      // Otherwise the next file that this program opens, such as the store, would get the number of a closed standard
      // stream. These are opened with the wrong access mode, so that reading and writing fail as on a closed stream. In
      // this order, since each open takes the lowest free number.
      for stream in STDIN_FILENO...STDERR_FILENO where !open[Int(stream)] {
        _ = Glibc.open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY)
      }
    }
  }

  /// Parses the value of options that take a descriptor.
  @Sendable
  package static func number(_ text: String) throws -> Int32 {
    guard let number = Int32(text), number >= 0 else { throw ValidationError("'\(text)' is no descriptor.") }
    let isOpen = number < ownLimit ? open.withLock { $0[Int(number)] } : fcntl(number, F_GETFD) >= 0
    guard isOpen else { throw ValidationError("Descriptor \(number) is not open: redirect it, as in \(number)<FILE.") }
    return number
  }
}
