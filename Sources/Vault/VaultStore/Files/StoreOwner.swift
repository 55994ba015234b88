import Glibc

/// The user whose number every row of a private store is bound to.
///
/// This is the user who opens the store. If the store was made from another user's backup, a file in its folder holds
/// the number. With a wrong number in that file, no row opens.
package enum StoreOwner {
  private static let longest = 16

  /// The owner of the store at a path.
  ///
  /// - Parameter user: who opens it.
  package static func ofStore(at path: String, openedBy user: UInt32) throws(VaultError) -> UInt32 {
    let file = StoreDirectory(path: try StoreDirectory.absolute(path)).owner
    let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
      guard [ENOENT, ENOTDIR].contains(errno) else { throw .inputOutput("cannot open \(file): \(errnoText())") }
      return user
    }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: longest)
    // Borrows the buffer for the call.
    let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
    guard count > 0, let owner = UInt32(String(decoding: bytes.prefix(count), as: UTF8.self)) else {
      throw .storeDamaged("\(file) has no user's number")
    }
    return owner
  }

  /// Writes the file with the owner of a new store, if that is not the user who opens it.
  package static func note(_ owner: UInt32, in directory: StoreDirectory) throws(VaultError) {
    let descriptor = open(directory.owner, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .inputOutput("cannot make \(directory.owner): \(errnoText())") }
    defer { close(descriptor) }
    let bytes = Array(String(owner).utf8)
    // Borrows the bytes for the call.
    let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    guard count == bytes.count, fsync(descriptor) == 0 else {
      throw .inputOutput("cannot write \(directory.owner): \(errnoText())")
    }
  }
}
