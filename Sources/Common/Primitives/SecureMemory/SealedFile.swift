internal import CLinux
internal import Glibc

/// Secrets that are passed to another process in a memory file (`memfd_create`), sent as a descriptor. Once it is
/// sealed, nobody can change the file. It has no name in any file system, and its pages are freed when the last
/// descriptor is closed.
package struct SealedFile: ~Copyable, Sendable {
  /// The position of a secret in the file, in bytes.
  package struct Place: Sendable, Hashable {
    package var offset: Int
    package var count: Int

    package init(offset: Int, count: Int) {
      self.offset = offset
      self.count = count
    }
  }

  /// Why a file could not be made or was refused.
  package enum Failure: Error, Sendable, Hashable {
    /// The `errno` of the call that failed.
    case system(Int32)
    /// The sender could still change the file, or it is not a memory file.
    case unsealed
    /// The file, or a secret in it, is longer than the limit.
    case tooLong(limit: Int)
    /// The position lies outside the file.
    case outside
  }

  /// The descriptor. It is closed when this value is destroyed.
  package let descriptor: Int32
  /// The length of the file, in bytes.
  package let count: Int

  deinit { close(descriptor) }

  /// Gives up the descriptor: the caller closes it.
  package consuming func release() -> Int32 {
    let descriptor = descriptor
    discard self
    return descriptor
  }

  private init(descriptor: Int32, count: Int) {
    self.descriptor = descriptor
    self.count = count
  }

  /// A file that is being written. Each secret is appended to the one before.
  package struct Writer: ~Copyable {
    private let descriptor: Int32
    private var end = 0

    package init() throws(Failure) {
      // Returns a new descriptor (transfer full).
      descriptor = unsafe whorl_memory_file("whorl-secret")
      guard descriptor >= 0 else { throw .system(errno) }
    }

    deinit { close(descriptor) }

    /// Appends a secret and returns its position.
    package mutating func append(_ secret: borrowing SecretBytes) throws(Failure) -> Place {
      let start = end
      while end < start + secret.count {
        let written = unsafe secret.withUnsafeBytes {
          // Borrows the unwritten rest for the call.
          unsafe pwrite(descriptor, $0.baseAddress.map { unsafe $0 + (end - start) }, secret.count - (end - start), end)
        }
        if written < 0, errno == EINTR { continue }
        guard written > 0 else { throw .system(written < 0 ? errno : EIO) }
        end += written
      }
      return Place(offset: start, count: secret.count)
    }

    /// Seals the file, so that nobody can change it any more.
    package consuming func seal() throws(Failure) -> SealedFile {
      let code = whorl_add_seals(descriptor, whorl_all_seals) == 0 ? 0 : errno
      let file = SealedFile(descriptor: descriptor, count: end)
      // The file closes the descriptor now.
      discard self
      guard code == 0 else { throw .system(code) }
      return file
    }
  }

  /// Makes a sealed file that holds one secret.
  package static func make(of secret: borrowing SecretBytes) throws(Failure) -> SealedFile {
    var writer = try Writer()
    _ = try writer.append(secret)
    return try writer.seal()
  }

  /// Takes ownership of a descriptor that another process sent. Checks the seals and the size: a file that could be
  /// changed or truncated while it is read is refused.
  /// - Parameter limit: The largest size of the file, in bytes.
  package init(received descriptor: consuming Int32, limit: Int) throws(Failure) {
    guard let count = Self.size(of: descriptor) else {
      close(descriptor)
      throw .unsealed
    }
    guard count <= limit else {
      close(descriptor)
      throw .tooLong(limit: limit)
    }
    self.init(descriptor: descriptor, count: count)
  }

  /// The size of a sealed memory file, in bytes; nil for any other descriptor. It does not block: only files in memory
  /// have seals, and only of those the size is read.
  package static func size(of descriptor: Int32) -> Int? {
    let seals = whorl_get_seals(descriptor)
    var status = stat()
    guard seals >= 0, seals & whorl_all_seals == whorl_all_seals, unsafe fstat(descriptor, &status) == 0 else {
      return nil
    }
    return Int(status.st_size)
  }

  /// Reads the whole file as one secret.
  package borrowing func secret() throws(Failure) -> SecretBytes {
    try secret(at: Place(offset: 0, count: count))
  }

  /// Reads one secret of the file.
  package borrowing func secret(at place: Place) throws(Failure) -> SecretBytes {
    guard place.offset >= 0, place.count >= 0, place.offset <= count, place.count <= count - place.offset else {
      throw .outside
    }
    var secret = SecretBytes(count: place.count)
    var filled = 0
    while filled < place.count {
      let received = unsafe secret.withUnsafeMutableBytes {
        // Borrows the unread rest of the buffer for the call.
        unsafe pread(descriptor, $0.baseAddress.map { unsafe $0 + filled }, place.count - filled, place.offset + filled)
      }
      if received < 0, errno == EINTR { continue }
      guard received > 0 else { throw .system(received < 0 ? errno : EIO) }
      filled += received
    }
    return secret
  }
}
