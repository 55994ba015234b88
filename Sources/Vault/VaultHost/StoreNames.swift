import Glibc
import Primitives

/// How the folders of the service's stores are named: by user id and account name, as `1000-alice`.
///
/// The name tells administrators whose store it is, and prevents an account from opening the store of an earlier
/// account with the same user id.
package struct StoreNames {
  private let folder: String

  package init(in folder: String) { self.folder = folder }

  package func place(of user: UInt32, named name: String) -> String { "\(folder)/\(user)-\(Self.escaped(name))" }

  /// A store with this user id and another account's name.
  package func other(of user: UInt32, than place: String) -> String? {
    // Only stores that are being created have a point in their name.
    (Folder.names(in: folder) ?? []).filter { $0.hasPrefix("\(user)-") && !$0.contains(".") }
      .map { "\(folder)/\($0)" }.first { $0 != place }
  }

  /// Removes the folders of this user id that have nothing in them: each was made for a vault process whose user had no
  /// store, and has made none.
  package func removeEmpty(of user: UInt32) {
    // rmdir removes nothing else.
    for name in Folder.names(in: folder) ?? [] where name.hasPrefix("\(user)-") { rmdir("\(folder)/\(name)") }
  }

  /// The name with every byte other than letters, digits, `_` and `-` written as `%` and two hexadecimal digits.
  private static func escaped(_ name: String) -> String {
    name.utf8.map { byte in
      let isPlain =
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
      return isPlain ? String(UnicodeScalar(byte)) : "%" + Hexadecimal.text(of: [byte])
    }.joined()
  }
}
