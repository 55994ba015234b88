import SecretModel

/// The contents of an export, before encryption: lines of JSON, each item's followed by the bytes of its secret and a
/// newline. `docs/export-format.md` describes it.
enum ItemFileFormat {
  /// The first line.
  struct Beginning: Codable, Equatable {
    var format = "whorl-items"
    var version = 1
  }

  /// Every further line: an item, or the end.
  struct Line: Codable {
    var item: DescribedItem?
    /// In the last line, the number of items before it. A file without this line is incomplete.
    var end: Int?
  }

  /// The longest line, in bytes: enough for the attributes of any item.
  static let lineLimit = 32 << 20
}
