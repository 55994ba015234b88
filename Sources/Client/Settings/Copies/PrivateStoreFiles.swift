internal import Glibc
internal import Primitives

/// The files of a private store.
package enum PrivateStoreFiles {
  /// All files that a store may have.
  private static let names = [
    "device.key", "device.key.new", "vault.db", "vault.db-wal", "vault.db-shm", "state", "commit.lock", "scan.lock",
    "owner",
  ]

  /// Removes a store: first its key file, without which the rest cannot be decrypted, then the copy of its circle's
  /// repository, and finally the folder if it is empty.
  package static func remove(_ directory: String) throws(Failure) {
    for name in names {
      guard unlink("\(directory)/\(name)") == 0 || errno == ENOENT else {
        throw Failure(
          .inputOutput, "cannot remove \(directory)/\(name): \(String(cString: strerror(errno)))", name: "errSecIO",
          advice: "remove the folder yourself")
      }
    }
    // Not a symbolic link: what it names is not the store's.
    var copy = stat()
    let hasCopy = lstat("\(directory)/sync", &copy) == 0 && copy.st_mode & S_IFMT == S_IFDIR
    do throws(Folder.Failure) {
      if hasCopy { try Folder.remove("\(directory)/sync") }
    } catch {
      throw Failure(
        .inputOutput, "cannot remove \(error.problem)", name: "errSecIO",
        advice: "the store is gone; remove the folder yourself")
    }
    guard rmdir(directory) == 0 || errno == ENOTEMPTY || errno == EEXIST else {
      throw Failure(
        .inputOutput, "cannot remove \(directory): \(String(cString: strerror(errno)))", name: "errSecIO",
        advice: "the store in it is gone; remove the folder yourself")
    }
  }
}
