import ArgumentParser
import Glibc
import Synchronization

/// The descriptors that were open when the program started. A number that was not must not be taken for one of the
/// program's own files: a recovery key would be written into it, or a passcode read from it.
enum GivenDescriptors {
  /// The program itself opens none higher before its arguments are read.
  private static let ownLimit: Int32 = 64
  private static let open = Mutex<[Bool]>([])

  /// Called before anything is opened.
  static func note() {
    open.withLock { open in
      open = (0..<ownLimit).map { fcntl($0, F_GETFD) >= 0 }
      // A standard stream that was closed would become the next file this program opens: the store, or the way to the
      // reader. Opened the wrong way round, reading and writing it fail as they would on a closed one. In order, since
      // each takes the lowest free number.
      for stream in STDIN_FILENO...STDERR_FILENO where !open[Int(stream)] {
        _ = Glibc.open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY)
      }
    }
  }

  /// For options that take a descriptor.
  @Sendable
  static func number(_ text: String) throws -> Int32 {
    guard let number = Int32(text), number >= 0 else { throw ValidationError("'\(text)' is no descriptor.") }
    let isOpen = number < ownLimit ? open.withLock { $0[Int(number)] } : fcntl(number, F_GETFD) >= 0
    guard isOpen else { throw ValidationError("Descriptor \(number) is not open: redirect it, as in \(number)<FILE.") }
    return number
  }
}
