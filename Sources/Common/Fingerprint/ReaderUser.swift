/// The user for whom a reader is opened. fprintd's readers use the fingers that this user enrolled there; other readers
/// ignore it.
package enum ReaderUser: Sendable, Hashable {
  /// The user that the reader process runs as.
  case own
  /// The user with this name, for a process that serves all users.
  case named(Name)

  /// A user's name that can be the name of a folder.
  package struct Name: Sendable, Hashable {
    package let text: String

    /// Nil for text that cannot be a user's name: empty, longer than a file name may be, or leading to another folder.
    package init?(_ text: String) {
      guard (1...255).contains(text.utf8.count), !text.hasPrefix("."),
        !text.utf8.contains(where: { $0 < 33 || $0 == 47 })
      else { return nil }
      self.text = text
    }
  }

  /// The name for fprintd: empty for the caller's own.
  package var name: String {
    switch self {
    case .own: ""
    case .named(let name): name.text
    }
  }

  /// Parses ``name``. Nil if it cannot be a user's name.
  package init?(name: String) {
    if name.isEmpty {
      self = .own
    } else {
      guard let name = Name(name) else { return nil }
      self = .named(name)
    }
  }
}
