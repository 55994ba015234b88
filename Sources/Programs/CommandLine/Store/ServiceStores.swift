import CLinux
import Glibc
import Primitives
import Processes
import Settings

/// The stores of the system service, read from its folder by root.
enum ServiceStores {
  static let folder = "/var/lib/whorl"

  /// The store of one user.
  struct Store: Encodable {
    /// The name of its folder: the user id and the account's name.
    var folder: String
    var user: UInt32
    /// The account that it was made for.
    var account: String
    /// Whether the user id still has that account. Without it nobody can open the store.
    var hasAccount: Bool
    /// Bytes on the disk.
    var size: Int64
    /// When it was last changed, in seconds since 1970.
    var changed: Int64
  }

  /// - Throws: where this process is not root, or the folder is missing.
  static func all() throws(Failure) -> [Store] {
    guard geteuid() == 0 else {
      throw Failure(.refused, "only root manages the stores of all users", advice: "run it with sudo")
    }
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      throw Failure(
        .notFound, "there is no \(folder)", advice: "the system service is not installed, or has no store yet")
    }
    defer { close(descriptor) }
    return (Folder.names(at: descriptor) ?? []).compactMap { Store(named: $0, in: descriptor) }.sorted {
      $0.folder < $1.folder
    }
  }

  /// Removes a store with all its files.
  static func remove(_ store: Store) throws(Failure) {
    let parent = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
    let descriptor = openat(parent, store.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
    defer { for each in [parent, descriptor] where each >= 0 { close(each) } }
    guard descriptor >= 0 else { throw failure("cannot open \(store.folder)") }
    for name in Folder.names(at: descriptor) ?? [] {
      // What a killed vault process has left of a store that it was making.
      let unfinished = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
      defer { if unfinished >= 0 { close(unfinished) } }
      for file in unfinished >= 0 ? Folder.names(at: unfinished) ?? [] : [] { unlinkat(unfinished, file, 0) }
      guard unlinkat(descriptor, name, unfinished >= 0 ? AT_REMOVEDIR : 0) == 0 else {
        throw failure("cannot remove \(store.folder)/\(name)")
      }
    }
    guard unlinkat(parent, store.folder, AT_REMOVEDIR) == 0 else { throw failure("cannot remove \(store.folder)") }
  }

  private static func failure(_ what: String) -> Failure {
    Failure(.inputOutput, "\(what): \(String(cString: strerror(errno)))", name: "errSecIO", advice: "look at \(folder)")
  }

}

extension ServiceStores.Store {
  /// Nil for a folder that is not a store: an unfinished one, whose name has a point, and the empty one of a user whose
  /// vault process runs without a store.
  fileprivate init?(named name: String, in parent: Int32) {
    let parts = name.split(separator: "-", maxSplits: 1)
    guard parts.count == 2, !name.contains("."), let user = UInt32(parts[0]), let account = Self.unescaped(parts[1])
    else { return nil }
    let descriptor = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard let files = Folder.names(at: descriptor), !files.isEmpty else { return nil }
    folder = name
    self.user = user
    self.account = account
    hasAccount = Account.name(of: user) == account
    (size, changed) = (0, 0)
    for file in files {
      var info = stat()
      guard fstatat(descriptor, file, &info, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
      size += Int64(info.st_blocks) * 512
      // Its first member, since release builds do not find the name `tv_sec`.
      changed = max(changed, Int64(withUnsafeBytes(of: info.st_mtim) { $0.load(as: time_t.self) }))
    }
  }

  /// Decodes a name in which every byte other than letters, digits, `_` and `-` is written as `%` and two hexadecimal
  /// digits.
  private static func unescaped(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
        return nil
      }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
