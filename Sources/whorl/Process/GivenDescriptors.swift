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
    open.withLock { $0 = (0..<ownLimit).map { fcntl($0, F_GETFD) >= 0 } }
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
