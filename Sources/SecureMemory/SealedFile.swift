internal import CLinux
internal import Glibc

/// Secrets on their way to another process: a memory file (`memfd_create`) that nobody can change any more once it is
/// sealed, sent as a descriptor. It has no name in any file system, and its pages are freed with its last descriptor.
package struct SealedFile: ~Copyable, Sendable {
  /// Where a secret lies in the file, in bytes.
  package struct Place: Sendable, Hashable {
    package var offset: Int
    package var count: Int

    package init(offset: Int, count: Int) {
      self.offset = offset
      self.count = count
    }
  }

  /// Why a file was not made, or not taken.
  package enum Failure: Error, Sendable, Hashable {
    /// The `errno` of the call that failed.
    case system(Int32)
    /// The file could still be changed by whoever sent it, or is none of this kind.
    case unsealed
    /// The file, or a place in it, has more bytes than is taken.
    case tooLong(limit: Int)
    /// The place lies outside the file.
    case outside
  }

  /// The descriptor; closed with this value.
  package let descriptor: Int32
  /// The bytes of the file.
  package let count: Int

  deinit { close(descriptor) }

  private init(descriptor: Int32, count: Int) {
    self.descriptor = descriptor
    self.count = count
  }

  /// A file that is being filled, one secret behind the other.
  package struct Writer: ~Copyable {
    private let descriptor: Int32
    private var end = 0

    package init() throws(Failure) {
      // Returns a new descriptor (transfer full).
      descriptor = whorl_memory_file("whorl-secret")
      guard descriptor >= 0 else { throw .system(errno) }
    }

    deinit { close(descriptor) }

    /// Writes a secret and gives its place.
    package mutating func append(_ secret: borrowing SecretBytes) throws(Failure) -> Place {
      do throws(WriteError) {
        try secret.write(to: descriptor)
      } catch {
        if case .system(let code) = error { throw .system(code) }
        throw .system(EPIPE)
      }
      defer { end += secret.count }
      return Place(offset: end, count: secret.count)
    }

    /// The file, which nobody can change from now on.
    package consuming func seal() throws(Failure) -> SealedFile {
      guard whorl_add_seals(descriptor, whorl_all_seals) == 0 else { throw .system(errno) }
      // Returns a descriptor of the caller's own (transfer full): ours is closed with this value.
      let sealed = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
      guard sealed >= 0 else { throw .system(errno) }
      return SealedFile(descriptor: sealed, count: end)
    }
  }

  /// A sealed file with one secret.
  package static func make(of secret: borrowing SecretBytes) throws(Failure) -> SealedFile {
    var writer = try Writer()
    _ = try writer.append(secret)
    return try writer.seal()
  }

  /// Takes over a descriptor that another process sent, after a look at its seals and its size: what could be changed
  /// or cut off while it is read is refused.
  ///
  /// - Parameter limit: the most bytes the file may have.
  package init(received descriptor: consuming Int32, limit: Int) throws(Failure) {
    let seals = whorl_get_seals(descriptor)
    var status = stat()
    guard seals >= 0, seals & whorl_all_seals == whorl_all_seals, fstat(descriptor, &status) == 0 else {
      close(descriptor)
      throw .unsealed
    }
    guard status.st_size <= limit else {
      close(descriptor)
      throw .tooLong(limit: limit)
    }
    self.init(descriptor: descriptor, count: Int(status.st_size))
  }

  /// The whole file as one secret.
  package borrowing func secret() throws(Failure) -> SecretBytes {
    try secret(at: Place(offset: 0, count: count))
  }

  /// A secret of the file.
  package borrowing func secret(at place: Place) throws(Failure) -> SecretBytes {
    guard place.offset >= 0, place.count >= 0, place.offset <= count, place.count <= count - place.offset else {
      throw .outside
    }
    var secret = SecretBytes(count: place.count)
    var filled = 0
    while filled < place.count {
      let received = secret.withUnsafeMutableBytes {
        // Borrows the rest for the call.
        pread(descriptor, $0.baseAddress.map { $0 + filled }, place.count - filled, place.offset + filled)
      }
      if received < 0, errno == EINTR { continue }
      guard received > 0 else { throw .system(received < 0 ? errno : EIO) }
      filled += received
    }
    return secret
  }
}
