import Glibc
import SecureMemory

/// The key file: 32 random bytes beside the database, readable by this user alone. The key opens the device slot.
package enum DeviceKey {
  static let count = 32

  static func read(in directory: StoreDirectory) throws(VaultError) -> SecretBytes {
    let descriptor = Glibc.open(directory.deviceKey, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      if errno == ENOENT { throw .deviceKeyMissing }
      throw .inputOutput("cannot open \(directory.deviceKey): \(errnoText())")
    }
    defer { Glibc.close(descriptor) }
    let key: SecretBytes
    do {
      key = try SecretBytes.read(from: descriptor, limit: count)
    } catch .tooLong {
      throw .deviceKeyMissing
    } catch {
      throw .inputOutput("cannot read \(directory.deviceKey): \(error)")
    }
    guard key.count == count else { throw .deviceKeyMissing }
    return key
  }

  /// Deletes the key file of a store whose key is in the TPM. If that fails, the file no longer opens anything, and is
  /// deleted when the store is next opened.
  package static func remove(in directory: StoreDirectory) {
    if unlink(directory.deviceKey) == 0 { try? directory.sync() }
  }

  /// Writes the key file. Replaces an old one by a rename, so that there is always a whole file.
  static func write(_ key: borrowing SecretBytes, in directory: StoreDirectory) throws(VaultError) {
    let temporary = directory.deviceKey + ".new"
    unlink(temporary)
    let descriptor = Glibc.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .inputOutput("cannot make \(temporary): \(errnoText())") }
    do {
      defer { Glibc.close(descriptor) }
      do {
        try key.write(to: descriptor)
      } catch {
        unlink(temporary)
        throw .inputOutput("cannot write \(temporary): \(error)")
      }
      guard fsync(descriptor) == 0 else {
        unlink(temporary)
        throw .inputOutput("cannot write \(temporary): \(errnoText())")
      }
    }
    guard rename(temporary, directory.deviceKey) == 0 else {
      throw .inputOutput("cannot put \(directory.deviceKey) in place: \(errnoText())")
    }
    try directory.sync()
  }
}
