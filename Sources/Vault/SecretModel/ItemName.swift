// What an item is called, which programs' it is, and when it is open.

/// The name of an item: a service and, often, an account there. The two are the item's primary attributes.
public struct ItemName: Sendable, Hashable, CustomStringConvertible {
  /// The longest that either part may be, in bytes of UTF-8.
  public static let limit = 255

  /// `kSecAttrService`; never empty in a name of the command line.
  public let service: String
  /// Empty when the item has none.
  public let account: String

  /// The name of an item of any class for messages and terminals, with control characters in its attributes replaced by
  /// U+FFFD.
  package init(unchecked service: String, account: String) {
    func shown(_ text: String) -> String {
      // Most names are ASCII, for which Unicode's tables need not be read.
      if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
      guard text.hasControlCharacters else { return text }
      return String(
        String.UnicodeScalarView(
          text.unicodeScalars.map { $0.properties.generalCategory == .control ? "\u{FFFD}" : $0 }))
    }
    self.service = shown(service)
    self.account = shown(account)
  }

  /// `SERVICE` or `SERVICE/ACCOUNT`, as ``init(parsing:)`` reads it.
  public var description: String { account.isEmpty ? service : "\(service)/\(account)" }
}

extension String {
  /// Whether one of its characters is a control character of Unicode (general category Cc), such as a line feed.
  package var hasControlCharacters: Bool {
    unicodeScalars.contains { $0.properties.generalCategory == .control }
  }
}

/// Access groups: the name spaces for programs' items (`kSecAttrAccessGroup`).
///
/// A group is a name and protects nothing: any program of the user can use any group.
public enum AccessGroup {
  /// The group of the command line's items, which every program searches after its own.
  public static let commandLine = "whorl"
  /// The group of the items that programs keep with the Secret Service.
  package static let secretService = "org.freedesktop.secrets"
}

/// When an item is accessible. Items of all classes stay on this device. A private vault ignores sessions and is open
/// from the start, unless its store requires the passcode for the first unlock. Everywhere, `passcodeSet` is refused
/// without a passcode, and such items die when the passcode is removed.
public enum Accessibility: String, Sendable, CaseIterable {
  /// While a session of the user is unlocked, from the first unlock on.
  case whenUnlocked = "when-unlocked"
  /// From the first unlock after a start of the machine, or of the vault, on.
  case afterFirstUnlock = "after-first-unlock"
  /// As `whenUnlocked`, and only while a passcode is set; dead when it is removed.
  case passcodeSet = "passcode-set"
}
