internal import Primitives
package import SecretModel

/// An item as a list shows it, with the text by which a search finds it.
package struct SecretEntry: Sendable, Hashable, Identifiable {
  /// The groups of a list, in their order.
  package enum Kind: Sendable, Hashable, CaseIterable {
    /// Passwords and other texts.
    case secret
    /// Passkeys of websites.
    case passkey
    /// Keys and certificates, among them those for SSH.
    case key
  }

  package let item: Item
  package let kind: Kind
  /// The name; never empty.
  package let title: String
  /// The access group, which names the program that keeps the item; empty if the item is damaged.
  package let group: String
  /// What a search compares: name, account and group in lower case.
  fileprivate let searched: [UInt8]
  /// The order of the list.
  fileprivate let sorted: String

  package var id: ItemID { item.id }

  package init(_ item: Item) {
    self.item = item
    kind =
      switch item.itemClass {
      case .genericPassword, .internetPassword, nil: .secret
      case .passkey: .passkey
      case .key, .certificate: .key
      }
    let title = item.title ?? ""
    self.title = title.isEmpty ? Text.of("(no name)") : Visible.text(title)
    if case .text(let group)? = item.attributes[.accessGroup] {
      self.group = Visible.text(group)
    } else {
      group = ""
    }
    sorted = self.title.lowercased()
    searched = Array("\(sorted)\n\(item.name?.description.lowercased() ?? "")\n\(group.lowercased())".utf8)
  }

  /// Whether the secret can still be read.
  package var isReadable: Bool { item.state == .living }

  /// Whether the item is shared with the other computers of its owner.
  package var isShared: Bool { item.attributes[.synchronizable] == .number(1) }
}

/// All items of a store, and the search over them. Searching reads nothing but what is held here.
package struct SecretList: Sendable {
  /// In the order of their names.
  package let entries: [SecretEntry]

  package init(_ items: [Item] = []) {
    entries = items.map(SecretEntry.init).sorted { ($0.sorted, $0.item.created) < ($1.sorted, $1.item.created) }
  }

  /// The entries of a kind that contain each word of the text.
  package func entries(of kind: SecretEntry.Kind, matching text: String) -> [SecretEntry] {
    let words = text.lowercased().split(whereSeparator: \.isWhitespace).map { Array($0.utf8) }
    return entries.filter { entry in entry.kind == kind && words.allSatisfy { entry.searched.holds($0) } }
  }

  /// The entries of all kinds that can still be read and contain each word of the text, the first ones up to a limit. None
  /// for a text without words.
  package func readable(matching text: String, limit: Int) -> [SecretEntry] {
    guard text.contains(where: { !$0.isWhitespace }) else { return [] }
    let found = SecretEntry.Kind.allCases.flatMap { entries(of: $0, matching: text) }
    return Array(found.filter(\.isReadable).prefix(limit))
  }

  /// The entry that holds the seed of an entry's one-time codes, by its name: that entry itself, or the one beside it, in
  /// the same group, as `whorl code NAME` finds it; nil where there is none that can be read.
  package func seed(of entry: SecretEntry) -> SecretEntry? {
    guard entry.kind == .secret, let name = entry.item.name?.description else { return nil }
    if name.contains(OneTimeCode.itemMark) { return entry.isReadable ? entry : nil }
    return entries.first {
      $0.isReadable && $0.kind == .secret && $0.group == entry.group
        && $0.item.name?.description == name + OneTimeCode.itemMark
    }
  }
}

extension [UInt8] {
  fileprivate func holds(_ other: [UInt8]) -> Bool {
    guard let first = other.first else { return true }
    guard count >= other.count else { return false }
    let (bytes, wanted) = (span, other.span)
    return (0...bytes.count - wanted.count).contains { start in
      bytes[start] == first && wanted.indices.allSatisfy { bytes[start + $0] == wanted[$0] }
    }
  }
}
