/// The user that a reader works for. Readers of fprintd have the fingers that this user enrolled there; to others it makes
/// no difference.
package enum ReaderUser: Sendable, Hashable {
  /// The user that the reader process runs as.
  case own
  /// The user of this name, for a process that serves all users.
  case named(Name)

  /// A user's name that can be the name of a folder.
  package struct Name: Sendable, Hashable {
    package let text: String

    /// Nil for what is no user's name: empty, longer than a file's name may be, or leading to another folder.
    package init?(_ text: String) {
      guard (1...255).contains(text.utf8.count), !text.hasPrefix("."),
        !text.utf8.contains(where: { $0 < 33 || $0 == 47 })
      else { return nil }
      self.text = text
    }
  }

  /// As fprintd takes it: an empty name is the caller's own.
  package var name: String {
    switch self {
    case .own: ""
    case .named(let name): name.text
    }
  }

  /// Reads ``name``. Nil for what is no user's name.
  package init?(name: String) {
    if name.isEmpty {
      self = .own
    } else {
      guard let name = Name(name) else { return nil }
      self = .named(name)
    }
  }
}
